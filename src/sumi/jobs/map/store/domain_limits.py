"""Limits per domain and run: the number of requests, and no more of them after a 429."""

from collections.abc import Iterable
from typing import Final

from sumi.frontier.pacing import INFINITY, SUSPENDED, is_server_hold
from sumi.jobs.map.store.rows import DomainRow, MapChange, MapRows, domain_of
from sumi.jobs.map.store.states import PageState
from sumi.outcomes import Outcome
from sumi.ports import Deferral, Settlement
from sumi.state.hosts import Hosts

# Seconds. If a host asked an earlier run for a longer pause, this run does not wait for it.
LONGEST_PAUSE: Final = 300.0


class DomainLimits:
    """Changes go into the given draft and are written with it."""

    def __init__(self, rows: MapRows, hosts: Hosts) -> None:
        self._rows = rows
        self._hosts = hosts
        self._carried: dict[str, int] = {}  # requests of this run before it was resumed
        self._suspended: set[str] = set()

    def load(self, open_hosts: Iterable[str], now: float, draft: MapChange) -> None:
        """A resumed run keeps its request counts, and does not ask domains again that answered 429."""
        for domain, requests, suspended in self._rows.domains():
            self._carried[domain] = requests
            if suspended:
                self._suspended.add(domain)
        hosts = list(open_hosts)
        self.apply_to(hosts)
        budget = self._hosts.policy.pacing.host_budget
        barred = {d: PageState.REQUEST_LIMIT_HIT for d, n in self._carried.items() if budget and n >= budget}
        self._rows.load_barred(barred | dict.fromkeys(self._suspended, PageState.RATE_LIMITED))
        for host in hosts:
            self._suspend_if_paused(host, now, draft)

    def apply_to(self, hosts: Iterable[str]) -> None:
        """Call it with hosts that have something to fetch."""
        if self._suspended or self._carried:
            for host in hosts:
                self._apply_to(host)

    def _apply_to(self, host: str) -> None:
        domain, pace = domain_of(host), self._hosts.pace(host)
        pace.budget_used = max(pace.budget_used, self._carried.get(domain, 0))
        if domain in self._suspended:
            pace.hold(INFINITY, SUSPENDED)
        self._hosts.offer(host)

    def count(self, unit: Settlement | Deferral, draft: MapChange) -> None:
        host, domain = unit.lease.host, domain_of(unit.lease.host)
        pace = self._hosts.pace(host)
        limited = isinstance(unit, Settlement) and unit.verdict.outcome is Outcome.RATE_LIMITED
        if limited and domain not in self._suspended:
            self._suspend(domain, host, draft)
        elif pace.over_budget(self._hosts.policy.pacing) and domain not in self._suspended:
            draft.barred.append((domain, PageState.REQUEST_LIMIT_HIT))
        draft.domains[domain] = DomainRow(domain, pace.budget_used, domain in self._suspended)

    def over_budget(self) -> set[str]:
        pacing = self._hosts.policy.pacing
        return {domain_of(host) for host, pace in self._hosts.schedule.paces() if pace.over_budget(pacing)}

    def _suspend(self, domain: str, host: str, draft: MapChange) -> None:
        self._suspended.add(domain)
        draft.barred.append((domain, PageState.RATE_LIMITED))
        self._hosts.hold(host, INFINITY, SUSPENDED)

    def _suspend_if_paused(self, host: str, now: float, draft: MapChange) -> None:
        pace, domain = self._hosts.pace(host), domain_of(host)
        if is_server_hold(pace.hold_why) and pace.hold_until > now + LONGEST_PAUSE:
            draft.domains[domain] = DomainRow(domain, pace.budget_used, True)
            if domain not in self._suspended:
                self._suspend(domain, host, draft)
