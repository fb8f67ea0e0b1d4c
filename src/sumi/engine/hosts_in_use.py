"""Which hosts are being asked right now. For requests that are nobody's turn: see ``robots_hops``."""

from collections import Counter


class HostsInUse:
    def __init__(self) -> None:
        self._busy: Counter[str] = Counter()
        self._idle_since: dict[str, float] = {}  # only of hosts that somebody asked about

    def enter(self, host: str) -> None:
        self._busy[host] += 1

    def leave(self, host: str, now: float) -> None:
        self._busy[host] -= 1
        if not self._busy[host]:
            del self._busy[host]
        if host in self._idle_since:
            self._idle_since[host] = now

    def idle_since(self, host: str, now: float) -> float | None:
        """None while it is in use. What was before the first question is not known: then it is now."""
        since = self._idle_since.setdefault(host, now)
        return None if host in self._busy else since
