"""What each host with work is waiting for: told to people, never asked by the crawl itself."""

from sumi.frontier.pacing import BUDGET_SPENT, GIVEN_UP
from sumi.ports import HostWait
from sumi.store.entries import State
from sumi.store.memory.settlements import Settlements


class Waits(Settlements):
    async def waiting_hosts(self, now: float) -> list[HostWait]:
        waiting = ((host, count - self._leased_of[host]) for host, count in self._open_of.items())
        retries = self._first_retries()
        return [
            self._wait_of(host, pending, now, retries.get(host, 0.0)) for host, pending in waiting if pending
        ]

    def _first_retries(self) -> dict[str, float]:
        """Of hosts that have nothing but delayed URLs: when the first of them may go."""
        first: dict[str, float] = {}
        for entry in map(self._entries.__getitem__, self._delayed.urls()):
            if entry.state is State.DELAYED and not self._queues.get(entry.host):
                first[entry.host] = min(entry.deadline, first.get(entry.host, entry.deadline))
        return first

    def _wait_of(self, host: str, pending: int, now: float, retry_at: float = 0.0) -> HostWait:
        pace = self._schedule.pace(host)
        if pace.over_budget(self._policy.pacing):
            why = BUDGET_SPENT
        elif pace.given_up(self._policy.pacing):
            return HostWait(host, pending, pace.in_flight, float("inf"), GIVEN_UP)
        elif pace.in_flight:
            why = "in flight"
        elif pace.hold_until > max(now, pace.next_at):
            why = pace.hold_why
        elif host in self._parked:
            why = "sitemaps first"
        else:
            why = "spacing"
        if retry_at > max(now, pace.next_at, pace.hold_until):
            return HostWait(host, pending, pace.in_flight, retry_at, "retry")
        return HostWait(host, pending, pace.in_flight, max(pace.next_at, pace.hold_until), why)
