"""One exchange per call: a complete answer or the reason why there is none, whatever the server does."""

import asyncio
import gzip
import os
import ssl
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeAlias

import brotli  # type: ignore[import-untyped]
import pytest
import trustme
import uvloop
import zstandard

from sumi.errors import UsageError
from sumi.fetch.http import HttpFetcher
from sumi.model import Request, Response
from sumi.outcomes import Outcome, Trouble
from sumi.policy import FetchLimits, NetworkPolicy
from tests.engine.raw_server import RawServer, Script, Writer, reset, saying, serving

MIB = 1024 * 1024
Result: TypeAlias = Response | Trouble
Run: TypeAlias = Callable[[Coroutine[Any, Any, Any]], Any]
LOOPBACK = NetworkPolicy(user_agent="sumi-test", allow_private=True)
PAGE = b"<html>" + b"<p>hello</p>" * 2000 + b"</html>"


class WallClock:
    def now(self) -> float:
        return time.time()

    async def sleep_until(self, when: float) -> None:
        await asyncio.sleep(max(0.0, when - time.time()))


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """Runs a coroutine on either loop, and finds every file closed behind it."""

    def runner(main: Coroutine[Any, Any, Any]) -> Any:
        with asyncio.Runner(loop_factory=request.param) as loop:
            loop.run(asyncio.sleep(0))  # libuv opens two descriptors once per process
        before = len(os.listdir("/proc/self/fd"))
        with asyncio.Runner(loop_factory=request.param) as loop:
            result = loop.run(main)
        assert len(os.listdir("/proc/self/fd")) <= before
        return result

    return runner


async def with_fetcher(
    use: Callable[[HttpFetcher], Awaitable[Any]],
    limits: FetchLimits | None = None,
    network: NetworkPolicy = LOOPBACK,
) -> Any:
    fetcher = HttpFetcher(limits or FetchLimits(), network, WallClock())
    try:
        return await use(fetcher)
    finally:
        await fetcher.aclose()


async def exchange(script: Script, limits: FetchLimits | None = None, **request: Any) -> Result:
    """A single request to a server that follows ``script``."""
    async with serving(script) as server:
        asked = Request(server.url(), **request)
        result: Result = await with_fetcher(lambda fetcher: fetcher.fetch(asked), limits)
        return result


def answer(head: str, body: bytes = b"") -> Script:
    return saying(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + body)


def dripping(head: bytes, piece: bytes, pause: float) -> Script:
    async def script(_head: bytes, writer: Writer) -> None:
        writer.write(head)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return script


def resetting_after(said: bytes) -> Script:
    async def script(_head: bytes, writer: Writer) -> None:
        writer.write(said)
        await reset(writer)

    return script


async def silence(_head: bytes, writer: Writer) -> None:
    await asyncio.sleep(60)


