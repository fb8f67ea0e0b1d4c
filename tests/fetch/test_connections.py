"""Connections are reused, never shared across origins, and closed in the end."""

import asyncio
import resource
from collections.abc import Callable

import pytest

from sumi.engine.io import SystemClock
from sumi.fetch.http import HttpFetcher
from sumi.model import Request, Response
from sumi.outcomes import Outcome, Trouble
from sumi.policy import FetchLimits
from tests.fetch.exchanges import (
    LOOPBACK,
    OK,
    Loop,
    Result,
    ask_each,
    on_both_loops,
    run,
    silence,
    with_fetcher,
)
from tests.fetch.raw_server import Writer, serving

pytestmark = on_both_loops


def test_a_connection_is_kept_and_used_again(loop: Loop) -> None:
    async def main() -> tuple[list[Result], int]:
        async with serving(OK, keep_alive=True) as server:
            return await ask_each([server.url()] * 20), server.connections

    results, connections = run(loop, main())
    assert all(isinstance(result, Response) for result in results)
    assert connections == 1


def test_a_server_that_closes_every_connection_costs_one_request_at_most(loop: Loop) -> None:
    """The next may be on its way when the end of a connection arrives; from then on none is used twice."""

    async def main() -> list[Result]:
        async with serving(OK) as server:
            return await ask_each([server.url()] * 5)

    results = run(loop, main())
    assert sum(isinstance(result, Response) for result in results) >= 4


def test_a_request_that_is_dropped_in_a_used_connection_is_not_repeated_behind_our_back(loop: Loop) -> None:
    async def dropping(head: bytes, writer: Writer) -> None:
        if head.split()[1] == b"/drop":
            writer.close()
        else:
            await OK(head, writer)

    async def main() -> tuple[list[Result], list[bytes]]:
        async with serving(dropping, keep_alive=True) as server:
            paths = ["/", "/drop", "/drop", "/"]
            results = await ask_each([server.url(path) for path in paths])
            return results, [head.split()[1] for head in server.heads]

    results, asked = run(loop, main())
    assert asked == [b"/", b"/drop", b"/drop", b"/"]
    assert [isinstance(result, Response) for result in results] == [True, False, False, True]
    lost = [result.verdict.outcome for result in results if isinstance(result, Trouble)]
    assert lost == [Outcome.CONNECTION_LOST] * 2


def test_a_server_that_closes_every_connection_is_still_asked_several_things_at_once(loop: Loop) -> None:
    async def main() -> list[Result]:
        together = asyncio.Event()
        asked: list[bytes] = []

        async def in_company(head: bytes, writer: Writer) -> None:
            asked.append(head)
            if len(asked) == 4:
                together.set()
            await together.wait()  # no response before four requests have come
            writer.write(b"HTTP/1.0 200 OK\r\n\r\nhere")

        async with serving(in_company) as server:

            async def ask(fetcher: HttpFetcher) -> list[Result]:
                return await asyncio.gather(*(fetcher.fetch(Request(server.url())) for _ in range(4)))

            results: list[Result] = await with_fetcher(ask, FetchLimits(total=10.0))
            return results

    assert all(isinstance(result, Response) for result in run(loop, main()))


def test_fifty_at_once_each_get_their_own_answer(loop: Loop) -> None:
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

    results = run(loop, main())
    assert [result.body for result in results] == [b"/%d" % number for number in range(50)]


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0)


def test_cancelling_closes_the_connection_and_leaves_the_fetcher_usable(loop: Loop) -> None:
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

    assert isinstance(run(loop, main()), Response)


def test_closing_ends_what_is_under_way(loop: Loop) -> None:
    async def main() -> Result:
        async with serving(silence) as server:
            fetcher = HttpFetcher(FetchLimits(), LOOPBACK, SystemClock())
            asked = asyncio.create_task(fetcher.fetch(Request(server.url())))
            await until(lambda: bool(server.heads))
            await fetcher.aclose()
            await fetcher.aclose()
            with pytest.raises(RuntimeError):
                await fetcher.fetch(Request(server.url()))
            return await asked

    result = run(loop, main())
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.CONNECTION_LOST


def test_running_out_of_files_is_a_failed_connection(loop: Loop) -> None:
    async def main() -> Result:
        async with serving(OK) as server:
            allowed = resource.getrlimit(resource.RLIMIT_NOFILE)

            async def ask(fetcher: HttpFetcher) -> Result:
                resource.setrlimit(resource.RLIMIT_NOFILE, (3, allowed[1]))
                try:
                    return await fetcher.fetch(Request(server.url()))
                finally:
                    resource.setrlimit(resource.RLIMIT_NOFILE, allowed)

            result: Result = await with_fetcher(ask)
            return result

    result = run(loop, main())
    assert isinstance(result, Trouble)
    assert (result.verdict.outcome, result.verdict.rule) == (Outcome.CONNECT_FAILED, "too many open files")
