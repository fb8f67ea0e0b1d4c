"""The whole store, and how its content is carried into another one."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from sys import intern

import msgspec

from sumi.frontier.pacing import is_our_own
from sumi.model import PageFacts
from sumi.ports import (
    Attempt,
    RobotsRecord,
    Stored,
    StoredHost,
    StoredListing,
    StoredNote,
    StoredUrl,
)
from sumi.state.entries import Entry, State
from sumi.state.memory.records import Records
from sumi.urls import host_key


class MemoryStore(Records):
    async def sync(self, outputs: Callable[[], Awaitable[None]]) -> None:
        """Nothing here survives anything."""
        await outputs()

    async def aclose(self) -> None:
        """Nothing to release."""

    async def export(self) -> AsyncIterator[Stored]:
        for key, value in self._notes.items():
            yield StoredNote(key, value)
        for robots in self._robots.values():
            yield robots
        for host, pace in self._schedule.paces():
            yield StoredHost(host, pace.crawl_delay, pace.hold_until, pace.hold_why)
        histories = self._histories()
        for entry in list(self._entries.values()):
            yield self._stored(entry, histories.get(entry.candidate.url, ()))
        yield StoredListing(self._listed)

    async def restore(self, items: Sequence[Stored]) -> None:
        for item in items:
            self._take_over(item)

    def _histories(self) -> Mapping[str, Sequence[Attempt]]:
        return self._history

    def _stored(self, entry: Entry, history: Sequence[Attempt]) -> StoredUrl:
        return StoredUrl(
            candidate=entry.candidate,
            refused=entry.state is State.REFUSED,
            verdict=entry.verdict,
            at=entry.at,
            attempts=entry.attempts,
            not_before=self._waits_until(entry),
            behind=entry.behind and entry.verdict is None,
            facts=self._facts_of(entry),
            history=tuple(history),
        )

    def _waits_until(self, entry: Entry) -> float:
        if entry.state in (State.DELAYED, State.BEHIND):
            return entry.deadline
        return self._due_before.get(entry.candidate.url, 0.0)

    def _take_over(self, item: Stored) -> None:
        match item:
            case StoredNote():
                self._notes[item.key] = item.value
            case RobotsRecord():
                self._robots[item.origin] = item
            case StoredHost():
                self._recall_host(item)
            case StoredUrl():
                self._history[item.candidate.url] = list(item.history)
                self._restore_url(item, item.facts)
            case StoredListing():
                self._listed = item.pages

    def _recall_host(self, stored: StoredHost) -> None:
        """Counted from now at the latest: a wall clock set back since makes nobody wait for ever."""
        pace, opened_at = self._schedule.pace(stored.host), self._schedule.opened_at
        pace.crawl_delay = stored.crawl_delay
        pace.next_at = max(pace.next_at, opened_at + stored.crawl_delay)
        if not is_our_own(stored.hold_why):
            pace.hold(min(stored.hold_until, opened_at + self._policy.pacing.max_hold), stored.hold_why)

    def _restore_url(self, stored: StoredUrl, facts: PageFacts | int) -> None:
        candidate, verdict = stored.candidate, stored.verdict
        if stored.address:
            candidate = msgspec.structs.replace(candidate, address=stored.address)
        entry = Entry(candidate, intern(host_key(candidate.url)), len(self._entries))
        entry.attempts, entry.at, entry.facts = stored.attempts, stored.at, facts
        entry.behind = stored.behind or (stored.attempts > 0 and verdict is None)
        self._entries[candidate.url] = entry
        if stored.refused and verdict is not None:
            entry.state, entry.verdict = State.REFUSED, verdict
            self._outcomes[verdict.outcome] += 1
            return
        self._count_open(entry)
        if verdict is not None:
            self._finish(entry, verdict, stored.at or 0.0, facts)
        elif stored.not_before:
            self._delay(entry, stored.not_before)
        else:
            self._enqueue(entry)