async def endless_headers(_head: bytes, writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X: y\r\n" * 100)
        await writer.drain()


async def endless_body(_head: bytes, writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(bytes(65536))
        await writer.drain()


COMPLETE: dict[str, tuple[Script, int, bytes]] = {
    "with its length": (answer("HTTP/1.1 200 OK\nContent-Length: 2", b"ok"), 200, b"ok"),
    "in chunks": (answer("HTTP/1.1 200 OK\nTransfer-Encoding: chunked", b"2\r\nok\r\n0\r\n\r\n"), 200, b"ok"),
    "HTTP/1.0 to the end": (answer("HTTP/1.0 200 OK", b"old"), 200, b"old"),
    "HTTP/1.1 to the end": (answer("HTTP/1.1 200 OK\nConnection: close", b"old"), 200, b"old"),
    "more than its length": (answer("HTTP/1.1 200 OK\nContent-Length: 2", b"ok and more"), 200, b"ok"),
    "no reason phrase": (answer("HTTP/1.1 200\nContent-Length: 2", b"ok"), 200, b"ok"),
    "bare line feeds": (saying(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok"), 200, b"ok"),
    "204": (answer("HTTP/1.1 204 No Content"), 204, b""),
    "304": (answer("HTTP/1.1 304 Not Modified\nContent-Length: 99999999999"), 304, b""),
    "404 with a page": (answer("HTTP/1.1 404 Not Found\nContent-Length: 4", b"gone"), 404, b"gone"),
    "unknown status": (answer("HTTP/1.1 799 Hm\nContent-Length: 0"), 799, b""),
    "interim answers first": (
        saying(
            b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        ),
        200,
        b"ok",
    ),
    "gzip": (answer("HTTP/1.1 200 OK\nContent-Encoding: gzip", gzip.compress(PAGE)), 200, PAGE),
    "brotli": (answer("HTTP/1.1 200 OK\nContent-Encoding: br", brotli.compress(PAGE)), 200, PAGE),
    "zstd": (answer("HTTP/1.1 200 OK\nContent-Encoding: zstd", zstandard.compress(PAGE)), 200, PAGE),
    "two codings": (
        answer(
            "HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Encoding: br",
            brotli.compress(gzip.compress(PAGE)),
        ),
        200,
        PAGE,
    ),
    "an empty coded body": (answer("HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Length: 0"), 200, b""),
}

GZIP_HEAD = "HTTP/1.1 200 OK\nContent-Encoding: gzip"
BROKEN: dict[str, tuple[Script, Outcome]] = {
    "nothing at all": (saying(b""), Outcome.CONNECTION_LOST),
    "reset at once": (resetting_after(b""), Outcome.CONNECTION_LOST),
    "reset in the head": (resetting_after(b"HTTP/1.1 200 OK\r\nContent-"), Outcome.CONNECTION_LOST),
    "reset in the body": (
        resetting_after(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
        Outcome.CONNECTION_LOST,
    ),
    "head cut short": (saying(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"), Outcome.CONNECTION_LOST),
    "header line cut short": (saying(b"HTTP/1.1 200 OK\r\nContent-Ty"), Outcome.CONNECTION_LOST),
    "only an interim answer": (answer("HTTP/1.1 103 Early Hints"), Outcome.CONNECTION_LOST),
    "shorter than its length": (
        answer("HTTP/1.1 200 OK\nContent-Length: 9", b"half"),
        Outcome.CONNECTION_LOST,
    ),
    "no last chunk": (
        answer("HTTP/1.1 200 OK\nTransfer-Encoding: chunked", b"2\r\nok\r\n"),
        Outcome.CONNECTION_LOST,
    ),
    "a chunk cut short": (
        answer("HTTP/1.1 200 OK\nTransfer-Encoding: chunked", b"ff\r\nok"),
        Outcome.CONNECTION_LOST,
    ),
    "bad chunks": (answer("HTTP/1.1 200 OK\nTransfer-Encoding: chunked", b"zz\r\nok\r\n"), Outcome.BAD_HTTP),
    "no status line": (saying(b"<html>hello</html>"), Outcome.BAD_HTTP),
    "another protocol": (saying(b"SSH-2.0-OpenSSH_9.6\r\n"), Outcome.BAD_HTTP),
    "status that is no number": (answer("HTTP/1.1 abc OK"), Outcome.BAD_HTTP),
    "status zero": (answer("HTTP/1.1 000 OK"), Outcome.BAD_HTTP),
    "switching protocols unasked": (
        answer("HTTP/1.1 101 Switching\nUpgrade: x", b"what now"),
        Outcome.BAD_HTTP,
    ),
    "length that is no number": (answer("HTTP/1.1 200 OK\nContent-Length: abc", b"ok"), Outcome.BAD_HTTP),
    "two different lengths": (
        answer("HTTP/1.1 200 OK\nContent-Length: 1\nContent-Length: 2", b"ok"),
        Outcome.BAD_HTTP,
    ),
    "nul in a header": (saying(b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n"), Outcome.BAD_HTTP),
    "endless headers": (endless_headers, Outcome.BAD_HTTP),
    "a header line of a megabyte": (answer("HTTP/1.1 200 OK\nX: " + "a" * MIB), Outcome.BAD_HTTP),
    "ten thousand headers": (answer("HTTP/1.1 200 OK" + "\nA: b" * 10_000), Outcome.BAD_HTTP),
    "unknown transfer coding": (
        answer("HTTP/1.1 200 OK\nTransfer-Encoding: foo", b"ok"),
        Outcome.BAD_ENCODING,
    ),
    "unknown content coding": (answer("HTTP/1.1 200 OK\nContent-Encoding: foo", b"ok"), Outcome.BAD_ENCODING),
    "truncated gzip": (answer(GZIP_HEAD, gzip.compress(PAGE)[:-20]), Outcome.BAD_ENCODING),
    "not gzip": (answer(GZIP_HEAD, PAGE), Outcome.BAD_ENCODING),
    "gzip bomb": (answer(GZIP_HEAD, gzip.compress(bytes(48 * MIB))), Outcome.BAD_ENCODING),
    "gzip too large": (answer(GZIP_HEAD, gzip.compress(bytes(48 * MIB), 1)), Outcome.TOO_LARGE),
    "zstd bomb": (
        answer("HTTP/1.1 200 OK\nContent-Encoding: zstd", zstandard.compress(bytes(48 * MIB))),
        Outcome.BAD_ENCODING,
    ),
    "brotli bomb": (
        answer("HTTP/1.1 200 OK\nContent-Encoding: br", brotli.compress(bytes(48 * MIB), quality=4)),
        Outcome.BAD_ENCODING,
    ),
    "a thousand codings": (
        answer("HTTP/1.1 200 OK\nContent-Encoding: " + "gzip, " * 1000, gzip.compress(b"x")),
        Outcome.BAD_ENCODING,
    ),
    "codings over many headers": (
        answer("HTTP/1.1 200 OK" + "\nContent-Encoding: gzip" * 6, gzip.compress(b"x")),
        Outcome.BAD_ENCODING,
    ),
    "endless body": (endless_body, Outcome.TOO_LARGE),
    "said to be huge": (answer("HTTP/1.1 200 OK\nContent-Length: 99999999999", b"x"), Outcome.TOO_LARGE),
}


@pytest.mark.parametrize("name", COMPLETE)
def test_a_complete_answer_is_a_response(name: str, run: Run) -> None:
    script, status, body = COMPLETE[name]
    result = run(exchange(script))
    assert isinstance(result, Response), result
    assert (result.status, result.body) == (status, body)
    assert result.peer == "127.0.0.1"


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_answer_is_trouble_and_never_a_response(name: str, run: Run) -> None:
    script, outcome = BROKEN[name]
    result = run(exchange(script))
    assert isinstance(result, Trouble), result
    assert result.verdict.outcome is outcome, result.verdict
    assert result.verdict.rule
    assert result.timing.started <= result.timing.reached <= result.timing.finished


SLOW = FetchLimits(connect=5, first_byte=0.2, idle=0.2, total=20, min_bytes_per_second=1000)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"


async def half_an_answer(_head: bytes, writer: Writer) -> None:
    writer.write(HEAD + b"half")
    await asyncio.sleep(60)


@pytest.mark.parametrize(
    ("script", "limits", "rule"),
    [
        (silence, SLOW, "no answer within 0.2 s"),
        (half_an_answer, SLOW, "silent for 0.2 s"),
        (dripping(HEAD, b"x", 0.02), SLOW, "slower than 1000 bytes per second"),
        (dripping(HEAD, b"x", 0.02), FetchLimits(total=0.3), "not complete within 0.3 s"),
        (dripping(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", 0.02), SLOW, "slower than 1000 bytes per second"),
        (dripping(b"HTTP/1.1 200 OK\r\nX: ", b"y", 0.02), SLOW, "silent for 0.2 s"),
    ],
)
def test_a_slow_server_is_left_and_the_limit_named(
    script: Script, limits: FetchLimits, rule: str, run: Run
) -> None:
    result = run(exchange(script, limits))
    assert isinstance(result, Trouble)
    assert (result.verdict.outcome, result.verdict.rule) == (Outcome.TIMED_OUT, rule)


def test_a_steady_answer_may_take_longer_than_the_idle_limit(run: Run) -> None:
    async def steady(_head: bytes, writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6000\r\n\r\n")
        for _ in range(12):
            writer.write(bytes(500))
            await writer.drain()
            await asyncio.sleep(0.05)

    result = run(exchange(steady, FetchLimits(first_byte=0.3, idle=0.3, min_bytes_per_second=1000)))
    assert isinstance(result, Response), result


def test_a_handshake_that_stalls_is_a_connection_that_took_too_long(run: Run) -> None:
    async def main() -> Result:
        async with serving(silence) as server:
            asked = Request(f"https://127.0.0.1:{server.port}/")
            result: Result = await with_fetcher(lambda f: f.fetch(asked), FetchLimits(connect=0.2))
            return result

    result = run(main())
    assert isinstance(result, Trouble)
    assert (result.verdict.outcome, result.verdict.rule) == (Outcome.TIMED_OUT, "no connection within 0.2 s")


def test_a_redirect_is_returned_as_it_is(run: Run) -> None:
    async def main() -> tuple[Result, int]:
        async with serving(answer("HTTP/1.1 302 Found\nLocation: /next\nContent-Length: 0")) as server:
            result = await with_fetcher(lambda fetcher: fetcher.fetch(Request(server.url())))
            return result, len(server.heads)

    result, requests = run(main())
    assert isinstance(result, Response)
    assert (result.status, result.header("location"), requests) == (302, "/next", 1)


def test_bytes_of_a_location_are_kept_one_to_one(run: Run) -> None:
    location = bytes(range(0x80, 0x100)) + b' <>"\\^`{|}'
    result = run(
        exchange(saying(b"HTTP/1.1 301 M\r\nLocation: /" + location + b"\r\nContent-Length: 0\r\n\r\n"))
    )
    assert isinstance(result, Response)
    assert (result.header("location") or "").encode("latin-1") == b"/" + location


def test_headers_keep_order_and_repeats_and_trailers_stay_out(run: Run) -> None:
    head = "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nX-A: 1\nX-B: folded\n  line\nx-a: 2"
    result = run(exchange(answer(head, b"2\r\nok\r\n0\r\nLocation: /evil\r\nX-A: 3\r\n\r\n")))
    assert isinstance(result, Response)
    assert [field for field in result.headers if field[0] == "x-a"] == [("x-a", "1"), ("x-a", "2")]
    assert result.header("x-b") == "folded line"
    assert result.header("location") is None


def test_head_asks_without_a_body_and_get_works_afterwards(run: Run) -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\nContent-Encoding: gzip\r\n\r\n"

    async def script(head: bytes, writer: Writer) -> None:
        writer.write(page if head.startswith(b"HEAD") else b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    async def main() -> tuple[Result, Result]:
        async with serving(script, keep_alive=True) as server:

            async def both(fetcher: HttpFetcher) -> tuple[Result, Result]:
                head = await fetcher.fetch(Request(server.url(), method="HEAD"))
                return head, await fetcher.fetch(Request(server.url()))

            result: tuple[Result, Result] = await with_fetcher(both)
            return result

    head, get = run(main())
    assert isinstance(head, Response)
    assert (head.status, head.body, head.header("content-length")) == (200, b"", "99999999999")
    assert isinstance(get, Response)
    assert get.body == b"ok"


def test_what_is_sent(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")

    async def main() -> list[bytes]:
        async with serving(
            answer("HTTP/1.1 200 OK\nSet-Cookie: a=b\nContent-Length: 0"), keep_alive=True
        ) as server:

            async def ask(fetcher: HttpFetcher) -> None:
                url = f"http://user:secret@127.0.0.1:{server.port}/a/%2e%2E/b?q=ä#frag"
                assert isinstance(await fetcher.fetch(Request(url, (("If-None-Match", '"x"'),))), Response)
                assert isinstance(await fetcher.fetch(Request(server.url("/c"))), Response)

            await with_fetcher(ask)
            return server.heads

    first, second = run(main())
    assert first.startswith(b"GET /b?q=%C3%A4 HTTP/1.1\r\n")
    assert b'\r\nIf-None-Match: "x"\r\n' in first
    for head in (first, second):
        assert b"\r\nUser-Agent: sumi-test\r\n" in head
        assert b"\r\nAccept: text/html,application/xhtml+xml" in head
        assert b"\r\nAccept-Encoding: gzip, br, zstd\r\n" in head
        assert b"authorization" not in head.lower()
        assert b"cookie" not in head.lower()
    assert b"If-None-Match" not in second


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\0b", "☃"])
def test_a_header_that_cannot_be_sent_is_not_sent(value: str, run: Run) -> None:
    async def main() -> tuple[Result, int]:
        async with serving(answer("HTTP/1.1 200 OK\nContent-Length: 0")) as server:
            asked = Request(server.url(), (("X-A", value),))
            return await with_fetcher(lambda fetcher: fetcher.fetch(asked)), server.connections

    result, connections = run(main())
    assert isinstance(result, Trouble)
    assert connections == 0


def test_a_user_agent_that_cannot_be_sent_is_refused_at_once() -> None:
    with pytest.raises(UsageError):
        HttpFetcher(FetchLimits(), NetworkPolicy(user_agent="a\nb"), WallClock())


@pytest.mark.parametrize("head", ["HTTP/1.1 200 OK", "HTTP/1.1 200 OK\nContent-Length: 99999999999"])
def test_a_request_for_a_prefix_gets_it_from_a_body_without_end(head: str, run: Run) -> None:
    result = run(
        exchange(dripping(head.replace("\n", "\r\n").encode() + b"\r\n\r\n", PAGE, 0.001), max_bytes=1000)
    )
    assert isinstance(result, Response), result
    assert result.body == PAGE[:1000]


def test_a_request_for_a_prefix_gets_it_from_a_compressed_body(run: Run) -> None:
    result = run(exchange(answer(GZIP_HEAD, gzip.compress(bytes(48 * MIB), 1)), max_bytes=512_000))
    assert isinstance(result, Response), result
    assert result.body == bytes(512_000)


def test_a_short_body_is_not_taken_for_a_prefix(run: Run) -> None:
    result = run(exchange(answer("HTTP/1.1 200 OK\nContent-Length: 9", b"half"), max_bytes=1000))
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.CONNECTION_LOST


def test_sizes_are_reported_as_transferred(run: Run) -> None:
    packed = gzip.compress(PAGE)
    result = run(exchange(answer(GZIP_HEAD, packed)))
    assert isinstance(result, Response)
    assert (result.wire_bytes, len(result.body)) == (len(packed), len(PAGE))


def test_retry_after_of_a_broken_answer_is_kept(run: Run) -> None:
    result = run(exchange(answer("HTTP/1.1 503 Busy\nRetry-After: 7\nContent-Length: 9", b"half")))
    assert isinstance(result, Trouble)
    assert result.retry_after == 7.0


def test_nobody_listening_is_connect_failed(run: Run) -> None:
    async def main() -> Result:
        async with serving(silence) as server:
            asked = Request(server.url())
        result: Result = await with_fetcher(lambda fetcher: fetcher.fetch(asked))
        return result

    result = run(main())
    assert isinstance(result, Trouble)
    assert (result.verdict.outcome, result.verdict.rule) == (Outcome.CONNECT_FAILED, "connection refused")


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        ("http://no-such-host.invalid/", Outcome.DNS_FAILED),
        ("ftp://example.com/", Outcome.BAD_URL),
        ("http://a;b.example/", Outcome.BAD_URL),
        ("nonsense", Outcome.BAD_URL),
        ("http://169.254.169.254/latest/", Outcome.ADDRESS_REFUSED),
        ("http://metadata.google.internal/", Outcome.ADDRESS_REFUSED),
        ("http://127.0.0.1:22/", Outcome.ADDRESS_REFUSED),
    ],
)
def test_urls_that_lead_nowhere(url: str, outcome: Outcome, run: Run) -> None:
    result = run(with_fetcher(lambda fetcher: fetcher.fetch(Request(url))))
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is outcome, result.verdict


def test_a_connection_is_kept_and_used_again(run: Run) -> None:
    async def main() -> tuple[int, int]:
        async with serving(answer("HTTP/1.1 200 OK\nContent-Length: 2", b"ok"), keep_alive=True) as server:

            async def ask(fetcher: HttpFetcher) -> None:
                for _ in range(20):
                    assert isinstance(await fetcher.fetch(Request(server.url())), Response)

            await with_fetcher(ask)
            return server.connections, len(server.heads)

    assert run(main()) == (1, 20)


def test_a_kept_connection_that_the_server_closed_is_replaced_unseen(run: Run) -> None:
    async def main() -> list[Result]:
        async with serving(answer("HTTP/1.1 200 OK\nContent-Length: 2", b"ok")) as server:

            async def ask(fetcher: HttpFetcher) -> list[Result]:
                return [await fetcher.fetch(Request(server.url())) for _ in range(5)]

            results: list[Result] = await with_fetcher(ask)
            return results

    assert all(isinstance(result, Response) for result in run(main()))


def test_fifty_at_once_each_get_their_own_answer(run: Run) -> None:
    async def echo(head: bytes, writer: Writer) -> None:
        path = head.split()[1]
        await asyncio.sleep(0.001)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(path), path))

    async def main() -> list[Result]:
        async with serving(echo, keep_alive=True) as server:

            async def ask(fetcher: HttpFetcher) -> list[Result]:
                urls = [server.url(f"/{number}") for number in range(50)]
                return await asyncio.gather(*(fetcher.fetch(Request(url)) for url in urls))

            results: list[Result] = await with_fetcher(ask)
            return results

    results = run(main())
    assert [result.body for result in results] == [b"/%d" % number for number in range(50)]


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0)


def test_cancelling_closes_the_connection_and_leaves_the_fetcher_usable(run: Run) -> None:
    async def script(head: bytes, writer: Writer) -> None:
        if head.startswith(b"GET /slow"):
            await asyncio.sleep(60)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    async def main() -> Result:
        async with serving(script, keep_alive=True) as server:

            async def ask(fetcher: HttpFetcher) -> Result:
                slow = asyncio.create_task(fetcher.fetch(Request(server.url("/slow"))))
                await until(lambda: bool(server.heads))
                slow.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await slow
                result = await fetcher.fetch(Request(server.url("/quick")))
                assert server.connections == 2  # the abandoned one is not used again
                return result

            result: Result = await with_fetcher(ask)
            return result

    assert isinstance(run(main()), Response)


def test_closing_ends_what_is_under_way(run: Run) -> None:
    async def main() -> Result:
        async with serving(silence) as server:
            fetcher = HttpFetcher(FetchLimits(), LOOPBACK, WallClock())
            asked = asyncio.create_task(fetcher.fetch(Request(server.url())))
            await until(lambda: bool(server.heads))
            await fetcher.aclose()
            await fetcher.aclose()
            with pytest.raises(RuntimeError):
                await fetcher.fetch(Request(server.url()))
            return await asked

    result = run(main())
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.CONNECTION_LOST


async def ask_each(server: RawServer, network: NetworkPolicy, urls: list[str]) -> list[Result]:
    async def ask(fetcher: HttpFetcher) -> list[Result]:
        return [await fetcher.fetch(Request(url)) for url in urls]

    results: list[Result] = await with_fetcher(ask, network=network)
    return results


OK = answer("HTTP/1.1 200 OK\nContent-Length: 2", b"ok")


def test_a_name_that_leads_inwards_is_refused_when_it_is_dialled(run: Run) -> None:
    async def main() -> tuple[list[Result], int]:
        async with serving(OK, keep_alive=True) as server:
            # The one entry that the guard does not know of stands for a name server that lies.
            network = NetworkPolicy(resolve=(("inside.example", server.port, "127.0.0.1"),))
            fetcher = HttpFetcher(FetchLimits(), network, WallClock())
            fetcher._guard._pinned.clear()
            try:
                result = await fetcher.fetch(Request(server.url(host="inside.example")))
            finally:
                await fetcher.aclose()
            return [result], server.connections

    (result,), connections = run(main())
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.ADDRESS_REFUSED
    assert result.verdict.rule == "inside.example leads to 127.0.0.1, a loopback address"
    assert connections == 0


def test_a_pinned_name_reaches_its_address_and_no_other_name_does(run: Run) -> None:
    async def main() -> tuple[list[Result], list[bytes]]:
        async with serving(OK, keep_alive=True) as server:
            network = NetworkPolicy(resolve=(("pinned.example", server.port, "127.0.0.1"),))
            hosts = ["pinned.example", "localhost", "127.0.0.1", "pinned.example"]
            urls = [server.url(host=host) for host in hosts]
            return await ask_each(server, network, urls), server.heads

    results, heads = run(main())
    assert [isinstance(result, Response) for result in results] == [True, False, False, True]
    assert all(b"\r\nHost: pinned.example:" in head for head in heads)


def test_an_opened_host_is_opened_under_its_own_name_only(run: Run) -> None:
    async def main() -> tuple[list[Result], int]:
        async with serving(OK, keep_alive=True) as server:
            network = NetworkPolicy(open_hosts=frozenset({("127.0.0.1", server.port)}))
            hosts = ["127.0.0.1", "localhost", "127.0.0.2", "127.1"]
            return await ask_each(
                server, network, [server.url(host=host) for host in hosts]
            ), server.connections

    results, connections = run(main())
    assert [isinstance(result, Response) for result in results] == [True, False, False, True]
    assert connections == 1


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def tls_context(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


async def over_tls(context: ssl.SSLContext, network: NetworkPolicy) -> Result:
    async with serving(OK, keep_alive=True, tls=context) as server:
        results = await ask_each(server, network, [server.url()])
        return results[0]


def test_tls_with_the_right_authority(authority: trustme.CA, run: Run) -> None:
    with authority.cert_pem.tempfile() as ca_file:
        network = NetworkPolicy(allow_private=True, ca_file=ca_file)
        result = run(over_tls(tls_context(authority, "127.0.0.1"), network))
    assert isinstance(result, Response), result
    assert (result.body, result.http_version) == (b"ok", "1.1")


def test_tls_without_the_authority_is_refused(authority: trustme.CA, run: Run) -> None:
    result = run(over_tls(tls_context(authority, "127.0.0.1"), LOOPBACK))
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.TLS_FAILED
    assert "certificate" in result.verdict.rule


def test_tls_for_another_host_is_refused(authority: trustme.CA, run: Run) -> None:
    with authority.cert_pem.tempfile() as ca_file:
        network = NetworkPolicy(allow_private=True, ca_file=ca_file)
        result = run(over_tls(tls_context(authority, "elsewhere.example"), network))
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.TLS_FAILED
    assert "127.0.0.1" in result.verdict.rule


def test_plain_http_on_a_tls_port_is_refused(run: Run) -> None:
    async def main() -> Result:
        async def plain(_reader: asyncio.StreamReader, writer: Writer) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(plain, "127.0.0.1", 0)
        asked = Request(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        async with server:
            result: Result = await with_fetcher(lambda fetcher: fetcher.fetch(asked))
            return result

    result = run(main())
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.TLS_FAILED
