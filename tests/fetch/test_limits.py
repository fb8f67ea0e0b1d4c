"""No server can hold the fetcher for longer, or send it more, than the limits allow."""

import asyncio
import gzip

import pytest

from sumi.model import Request, Response
from sumi.outcomes import Outcome, Trouble
from sumi.policy import FetchLimits
from tests.fetch.exchanges import (
    GZIP_HEAD,
    MIB,
    PAGE,
    Loop,
    Result,
    answer,
    dripping,
    exchange,
    on_both_loops,
    run,
    silence,
    with_fetcher,
)
from tests.fetch.raw_server import Script, Writer, serving

pytestmark = on_both_loops


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
    script: Script, limits: FetchLimits, rule: str, loop: Loop
) -> None:
    result = run(loop, exchange(script, limits))
    assert isinstance(result, Trouble)
    assert (result.verdict.outcome, result.verdict.rule) == (Outcome.TIMED_OUT, rule)


def test_a_steady_answer_may_take_longer_than_the_idle_limit(loop: Loop) -> None:
    async def steady(_head: bytes, writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6000\r\n\r\n")
        for _ in range(12):
            writer.write(bytes(500))
            await writer.drain()
            await asyncio.sleep(0.05)

    result = run(loop, exchange(steady, FetchLimits(first_byte=0.3, idle=0.3, min_bytes_per_second=1000)))
    assert isinstance(result, Response), result


def test_a_handshake_that_stalls_is_a_connection_that_took_too_long(loop: Loop) -> None:
    async def main() -> Result:
        async with serving(silence) as server:
            asked = Request(f"https://127.0.0.1:{server.port}/")
            result: Result = await with_fetcher(lambda f: f.fetch(asked), FetchLimits(connect=0.2))
            return result

    result = run(loop, main())
    assert isinstance(result, Trouble)
    assert (result.verdict.outcome, result.verdict.rule) == (Outcome.TIMED_OUT, "no connection within 0.2 s")


@pytest.mark.parametrize("head", ["HTTP/1.1 200 OK", "HTTP/1.1 200 OK\nContent-Length: 99999999999"])
def test_a_request_for_a_prefix_gets_it_from_a_body_without_end(head: str, loop: Loop) -> None:
    result = run(
        loop,
        exchange(dripping(head.replace("\n", "\r\n").encode() + b"\r\n\r\n", PAGE, 0.001), max_bytes=1000),
    )
    assert isinstance(result, Response), result
    assert result.body == PAGE[:1000]


def test_a_request_for_a_prefix_gets_it_from_a_compressed_body(loop: Loop) -> None:
    result = run(loop, exchange(answer(GZIP_HEAD, gzip.compress(bytes(48 * MIB), 1)), max_bytes=512_000))
    assert isinstance(result, Response), result
    assert result.body == bytes(512_000)


def test_a_short_body_is_not_taken_for_a_prefix(loop: Loop) -> None:
    result = run(loop, exchange(answer("HTTP/1.1 200 OK\nContent-Length: 9", b"half"), max_bytes=1000))
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.CONNECTION_LOST


def test_sizes_are_reported_as_transferred(loop: Loop) -> None:
    packed = gzip.compress(PAGE)
    result = run(loop, exchange(answer(GZIP_HEAD, packed)))
    assert isinstance(result, Response)
    assert (result.wire_bytes, len(result.body)) == (len(packed), len(PAGE))


def test_a_server_that_was_fast_and_then_trickles_is_left(loop: Loop) -> None:
    async def tiring(head: bytes, writer: Writer) -> None:
        writer.write(HEAD)
        await asyncio.sleep(0.1)
        await dripping(b"x" * 50_000, b"x", 0.02)(head, writer)

    limits = FetchLimits(connect=5, first_byte=0.2, idle=0.2, total=4, min_bytes_per_second=1000)
    result = run(loop, exchange(tiring, limits))
    assert isinstance(result, Trouble)
    assert result.verdict.rule == "slower than 1000 bytes per second"
