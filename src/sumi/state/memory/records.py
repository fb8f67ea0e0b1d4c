"""What became of every URL, and the small things that a job remembers."""

from collections.abc import AsyncIterator, Iterable

from sumi.model import PageFacts
from sumi.outcomes import Outcome
from sumi.policy import FrontierPolicy
from sumi.ports import Attempt, RobotsRecord, UrlRecord
from sumi.state.entries import Entry
from sumi.state.memory.waits import Waits

NO_FACTS = PageFacts()


class Records(Waits):
    def __init__(self, policy: FrontierPolicy, opened_at: float) -> None:
        super().__init__(policy, opened_at)
        self._robots: dict[str, RobotsRecord] = {}
        self._notes: dict[str, str] = {}

    async def records(self, outcomes: Iterable[Outcome] | None = None) -> AsyncIterator[UrlRecord]:
        wanted = None if outcomes is None else frozenset(outcomes)
        for entry in list(self._entries.values()):
            if wanted is None or _outcome_of(entry) in wanted:
                yield self._record_of(entry)

    async def waiting_again(self) -> AsyncIterator[UrlRecord]:
        for entry in list(self._entries.values()):
            if entry.verdict is None and entry.facts is not None:
                record = self._record_of(entry)
                if record.facts != NO_FACTS:
                    yield record

    async def record(self, url: str) -> UrlRecord | None:
        entry = self._entries.get(url)
        return None if entry is None else self._record_of(entry)

    async def history(self, url: str) -> list[Attempt]:
        return list(self._history.get(url, ()))

    async def get_robots(self, origin: str) -> RobotsRecord | None:
        return self._robots.get(origin)

    async def put_robots(self, record: RobotsRecord) -> None:
        self._robots[record.origin] = record

    async def get_note(self, key: str) -> str | None:
        return self._notes.get(key)

    async def put_note(self, key: str, value: str) -> None:
        self._notes[key] = value

    def _record_of(self, entry: Entry) -> UrlRecord:
        candidate = entry.candidate
        return UrlRecord(
            url=candidate.url,
            hop=candidate.hop,
            kind=candidate.kind,
            depth=candidate.depth,
            referrer=candidate.referrer,
            outcome=_outcome_of(entry),
            rule=entry.verdict.rule if entry.verdict else "",
            at=entry.at,
            attempts=entry.attempts,
            facts=self._facts_of(entry),
            address=candidate.address,
        )

    def _facts_of(self, entry: Entry) -> PageFacts:
        return entry.facts if isinstance(entry.facts, PageFacts) else NO_FACTS


def _outcome_of(entry: Entry) -> Outcome:
    return entry.verdict.outcome if entry.verdict else Outcome.PENDING
