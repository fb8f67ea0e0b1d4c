"""How many pages each base URL may still have: kept ones and those in flight together never exceed its limit.

A page takes a place before it is fetched, and gives it back if nothing new comes of it: a duplicate, a
failure, another turn. Whoever finds every place taken waits until one of them is decided. With a single base
there is nothing to share: the frontier's own limit holds.
"""

import asyncio
from collections import Counter

from sumi.engine.limits import LimitsInForce
from sumi.model import Candidate, Kind
from sumi.outcomes import Outcome, Verdict
from sumi.recipe import Recipe


class Places:
    def __init__(self, recipe: Recipe, limits: LimitsInForce) -> None:
        self._bases = recipe.scope.bases
        self._limits = limits
        self._charged = recipe.scope.base_urls.charged
        self._kept: Counter[int] = Counter()
        self._holders: dict[str, int] = {}  # URLs in flight, with the base that they count for
        self._in_flight: Counter[int] = Counter()
        self._decided: dict[int, asyncio.Event] = {}

    @property
    def _limit(self) -> int:
        return self._limits.pages_per_base if len(self._bases) > 1 else 0

    def recall(self, url: str) -> None:
        """An earlier run kept this page."""
        if len(self._bases) > 1:
            self._kept[self._charged(url)] += 1

    def refusal(self, candidate: Candidate) -> Verdict | None:
        """Where a base has all its pages, nothing more of it is wanted."""
        if not self._limit or candidate.kind is not Kind.PAGE:
            return None
        base = self._charged(candidate.url)
        if self._kept[base] < self._limit:
            return None
        return Verdict(Outcome.OVER_CAP, f"{self._bases[base]} has its {self._limit:,} pages")

    def claim(self, candidate: Candidate) -> bool:
        """Take a place for a page that is about to be fetched; False: all are taken, by pages whose end is
        not known yet."""
        if len(self._bases) < 2 or candidate.kind is not Kind.PAGE:
            return True
        base = self._charged(candidate.url)
        if self._limit and self._kept[base] + self._in_flight[base] >= self._limit:
            return False
        self._holders[candidate.url] = base
        self._in_flight[base] += 1
        return True

    async def wait(self, candidate: Candidate) -> None:
        """Until another page of the same base has met its end."""
        base = self._charged(candidate.url)
        if self._in_flight[base]:
            await self._decided.setdefault(base, asyncio.Event()).wait()

    def settled(self, url: str, *, kept: bool) -> None:
        base = self._holders.pop(url, None)
        if base is None:
            return
        self._in_flight[base] -= 1
        self._kept[base] += kept
        decided = self._decided.pop(base, None)
        if decided is not None:
            decided.set()
