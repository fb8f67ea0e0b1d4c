"""A name is resolved once, all its addresses are checked, only those are used; DNS never blocks."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from sumi.engine.io import SystemClock
from sumi.fetch.http import HttpFetcher
from sumi.fetch.resolver import KEPT_SECONDS, Resolution, SystemResolver, Unresolved
from sumi.model import Request, Response
from sumi.outcomes import TRANSIENT, Outcome, Trouble
from sumi.policy import FetchLimits, NetworkPolicy
from sumi.ports import Clock
from tests.fetch.exchanges import LOOPBACK, OK, Loop, Result, on_both_loops, run
from tests.fetch.raw_server import serving

pytestmark = on_both_loops

PUBLIC = "93.184.215.14"


class Answers:
    """A name server that gives these answers one after another, and then always the last one."""

    def __init__(self, *answers: Resolution) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def addresses(self, host: str) -> Resolution:
        self.asked.append(host)
        await asyncio.sleep(0)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


class Later(SystemClock):
    """A clock that can be moved on."""

    ahead = 0.0

    def now(self) -> float:
        return super().now() + self.ahead


async def resolving(
    names: Any,
    use: Callable[[HttpFetcher], Awaitable[Any]],
    network: NetworkPolicy = LOOPBACK,
    clock: Clock | None = None,
) -> Any:
    fetcher = HttpFetcher(FetchLimits(), network, clock or SystemClock(), resolver=names)
    try:
        return await use(fetcher)
    finally:
        await fetcher.aclose()


def ask(names: Any, hosts: Sequence[str], network: NetworkPolicy = LOOPBACK) -> Callable[..., Any]:
    """Asks a server under each name in turn; returns the answers and how many connections it saw."""

    async def main() -> tuple[list[Result], int]:
        async with serving(OK, keep_alive=True) as server:

            async def all_of_them(fetcher: HttpFetcher) -> list[Result]:
                return [await fetcher.fetch(Request(server.url(host=host))) for host in hosts]

            results = await resolving(names, all_of_them, network)
            return results, server.connections

    return main


def test_a_name_is_dialled_where_the_resolver_says(loop: Loop) -> None:
    names = Answers(("127.0.0.1",))
    results, connections = run(loop, ask(names, ["some.example", "some.example"])())
    assert [isinstance(result, Response) for result in results] == [True, True]
    assert (connections, names.asked) == (1, ["some.example"])


@pytest.mark.parametrize(
    "addresses", [("127.0.0.1",), (PUBLIC, "127.0.0.1"), ("127.0.0.1", PUBLIC), ("169.254.169.254", PUBLIC)]
)
def test_one_forbidden_address_refuses_the_whole_name(addresses: tuple[str, ...], loop: Loop) -> None:
    (result,), connections = run(loop, ask(Answers(addresses), ["mixed.example"], NetworkPolicy())())
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.ADDRESS_REFUSED
    assert result.verdict.rule.startswith("mixed.example resolves to ")
    assert not any(address in result.verdict.rule for address in addresses)
    assert connections == 0


def test_private_addresses_may_be_opened_but_never_a_link_local_one_among_them(loop: Loop) -> None:
    (opened,), _ = run(loop, ask(Answers(("127.0.0.1",)), ["a.example"])())
    assert isinstance(opened, Response)
    (refused,), connections = run(loop, ask(Answers(("127.0.0.1", "fe80::1%lo")), ["a.example"])())
    assert isinstance(refused, Trouble)
    assert connections == 0


def test_an_address_that_refuses_is_followed_by_the_next_one(loop: Loop) -> None:
    (result,), _ = run(loop, ask(Answers(("127.0.0.9", "127.0.0.1")), ["two.example"])())
    assert isinstance(result, Response)
    assert result.peer == "127.0.0.1"


def test_a_name_whose_answers_change_reaches_no_private_address(loop: Loop) -> None:
    """Rebinding: a public address when it is checked, this machine when it is used."""

    async def main() -> tuple[list[Result], int, list[str]]:
        names = Answers((PUBLIC,), ("127.0.0.1",))
        clock = Later()
        async with serving(OK) as server:
            url = server.url(host="rebound.example")

            async def twice(fetcher: HttpFetcher) -> list[Result]:
                first = asyncio.create_task(fetcher.fetch(Request(url)))
                while not names.asked:
                    await asyncio.sleep(0)
                first.cancel()  # no public address answers here
                within_a_minute = asyncio.create_task(fetcher.fetch(Request(url)))
                await asyncio.sleep(0.01)
                assert names.asked == ["rebound.example"]
                within_a_minute.cancel()
                await asyncio.gather(first, within_a_minute, return_exceptions=True)
                clock.ahead = KEPT_SECONDS + 1
                return [await fetcher.fetch(Request(url))]

            results = await resolving(names, twice, NetworkPolicy(), clock)
            return results, server.connections, names.asked

    (result,), connections, asked = run(loop, main())
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.ADDRESS_REFUSED
    assert (connections, len(asked)) == (0, 2)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Unresolved("the host name does not exist"), "the host name does not exist"),
        (Unresolved("the name server could not answer"), "the name server could not answer"),
        ((), "the host name has no address"),
    ],
)
def test_a_name_without_addresses_is_worth_another_try(answer: Resolution, words: str, loop: Loop) -> None:
    names = Answers(answer, ("127.0.0.1",))
    (first, second), _ = run(loop, ask(names, ["flapping.example"] * 2)())
    assert isinstance(first, Trouble)
    assert (first.verdict.outcome, first.verdict.rule) == (Outcome.DNS_FAILED, words)
    assert Outcome.DNS_FAILED in TRANSIENT
    assert isinstance(second, Response)  # a failure is not remembered


def test_many_requests_for_one_name_ask_once_and_outlive_the_first(loop: Loop) -> None:
    names = Answers(("127.0.0.1",))

    async def main() -> list[Any]:
        async with serving(OK, keep_alive=True) as server:

            async def crowd(fetcher: HttpFetcher) -> list[Any]:
                url = server.url(host="busy.example")
                tasks = [asyncio.create_task(fetcher.fetch(Request(url))) for _ in range(10)]
                while not names.asked:
                    await asyncio.sleep(0)
                tasks[0].cancel()
                return await asyncio.gather(*tasks, return_exceptions=True)

            answers: list[Any] = await resolving(names, crowd)
            return answers

    first, *others = run(loop, main())
    assert isinstance(first, asyncio.CancelledError)
    assert all(isinstance(result, Response) for result in others)
    assert names.asked == ["busy.example"]


def test_closing_ends_a_lookup_that_is_under_way(loop: Loop) -> None:
    class Silent:
        asked = False

        async def addresses(self, host: str) -> Resolution:
            self.asked = True
            await asyncio.sleep(60)
            return ()

    async def main() -> Result:
        names = Silent()
        fetcher = HttpFetcher(FetchLimits(), LOOPBACK, SystemClock(), resolver=names)
        asked = asyncio.create_task(fetcher.fetch(Request("http://slow.example/")))
        while not names.asked:
            await asyncio.sleep(0)
        await fetcher.aclose()
        return await asked

    result = run(loop, main())
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.CONNECTION_LOST


def test_an_answer_from_somewhere_forbidden_is_dropped(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Should anything ever get past the checks before: whose answer it was is looked at once more."""
    monkeypatch.setattr("sumi.fetch.transfer.Transfer.peer", lambda _self: "169.254.169.254")
    (result,), connections = run(loop, ask(Answers(("127.0.0.1",)), ["some.example"])())
    assert connections == 1
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.ADDRESS_REFUSED


