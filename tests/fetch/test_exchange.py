"""The request is sent as given; the response is returned as received."""

import asyncio

import pytest

from sumi.engine.io import SystemClock
from sumi.fetch.http import HttpFetcher
from sumi.model import Request, Response
from sumi.outcomes import Trouble
from sumi.policy import FetchLimits
from tests.fetch.exchanges import (
    LOOPBACK,
    Loop,
    Result,
    answer,
    exchange,
    on_both_loops,
    run,
    with_fetcher,
)
from tests.fetch.raw_server import Writer, saying, serving

pytestmark = on_both_loops


def test_a_redirect_is_returned_as_it_is(loop: Loop) -> None:
    async def main() -> tuple[Result, int]:
        async with serving(answer("HTTP/1.1 302 Found\nLocation: /next\nContent-Length: 0")) as server:
            result = await with_fetcher(lambda fetcher: fetcher.fetch(Request(server.url())))
            return result, len(server.heads)

    result, requests = run(loop, main())
    assert isinstance(result, Response)
    assert (result.status, result.header("location"), requests) == (302, "/next", 1)


def test_bytes_of_a_location_are_kept_one_to_one(loop: Loop) -> None:
    location = bytes(range(0x80, 0x100)) + b' <>"\\^`{|}'
    result = run(
        loop, exchange(saying(b"HTTP/1.1 301 M\r\nLocation: /" + location + b"\r\nContent-Length: 0\r\n\r\n"))
    )
    assert isinstance(result, Response)
    assert (result.header("location") or "").encode("latin-1") == b"/" + location


def test_headers_keep_order_and_repeats_and_trailers_stay_out(loop: Loop) -> None:
    head = "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nX-A: 1\nX-B: folded\n  line\nx-a: 2"
    result = run(loop, exchange(answer(head, b"2\r\nok\r\n0\r\nLocation: /evil\r\nX-A: 3\r\n\r\n")))
    assert isinstance(result, Response)
    assert [field for field in result.headers if field[0] == "x-a"] == [("x-a", "1"), ("x-a", "2")]
    assert result.header("x-b") == "folded line"
    assert result.header("location") is None


def test_head_asks_without_a_body_and_get_works_afterwards(loop: Loop) -> None:
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

    head, get = run(loop, main())
    assert isinstance(head, Response)
    assert (head.status, head.body, head.header("content-length")) == (200, b"", "99999999999")
    assert isinstance(get, Response)
    assert get.body == b"ok"


def test_what_is_sent(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
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

    first, second = run(loop, main())
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
def test_a_header_that_cannot_be_sent_is_not_sent(value: str, loop: Loop) -> None:
    async def main() -> tuple[Result, int]:
        async with serving(answer("HTTP/1.1 200 OK\nContent-Length: 0")) as server:
            asked = Request(server.url(), (("X-A", value),))
            return await with_fetcher(lambda fetcher: fetcher.fetch(asked)), server.connections

    result, connections = run(loop, main())
    assert isinstance(result, Trouble)
    assert connections == 0


def test_retry_after_of_a_broken_answer_is_kept(loop: Loop) -> None:
    result = run(loop, exchange(answer("HTTP/1.1 503 Busy\nRetry-After: 7\nContent-Length: 9", b"half")))
    assert isinstance(result, Trouble)
    assert result.retry_after == 7.0


def test_the_server_had_seen_the_request_when_it_counts_as_reached(loop: Loop) -> None:
    clock = SystemClock()
    seen: list[float] = []

    async def script(_head: bytes, writer: Writer) -> None:
        seen.append(clock.now())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha")
        await writer.drain()
        await asyncio.sleep(0.02)
        writer.write(b"lf")

    async def main() -> Result:
        async with serving(script) as server:
            fetcher = HttpFetcher(FetchLimits(), LOOPBACK, clock)
            try:
                return await fetcher.fetch(Request(server.url()))
            finally:
                await fetcher.aclose()

    result = run(loop, main())
    assert isinstance(result, Response)
    assert result.timing.started <= seen[0] <= result.timing.reached < result.timing.finished
