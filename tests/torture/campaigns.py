"""Campaigns: one kind of trouble at moments of chance, over and over. A try is a seed, which repeats it."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sumi.fetch.browser.rendering import installed_browser
from tests.torture import beside, browser_kills, stalls, workers


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
)
