"""Large responses at once share one memory budget: they take turns, all arrive, and no server is blamed."""

import asyncio
import gzip

import pytest

from sumi.fetch.http import HttpFetcher
from sumi.model import Request, Response
from sumi.policy import FetchLimits
from tests.fetch.exchanges import MIB, Loop, on_both_loops, run, with_fetcher
from tests.fetch.raw_server import Script, Writer, serving

pytestmark = on_both_loops
AT_ONCE = 12
SIZE = 2 * MIB
# Time that a transfer is kept waiting for would break each of these: readers take longer by far.
LIMITS = FetchLimits(first_byte=0.4, idle=0.4, total=0.8, ratio=1000, flight_bytes=4 * MIB)
BOMB = gzip.compress(b"<p>sumi</p>" * (SIZE // 11), 9)


async def large(_head: bytes, writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % SIZE)
    for _ in range(SIZE // 65_536):
        writer.write(b"x" * 65_536)
        await writer.drain()


async def bomb(_head: bytes, writer: Writer) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
    writer.write(head % len(BOMB) + BOMB)
    await writer.drain()


@pytest.mark.parametrize("script", [large, bomb])
def test_they_take_turns_and_all_come(loop: Loop, script: Script) -> None:
    """Whoever is waited for longest waits for all the readers before, one after the other."""
    held: list[int] = []
    reading = asyncio.Lock()

    async def visit(fetcher: HttpFetcher, url: str) -> int:
        answer = await fetcher.fetch(Request(url))
        assert isinstance(answer, Response), answer
        async with reading:
            held.append(fetcher.held_bytes)
            await asyncio.sleep(LIMITS.total / 4)  # in which transfers that wait would be late
        assert answer.hold is not None
        answer.hold.release()
        return len(answer.body)

    async def all_at_once(fetcher: HttpFetcher) -> list[int]:
        async with serving(script) as server:
            return await asyncio.gather(*(visit(fetcher, server.url(f"/{n}")) for n in range(AT_ONCE)))

    sizes = run(loop, with_fetcher(all_at_once, LIMITS))
    assert len(sizes) == AT_ONCE
    assert min(sizes) >= SIZE - 11
    assert max(held) <= LIMITS.flight_bytes + SIZE


def test_one_that_stalls_is_ended_and_the_others_go_on(loop: Loop) -> None:
    """It came first, fills the budget and falls silent."""
    limits = FetchLimits(idle=0.4, flight_bytes=MIB)
    started = asyncio.Event()

    async def stalling(head: bytes, writer: Writer) -> None:
        if b"/stalls" not in head:
            await large(head, writer)
            return
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % SIZE + b"x" * (SIZE - 1))
        await writer.drain()
        started.set()
        await asyncio.sleep(60)

    async def both(fetcher: HttpFetcher) -> list[object]:
        async with serving(stalling) as server:
            stalls = asyncio.create_task(fetcher.fetch(Request(server.url("/stalls"))))
            await started.wait()
            return [await fetcher.fetch(Request(server.url("/good"))), await stalls]

    good, stalled = run(loop, with_fetcher(both, limits))
    assert isinstance(good, Response)
    assert stalled.verdict.rule == "silent for 0.4 s"
