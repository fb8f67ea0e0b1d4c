"""Who holds which URL until when."""

import heapq

from sumi.model import Lease
from sumi.state.entries import LEASED, Entry

SPARE_DEADLINES = 1000  # of leases that have ended, before they are cleared away


class Leases:
    def __init__(self) -> None:
        self.held: dict[str, Entry] = {}  # by URL
        self.ids: set[int] = set()  # the discovery numbers of the same
        # What failed before: when its wait ended, which is where it belongs after a crash.
        self.due_before: dict[str, float] = {}
        self._deadlines: list[tuple[float, int, str]] = []
        self._last_token = 0

    def give(self, entry: Entry, deadline: float) -> Lease:
        if entry.behind:
            self.due_before[entry.candidate.url] = entry.deadline
        self._last_token += 1
        self._hold(entry, self._last_token, deadline)
        entry.holds_host = True
        return Lease(entry.candidate, entry.host, entry.token, deadline, entry.attempts)

    def held_by(self, lease: Lease) -> Entry | None:
        """The entry, if this lease still holds it."""
        entry = self.held.get(lease.candidate.url)
        return entry if entry is not None and entry.token == lease.token else None

    def renew(self, lease: Lease, deadline: float) -> bool:
        entry = self.held_by(lease)
        if entry is None:
            return False
        entry.deadline = deadline
        heapq.heappush(self._deadlines, (deadline, entry.token, lease.url))
        return True

    def end(self, entry: Entry) -> None:
        url = entry.candidate.url
        del self.held[url]
        self.ids.discard(entry.sequence)
        entry.token, entry.deadline = 0, 0.0
        if entry.behind:
            self.due_before.pop(url, None)
        self._forget_deadlines()

    def expired(self, now: float) -> list[Entry]:
        """Those whose time is over."""
        found: dict[str, Entry] = {}  # one that was renewed when it was given has its deadline twice
        while self._deadlines and self._deadlines[0][0] <= now:
            deadline, token, url = heapq.heappop(self._deadlines)
            entry = self.held.get(url)
            if entry is not None and entry.token == token and entry.deadline == deadline:
                found[url] = entry
        return list(found.values())

    def go_on_from(self, other: "Leases", entry_of: dict[str, Entry]) -> None:
        """Whoever held something there holds the same here."""
        self._last_token = other._last_token
        for url, held in other.held.items():
            entry = entry_of[url]
            self._hold(entry, held.token, held.deadline)
            entry.holds_host = held.holds_host

    def _hold(self, entry: Entry, token: int, deadline: float) -> None:
        url = entry.candidate.url
        entry.state, entry.token, entry.deadline = LEASED, token, deadline
        self.held[url] = entry
        self.ids.add(entry.sequence)
        heapq.heappush(self._deadlines, (deadline, token, url))

    def _forget_deadlines(self) -> None:
        """Of leases that have ended, which would otherwise stay until they are due."""
        if len(self._deadlines) > 2 * len(self.held) + SPARE_DEADLINES:
            self._deadlines = [(entry.deadline, entry.token, url) for url, entry in self.held.items()]
            heapq.heapify(self._deadlines)
