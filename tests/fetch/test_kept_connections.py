"""A response that is longer than declared is refused, and never becomes the next page of its connection."""

import asyncio
import socket
import ssl
from collections.abc import Sequence
from contextlib import AsyncExitStack

import pytest
import trustme

from sumi.fetch.http import HttpFetcher
from sumi.fetch.kept_connections import follows
from sumi.model import Request, Response
from sumi.outcomes import Outcome, Trouble
from sumi.policy import NetworkPolicy, Proxy
from tests.fetch.exchanges import LOOPBACK, Loop, Result, ask_each, on_both_loops, run, with_fetcher
from tests.fetch.proxy_server import proxying
from tests.fetch.raw_server import Script, Writer, saying, serving

pytestmark = on_both_loops

GOOD = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"
EVIL = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"

# What comes in one piece each, and follows the other as its own segment.
SURPLUS: dict[str, list[bytes]] = {
    "an answer behind a length": [GOOD + EVIL],
    "an answer behind chunks": [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n0\r\n\r\n" + EVIL
    ],
    "the head by itself": [b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", b"good" + EVIL],
    "a large body": [b"HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n", b"x" * 400_000 + EVIL],
    "length and chunks": [
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n0\r\n\r\n"
        + EVIL
    ],
    "closed behind it": [b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", b"a page"],
    "closed behind it, as in HTTP/1.0": [b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", b"a page"],
}

# A body that comes by itself is read to its length and no further, and what is left is not to be seen.
SEEN_WITHIN_TLS = {"an answer behind a length", "an answer behind chunks", "length and chunks"}


def first(pieces: list[bytes]) -> Script:
    """The first request of a server is answered so, all others well."""
    begun: list[bytes] = []

    async def script(head: bytes, writer: Writer) -> None:
        begun.append(head)
        if len(begun) > 1:
            writer.write(GOOD)
            return
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        if b"close" in pieces[0] or b"HTTP/1.0" in pieces[0]:
            writer.close()

    return script


def assert_only_the_first_is_refused(results: list[Result]) -> None:
    bad, *others = results
    assert isinstance(bad, Trouble), bad
    assert bad.verdict.outcome is Outcome.BAD_HTTP
    assert [other.body for other in others if isinstance(other, Response)] == [b"good"] * 3, others


@pytest.mark.parametrize("name", SURPLUS)
def test_the_page_after_it_on_the_same_connection_is_its_own(name: str, loop: Loop) -> None:
    async def main() -> list[Result]:
        async with serving(first(SURPLUS[name]), keep_alive=True) as server:
            return await ask_each([server.url(f"/{page}") for page in range(4)])

    assert_only_the_first_is_refused(run(loop, main()))


def test_a_connection_that_curl_closes_for_want_of_room_is_not_waited_for(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With more hosts than it keeps connections to, that would be a wait for every page."""
    waited_for: list[int] = []

    async def follows(descriptors: Sequence[int], *, by_server: bool) -> bool:
        waited_for.extend(descriptors if by_server else ())
        return False

    async def main() -> list[Result]:
        async with AsyncExitStack() as stack:
            script = saying(GOOD)
            servers = [await stack.enter_async_context(serving(script, keep_alive=True)) for _ in range(6)]
            return await ask_each([server.url("/") for server in servers])

    monkeypatch.setattr("sumi.fetch.curl_loop._kept_connections", lambda: 1)
    monkeypatch.setattr("sumi.fetch.exchange.follows", follows)
    assert [result.body for result in run(loop, main()) if isinstance(result, Response)] == [b"good"] * 6
    assert waited_for == []


def test_a_connection_that_curl_keeps_is_not_waited_for(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another response may be in it by then, which is no surplus of the one before."""
    looked_at: list[int] = []

    async def follows(descriptors: Sequence[int], *, by_server: bool) -> bool:
        looked_at.extend(descriptors)
        return False

    async def main() -> list[Result]:
        async with serving(saying(GOOD), keep_alive=True) as server:
            return await ask_each([server.url("/") for _ in range(3)])

    monkeypatch.setattr("sumi.fetch.exchange.follows", follows)
    assert [result.body for result in run(loop, main()) if isinstance(result, Response)] == [b"good"] * 3
    assert looked_at == []


@pytest.mark.parametrize("scheme", ["http", "socks5h"])
@pytest.mark.parametrize("name", SURPLUS)
def test_so_it_is_through_a_proxy(name: str, scheme: str, loop: Loop) -> None:
    async def main() -> list[Result]:
        async with serving(first(SURPLUS[name]), keep_alive=True) as server, proxying() as proxy:
            network = NetworkPolicy(
                user_agent="sumi-test",
                resolve=(("site.test", server.port, "127.0.0.1"),),
                proxies=(Proxy(scheme, "127.0.0.1", proxy.port),),
            )
            return await ask_each([server.url(f"/{page}", "site.test") for page in range(4)], network)

    assert_only_the_first_is_refused(run(loop, main()))


@pytest.mark.parametrize("name", sorted(SEEN_WITHIN_TLS))
def test_so_it_is_within_tls(name: str, loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(pem := tmp_path_factory.mktemp("ca") / "ca.pem"))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)

    async def main() -> list[Result]:
        async with serving(first(SURPLUS[name]), keep_alive=True, tls=tls) as server:
            network = NetworkPolicy(user_agent="sumi-test", allow_private=True, ca_file=str(pem))
            return await ask_each([server.url(f"/{page}") for page in range(4)], network)

    assert_only_the_first_is_refused(run(loop, main()))


def test_an_answer_without_a_body_is_taken_whatever_follows_it(loop: Loop) -> None:
    async def main() -> list[Result]:
        script = first([b"HTTP/1.1 304 Not Modified\r\n\r\n" + EVIL])
        async with serving(script, keep_alive=True) as server:
            return await ask_each([server.url(f"/{page}") for page in range(4)], LOOPBACK)

    results = run(loop, main())
    assert [result.status for result in results] == [304, 200, 200, 200]
    assert [result.body for result in results] == [b"", b"good", b"good", b"good"]


def test_bytes_that_come_when_the_answer_was_taken_are_not_read_as_the_next(loop: Loop) -> None:
    async def main() -> list[Result]:
        taken, written = asyncio.Event(), asyncio.Event()
        begun: list[bytes] = []

        async def script(head: bytes, writer: Writer) -> None:
            begun.append(head)
            writer.write(GOOD)
            if len(begun) == 1:
                await taken.wait()
                writer.write(EVIL)
                await writer.drain()
                written.set()

        async def ask(fetcher: HttpFetcher) -> list[Result]:
            first = await fetcher.fetch(Request(server.url("/0")))
            taken.set()
            await written.wait()
            return [first, *[await fetcher.fetch(Request(server.url(f"/{page}"))) for page in (1, 2)]]

        async with serving(script, keep_alive=True) as server:
            results: list[Result] = await with_fetcher(ask)
            return results

    assert [result.body for result in run(loop, main())] == [b"good"] * 3


def test_bytes_that_are_still_under_way_are_waited_for(loop: Loop) -> None:
    async def found(words: bytes) -> bool:
        ours, server = socket.socketpair()
        with ours, server:
            ours.setblocking(False)
            asyncio.get_running_loop().call_soon(server.sendall, words)
            asyncio.get_running_loop().call_soon(server.close)
            return await follows([ours.fileno()], by_server=True)

    assert run(loop, found(b"a page"))
    assert not run(loop, found(b""))
