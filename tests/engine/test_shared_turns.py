"""Jobs on one machine share the pace of a host that has one, and hold the host while it is another's turn."""

import asyncio
from types import SimpleNamespace
from typing import Any

from sumi.engine.shared_turns import Claimed, SharedTurns
from sumi.frontier.pacing import BORROWED
from sumi.model import Request, Response, Timing

HOST, URL, NOW = "e.org", "https://e.org/", 1000.0


class Pace:
    """``wait``: what the next claim has to wait for."""

    def __init__(self, wait: float) -> None:
        self._wait = wait
        self.claims: list[tuple[str, float]] = []

    def claim(self, host: str, delay: float) -> float:
        self.claims.append((host, delay))
        return self._wait


class Frontier:
    def __init__(self) -> None:
        self.held: list[tuple[str, float, str]] = []

    async def hold_host(self, host: str, until: float, why: str) -> None:
        self.held.append((host, until, why))


def claim(delay: float, pace: Pace | None) -> tuple[Claimed | float, Frontier]:
    frontier = Frontier()
    clock = SimpleNamespace(now=lambda: NOW)
    io: Any = SimpleNamespace(pace=pace, per_address=0, address_of=None, frontier=frontier, clock=clock)
    return asyncio.run(SharedTurns(io, lambda _host: delay).claim(HOST, URL)), frontier


def test_a_host_without_a_delay_is_not_shared() -> None:
    pace = Pace(wait=0.0)
    assert claim(0.0, pace)[0] == claim(1.0, None)[0] == Claimed(HOST)
    assert pace.claims == []


def test_the_turn_of_another_job_holds_the_host() -> None:
    free, taken = Pace(wait=0.0), Pace(wait=2.0)
    assert claim(1.0, free)[0] == Claimed(HOST, is_shared=True)
    until, frontier = claim(1.0, taken)
    assert until == NOW + 2.0
    assert frontier.held == [(HOST, NOW + 2.0, BORROWED)]
    assert free.claims == taken.claims == [(HOST, 1.0)]


def test_a_pause_that_a_host_asks_for_is_told_to_the_other_jobs() -> None:
    told: list[tuple[str, float, float]] = []
    asked = Response(URL, 503, (("retry-after", "120"),), b"", Timing(NOW, NOW, NOW))

    async def answer(_request: Request) -> Response:
        return asked

    pace = SimpleNamespace(answered=lambda host, seconds, ago: told.append((host, seconds, ago)))
    clock, fetcher = SimpleNamespace(now=lambda: NOW), SimpleNamespace(fetch=answer)
    io: Any = SimpleNamespace(pace=pace, per_address=0, address_of=None, fetcher=fetcher, clock=clock)
    turns = SharedTurns(io, lambda _host: 1.0)
    assert asyncio.run(turns.fetch(Claimed(HOST, is_shared=True), Request(URL))) is asked
    assert told == [(HOST, 120.0, 0.0)]
