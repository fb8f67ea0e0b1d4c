"""Whatever a page contains, digesting it ends within its limits, and the next page is fine."""

import asyncio
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sumi.model import Kind
from sumi.outcomes import Outcome
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.policy import Preset
from sumi.workers.pool import WorkerPool

WORKER = (sys.executable, "-P", str(Path(__file__).with_name("misbehaving_worker.py")))
DEPTHS = (330, 1000, 100_000)


def bombs() -> Iterator[tuple[str, bytes]]:
    for tag in ("div", "ul><li", "blockquote", "table><tr><td", "b", "svg", "select", "template"):
        for depth in DEPTHS:
            yield f"{depth} nested {tag.partition('>')[0]}", f"<{tag}>".encode() * depth + b"core"
    yield "adoption agency", b"".join(b"<b %d><i %d>x</b>" % (i, i) for i in range(4000))
    yield "formatting without end", b"<p><b><i><u><a href=x>y" * 5000
    yield "declarations", b"<!" * 100_000
    yield "anchors", b"<a" * 100_000
    yield "anchors, open", b"<a>" * 100_000
    yield "CDATA", b"a <![CDATA[" * 100_000
    yield "comments", b"<!--" * 100_000
    yield "an attribute of 10 MB", b"<p title='" + b"a" * 10_000_000 + b"'>text"
    yield "attributes", b"<p " + b" ".join(b"a%d" % i for i in range(100_000)) + b">text"
    yield "entities", b"&amp;&notin;&#x41;" * 400_000
    yield "entities without end", b"&" * 1_000_000
    yield "half an entity", b"&CounterClockwiseContourIntegra" * 50_000
    yield "a title of 5 MB", b"<title>" + b"t" * 5_000_000
    yield "a table of one row", b"<table><tr>" + b"<td>x" * 100_000
    yield "a fence", b"<pre><code>" + b"`" * 1_000_000
    yield "brackets", b"<p>" + b"[" * 200_000 + b"]" * 200_000
    yield "stars", b"<p>" + b"*" * 500_000
    yield "line breaks", b"<br>" * 300_000
    yield "nulls", b"\0" * 2_000_000 + b"<p>text"
    yield "licences", b"<a rel=license href=/x>" * 50_000
    yield "words", b" ".join(b"w%x" % i for i in range(300_000))


BOMBS = dict(bombs())
ENDINGS = {Outcome.CAPTURED, Outcome.PARSE_LIMIT}


def request(body: bytes, name: str = "bomb") -> DigestRequest:
    return DigestRequest(
        f"https://h.example/{name}",
        body,
        "text/html",
        Kind.PAGE,
        Preset.MIRROR,
        markdown=True,
        vocabulary=True,
    )


def outcome_of(result: PageDigest | Undigested) -> Outcome:
    return result.verdict.outcome if isinstance(result, Undigested) else Outcome.CAPTURED


def test_every_bomb_ends_within_its_limits_and_harms_no_other_page() -> None:
    async def story() -> dict[str, tuple[Outcome, Outcome]]:
        workers = WorkerPool(2, cpu_seconds=20)
        try:
            return {name: await between(workers, body) for name, body in BOMBS.items()}
        finally:
            await workers.aclose()

    async def between(workers: WorkerPool, body: bytes) -> tuple[Outcome, Outcome]:
        bomb, after = await asyncio.gather(
            workers.digest(request(body)), workers.digest(request(b"<h1>Fine</h1>", "after"))
        )
        return outcome_of(bomb), outcome_of(after)

    ended = asyncio.run(story())
    assert {after for _, after in ended.values()} == {Outcome.CAPTURED}
    assert {name: bomb for name, (bomb, _) in ended.items() if bomb not in ENDINGS} == {}
    # The limits are for what cannot be helped: almost everything is digested, if only as plain text.
    assert sum(bomb is Outcome.CAPTURED for bomb, _ in ended.values()) > 0.9 * len(ended)


def test_limits_of_depth_and_nodes_are_the_callers() -> None:
    async def story() -> list[PageDigest | Undigested]:
        workers = WorkerPool(1)
        deep = b"<blockquote>" * 40 + b"text"
        wide = b"<p>text</p>" * 2000
        asked = [
            DigestRequest("https://h/", deep, "text/html", Kind.PAGE, Preset.MIRROR, True, max_depth=depth)
            for depth in (30, 100)
        ] + [
            DigestRequest("https://h/", wide, "text/html", Kind.PAGE, Preset.MIRROR, True, max_nodes=nodes)
            for nodes in (1000, 100_000)
        ]
        try:
            return [await workers.digest(each) for each in asked]
        finally:
            await workers.aclose()

    problems = [each.problem for each in asyncio.run(story()) if isinstance(each, PageDigest)]
    assert [bool(problem) for problem in problems] == [True, False, True, False]


def test_a_worker_knows_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUMI_AUTH", "user:secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")

    async def story() -> PageDigest | Undigested:
        workers = WorkerPool(1, command=WORKER)
        try:
            return await workers.digest(request(b"", "environment"))
        finally:
            await workers.aclose()

    result = asyncio.run(story())
    assert isinstance(result, PageDigest)
    assert "PATH" in result.links
    assert not {"SUMI_AUTH", "AWS_SECRET_ACCESS_KEY", "HOME"} & set(result.links)


def _may_leave_the_network() -> bool:
    child = os.fork()
    if not child:
        os._exit(0 if _unshared() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _unshared() -> bool:
    import ctypes

    libc = ctypes.CDLL(None)
    return bool(libc.unshare(0x40000000) == 0 or libc.unshare(0x50000000) == 0)


@pytest.mark.skipif(sys.platform != "linux" or not _may_leave_the_network(), reason="the kernel forbids it")
def test_a_worker_cannot_reach_the_network() -> None:
    async def story(port: int) -> PageDigest | Undigested:
        workers = WorkerPool(1, command=WORKER)
        try:
            return await workers.digest(request(str(port).encode(), "connect"))
        finally:
            await workers.aclose()

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port)).close()  # from here it can be reached
        result = asyncio.run(story(port))
    assert isinstance(result, PageDigest)
    assert result.title == "unreachable"
