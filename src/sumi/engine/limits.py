"""The limits that a run obeys now: one object, read by every part at the moment that it needs a limit.

Nobody keeps a copy, so a reload holds everywhere at once.
"""

import msgspec

from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.recipe import Recipe


class Limits(msgspec.Struct, frozen=True):
    """What may change while a run goes on."""

    concurrency: int
    frontier: FrontierPolicy
    pages_per_base: int = 0


class LimitsInForce:
    def __init__(self, recipe: Recipe) -> None:
        frontier = FrontierPolicy(recipe.pacing, recipe.max_pages)
        self._now = Limits(recipe.concurrency, frontier, recipe.pages_per_base)

    def replace(self, limits: Limits) -> None:
        self._now = limits

    @property
    def concurrency(self) -> int:
        return self._now.concurrency

    @property
    def max_pages(self) -> int:
        return self._now.frontier.max_pages

    @property
    def pages_per_base(self) -> int:
        return self._now.pages_per_base

    @property
    def pacing(self) -> PacingPolicy:
        return self._now.frontier.pacing
