"""A request that is broken off because its host may have another owner counts as one that the host has seen:
the pause to the next one begins when it was broken off. One that was never made counts as none."""

import asyncio
import time
from typing import Any

import pytest

from sumi.assembly.own_hosts import OwnFetcher
from sumi.engine.io import SystemClock
from sumi.model import Request
from sumi.outcomes import Outcome, Trouble


class Silent:
    """A host that sees a request and does not answer."""

    def __init__(self, team: "Lasting") -> None:
        self._team = team

    async def fetch(self, _request: Request) -> Any:
        self._team.left = 0.0
        await asyncio.Event().wait()

    async def aclose(self) -> None:
        """Nothing is open."""


class Lasting:
    """Implements ``sumi.ports.Team`` and its session, as far as it is asked here."""

    def __init__(self, left: float) -> None:
        self.left = left
        self.session: Any = self

    def seconds_left(self) -> float:
        return self.left

    def may_ask(self, _host: str) -> bool:
        return True


@pytest.mark.parametrize(("left", "is_asked"), [(0.01, True), (0.0, False)])
def test_only_what_was_asked_delays_the_next_request(left: float, is_asked: bool) -> None:
    team: Any = Lasting(left)
    fetcher = OwnFetcher(Silent(team), team, SystemClock())

    async def ask() -> Any:
        return await fetcher.fetch(Request("https://a.test/"))

    began = time.time()
    answer = asyncio.run(ask())
    assert isinstance(answer, Trouble)
    assert answer.verdict.outcome is Outcome.TIMED_OUT
    assert (answer.timing.reached >= began) is is_asked
