"""The limits in force, and the quota of pages of each base URL.

Every part reads a limit when it needs it and keeps no copy, so a reload takes effect everywhere at once.
"""

import asyncio
from collections import Counter

import msgspec

from sumi.engine.visit import Visit
from sumi.model import Candidate, Kind
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.recipe import Recipe


class Limits(msgspec.Struct, frozen=True):
    """What may change during a run."""

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


class BaseQuota:
    """The quota of pages of each base URL: pages kept and pages in flight together never exceed it.

    A page takes a place before it is fetched and gives it back if it is not kept: a duplicate, a failure,
    another turn. If every place is taken, a page waits until one of them is decided. With a single base the
    frontier's own limit suffices.
    """

    def __init__(self, recipe: Recipe, limits: LimitsInForce) -> None:
        self._bases = recipe.scope.bases
        self._limits = limits
        self._charged = recipe.scope.base_urls.charged
        self._kept: Counter[int] = Counter()
        self._in_flight: Counter[int] = Counter()
        self._decided: dict[int, asyncio.Event] = {}

    @property
    def _limit(self) -> int:
        return self._limits.pages_per_base if len(self._bases) > 1 else 0

    def restore(self, url: str) -> None:
        """An earlier run kept this page."""
        if len(self._bases) > 1:
            self._kept[self._charged(url)] += 1

    def refusal(self, candidate: Candidate) -> Verdict | None:
        """A refusal if the page's base has all its pages."""
        if not self._limit or candidate.kind is not Kind.PAGE:
            return None
        base = self._charged(candidate.url, candidate.referrer)
        if self._kept[base] < self._limit:
            return None
        return Verdict(Outcome.OVER_CAP, f"{self._bases[base]} has its {self._limit:,} pages")

    def claim(self, visit: Visit) -> bool:
        """Take a place for a page that is about to be fetched; False: all are taken by pages in flight."""
        if len(self._bases) < 2 or visit.candidate.kind is not Kind.PAGE:
            return True
        base = self._charged(visit.url, visit.candidate.referrer)
        if self._limit and self._kept[base] + self._in_flight[base] >= self._limit:
            return False
        visit.base = base
        self._in_flight[base] += 1
        return True

    async def wait(self, candidate: Candidate) -> None:
        """Until another page of the same base is settled."""
        base = self._charged(candidate.url)
        if self._in_flight[base]:
            await self._decided.setdefault(base, asyncio.Event()).wait()

    def settled(self, visit: Visit, *, kept: bool) -> None:
        base, visit.base = visit.base, None
        if base is None:
            return
        self._in_flight[base] -= 1
        self._kept[base] += kept
        decided = self._decided.pop(base, None)
        if decided is not None:
            decided.set()
