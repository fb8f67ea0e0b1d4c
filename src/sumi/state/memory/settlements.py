"""How a lease ends: with an outcome, or back in the queue; and what is counted by it."""

from collections.abc import Mapping, Sequence

from sumi.model import Candidate, PageFacts
from sumi.outcomes import KEPT, Ending, Verdict
from sumi.policy import FrontierPolicy
from sumi.ports import Attempt, Deferral, FrontierStats, Judged, Settlement
from sumi.state.entries import DELAYED, SETTLED, Entry
from sumi.state.memory.leases import PAGE, SITEMAP, Leases

# What takes a place under max_pages.
MOST_VERDICTS = 256


class Settlements(Leases):
    def __init__(self, policy: FrontierPolicy, opened_at: float) -> None:
        super().__init__(policy, opened_at)
        self._history: dict[str, list[Attempt]] = {}
        self._verdicts: dict[Verdict, Verdict] = {}

    async def settle(self, units: Sequence[Settlement | Deferral]) -> list[bool]:
        return [self._apply(unit) is not None for unit in units]

    def _apply(self, unit: Settlement | Deferral) -> list[Judged] | None:
        """Apply one unit; the findings that were news, or None for a stale lease."""
        entry = self._held(unit.lease)
        if entry is None:
            return None
        self._end_lease(entry)
        self._remember(unit)
        if isinstance(unit, Settlement):
            self._finish(entry, unit.verdict, unit.at, unit.facts)
        else:
            self._put_back(entry, unit.why is not None, unit.not_before, unit.address, unit.redirected)
        return [item for item in unit.found if self._admit(item)] if unit.found else []

    def _remember(self, unit: Settlement | Deferral) -> None:
        verdict = unit.verdict if isinstance(unit, Settlement) else unit.why
        if verdict is not None:
            attempt = Attempt(unit.at, verdict.outcome, verdict.rule)
            self._history.setdefault(unit.lease.url, []).append(attempt)

    def _finish(self, entry: Entry, verdict: Verdict, at: float, facts: PageFacts | int) -> None:
        entry.state, entry.at, entry.facts = SETTLED, at, facts
        entry.verdict = self._shared(verdict)
        self._outcomes[verdict.outcome] += 1
        self._captured += self._counts(entry, verdict)
        self._close_entry(entry)

    def _shared(self, verdict: Verdict) -> Verdict:
        """Most pages end alike, and are kept in memory."""
        if len(self._verdicts) < MOST_VERDICTS:
            return self._verdicts.setdefault(verdict, verdict)
        return self._verdicts.get(verdict, verdict)

    def _close_entry(self, entry: Entry) -> None:
        kind = entry.candidate.kind
        self._open[kind] -= 1
        self._open_of[entry.host] -= 1
        if kind is SITEMAP:
            self._count_sitemap(entry, -1)

    def _put_back(
        self, entry: Entry, failed: bool, not_before: float, address: str, redirected: bool
    ) -> None:
        entry.attempts += failed
        entry.behind = entry.behind or failed
        if address or redirected:
            entry.candidate = _moved(entry.candidate, address, redirected)
        self._delay(entry, not_before)

    def _delay(self, entry: Entry, not_before: float) -> None:
        if entry.behind:
            self._put_behind(entry, not_before)
        else:
            entry.state, entry.deadline = DELAYED, not_before
            self._delayed.put(entry.candidate.url, not_before)

    async def requeue(self, urls: Sequence[str], at: float) -> int:
        return sum(self._requeue(url) for url in urls)

    def _requeue(self, url: str) -> bool:
        entry = self._entries.get(url)
        if entry is None or entry.state is not SETTLED or entry.verdict is None:
            return False
        self._outcomes[entry.verdict.outcome] -= 1
        self._captured -= self._counts(entry, entry.verdict)
        # A page that failed in an earlier run, or in this one, is not one that was never asked.
        entry.behind = entry.verdict.ending is Ending.FAILED
        entry.verdict, entry.attempts = None, 0
        self._open[entry.candidate.kind] += 1
        self._open_of[entry.host] += 1
        if entry.candidate.kind is SITEMAP:
            self._count_sitemap(entry, 1)
        self._enqueue(entry)
        return True

    async def amend(self, facts: Mapping[str, PageFacts]) -> None:
        for url, new in facts.items():
            entry = self._entries.get(url)
            if entry is not None and entry.state is SETTLED:
                entry.facts = new

    @staticmethod
    def _counts(entry: Entry, verdict: Verdict) -> bool:
        return verdict.outcome in KEPT and entry.candidate.kind is PAGE

    async def stats(self) -> FrontierStats:
        return FrontierStats(
            known=len(self._entries),
            pending=self._open.total(),
            leased=self._leased.total(),
            outcomes={outcome: n for outcome, n in self._outcomes.items() if n},
            listed=self._listed,
            captured=self._captured,
            pending_pages=self._open[PAGE],
        )


def _moved(c: Candidate, address: str, redirected: bool) -> Candidate:
    address = c.address if not address else "" if address == c.url else address
    return Candidate(c.url, c.hop, c.kind, c.depth, c.referrer, c.score, c.redirects + redirected, address)
