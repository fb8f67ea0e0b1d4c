"""What each host with work is waiting for: told to people, never asked by the crawl itself."""

from collections.abc import Iterable
from itertools import chain

from sumi.frontier.pacing import BUDGET_SPENT, GIVEN_UP, INFINITY
from sumi.ports import HostWait
from sumi.state.entries import State
from sumi.state.memory.settlements import Settlements


class Waits(Settlements):
    async def waiting_hosts(self, now: float) -> list[HostWait]:
        waiting = ((host, count - self._leased_of[host]) for host, count in self._open_of.items())
        delayed = self._first_delays()
        return [
            self._wait_of(host, pending, now, delayed.get(host, 0.0)) for host, pending in waiting if pending
        ]

    async def wait_of(self, host: str, now: float) -> HostWait | None:
        pending = self._open_of[host] - self._leased_of[host]
        due = 0.0 if self._has_unasked(host) else self._first_behind(host)
        return self._wait_of(host, pending, now, due if due < INFINITY else 0.0) if pending else None

    def _first_behind(self, host: str) -> float:
        return min(self._retries.first_due(host, is_page) for is_page in (False, True))

    def _first_delays(self) -> dict[str, float]:
        """Of hosts that have nothing but delayed URLs: when the first of them may go."""
        first: dict[str, float] = {}
        behind = ((host, self._first_behind(host)) for host in self._retries.hosts())
        for host, due in chain(self._delayed_hosts(), behind):
            if not self._has_unasked(host):
                first[host] = min(due, first.get(host, due))
        return first

    def _delayed_hosts(self) -> Iterable[tuple[str, float]]:
        entries = map(self._entries.__getitem__, self._delayed.urls())
        return [(entry.host, entry.deadline) for entry in entries if entry.state is State.DELAYED]

    def _wait_of(self, host: str, pending: int, now: float, retry_at: float = 0.0) -> HostWait:
        pace, pacing = self._schedule.pace(host), self._policy.pacing
        unasked_left = self._has_unasked(host)
        until, held = pace.wait(pacing, unasked_left=unasked_left)
        if pace.over_budget(pacing):
            return HostWait(host, pending, pace.in_flight, max(pace.next_at, until), BUDGET_SPENT)
        if unasked_left and pace.given_up(pacing):
            return HostWait(host, pending, pace.in_flight, INFINITY, GIVEN_UP)
        if pace.in_flight:
            why = "in flight"
        elif until > max(now, pace.next_at):
            why = held
        elif host in self._parked:
            why = "sitemaps first"
        else:
            why = "spacing"
        if retry_at > max(now, pace.next_at, until):
            return HostWait(host, pending, pace.in_flight, retry_at, "retry")
        return HostWait(host, pending, pace.in_flight, max(pace.next_at, until), why)