@pytest.mark.parametrize(
    ("raised", "words"),
    [
        (socket.gaierror(socket.EAI_NONAME, "x"), "the host name does not exist"),
        (socket.gaierror(socket.EAI_AGAIN, "x"), "the name server could not answer"),
        (socket.gaierror(-99, "x"), "the host name did not resolve"),
        (OSError(24, "too many files"), "the host name did not resolve"),
    ],
)
def test_what_the_system_says_of_a_name(
    raised: OSError, words: str, loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_args: Any, **_options: Any) -> Any:
        raise raised

    monkeypatch.setattr("socket.getaddrinfo", failing)
    assert run(loop, SystemResolver(5).addresses("some.example")) == Unresolved(words)


def test_a_silent_name_server_holds_up_neither_the_loop_nor_the_end(
    loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = threading.Event()

    def silent(host: bytes, *_args: Any, **_options: Any) -> Any:
        if host == b"slow.example":
            answered.wait(60)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]

    monkeypatch.setattr("socket.getaddrinfo", silent)

    async def main() -> tuple[Any, Any]:
        names = SystemResolver(0.2)
        slow = asyncio.create_task(names.addresses("slow.example"))
        await asyncio.sleep(0)
        quick = await names.addresses("quick.example")
        assert not slow.done()
        return quick, await slow

    try:
        quick, slow = run(loop, main())
    finally:
        answered.set()
    assert quick == ("127.0.0.1",)
    assert slow == Unresolved("the name server did not answer in time")


def test_names_without_an_answer_hold_up_no_other_name(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are: each gives up its place when its time is over."""
    answered = threading.Event()

    def look_up(host: bytes, *_args: Any, **_kwargs: Any) -> Sequence[Any]:
        if host.startswith(b"slow"):
            answered.wait(60)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]

    async def main() -> list[Resolution]:
        resolver = SystemResolver(0.2)
        slow = [asyncio.create_task(resolver.addresses(f"slow{number}.test")) for number in range(40)]
        await asyncio.sleep(0)
        quick = await resolver.addresses("quick.test")
        return [quick, *await asyncio.gather(*slow)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    try:
        quick, *slow = run(loop, main())
    finally:
        answered.set()
    assert quick == ("127.0.0.1",)
    assert slow == [Unresolved("the name server did not answer in time")] * 40
