"""Campaigns: one kind of trouble at moments of chance, over and over. A try is a seed, which repeats it."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sumi.fetch.browser.rendering import installed_browser
from tests.torture import beside, browser_kills, crews, stalls, workers


class Campaign(NamedTuple):
    name: str
    attempt: Callable[[Path, int], list[str]]  # a folder that is not there yet, and a seed: what was violated
    why_not: Callable[[], str] = lambda: ""  # a reason to leave it out here


def _why_no_browser() -> str:
    return "" if installed_browser() else "no Chromium is installed"


CAMPAIGNS = (
    Campaign("browsers killed", browser_kills.attempt, _why_no_browser),
    Campaign("fresh starts", beside.fresh_beside),
    Campaign("second commands", beside.second_commands),
    Campaign("hosts that stall", stalls.attempt),
    Campaign("workers in trouble", workers.attempt, workers.why_not),
    Campaign("workers killed", crews.killed, workers.why_not),
    Campaign("workers killed below a limit", crews.killed_below_a_limit, workers.why_not),
    Campaign("workers and the specification", crews.outcomes, workers.why_not),
    Campaign("links that go round", crews.rings, workers.why_not),
    Campaign("letters that cross", crews.letters, workers.why_not),
    Campaign("copies killed", crews.copies, workers.why_not),
)
