"""robots.txt: any bytes are read, any path is judged, and both in a number of steps that the sizes bound."""

import sys
from types import FrameType
from typing import Any

from fuzz.inputs import as_text
from sumi.robots import RobotsRules, parse_robots

_AGENTS = ("sumi", "*", "", "googlebot")
# Steps are calls, into Python or C. Reading takes some tens per line and deciding a few per rule; a line has
# at least one byte, so a product of the two sizes would show at once.
_STEPS_PER_BYTE = 100
_STEPS_AT_LEAST = 5000


class _Steps:
    """Counts the calls made inside a ``with`` block."""

    def __init__(self) -> None:
        self.taken = 0

    def __enter__(self) -> "_Steps":
        sys.setprofile(self._count)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _count(self, _frame: FrameType, event: str, _argument: Any) -> None:
        self.taken += event in ("call", "c_call")


def check(data: bytes) -> None:
    """The path that is asked for, a NUL, the file."""
    path, _, body = data.partition(b"\0")
    asked = as_text(path)
    with _Steps() as steps:
        file = parse_robots(body)
        rules = [file.rules_for(agent) for agent in _AGENTS]
        for each in rules:
            each.decide(asked)
    allowed = _STEPS_AT_LEAST + _STEPS_PER_BYTE * len(data)
    assert steps.taken <= allowed, (steps.taken, allowed)
    for each in rules:
        _check_rules(each, asked)
    for place in file.sitemaps:
        place.encode()


def _check_rules(rules: RobotsRules, path: str) -> None:
    decision = rules.decide(path)
    assert rules.decide(path) == decision
    assert rules.decide("/robots.txt").allowed
    assert decision.allowed or decision.rule.startswith("Disallow: ")
    assert decision.rule.isprintable()
    assert rules.crawl_delay is None or 0 <= rules.crawl_delay < float("inf")
