"""Redirects of robots.txt: followed one turn at a time, and to another host only after that host had a rest.

The turn that is spent belongs to the site whose robots.txt it is. If the redirect leads to another host, that
host is held, and is asked once it was left alone for as long as its own requests are apart.
"""

from collections import Counter
from collections.abc import Callable

import msgspec

from sumi.ports import Frontier
from sumi.urls import host_key

WHY = "uses the robots.txt of another host"
# How long an answer may take with the other host still sure to be left alone. A hold cannot be taken back,
# so this is a compromise: nearly all answers come sooner, and the host is not idle for long if they do.
ANSWER_SECONDS = 10.0
# Two hosts whose robots.txt lead to each other wait for each other. After this, as long as any exchange may
# take, one goes ahead.
PATIENCE_SECONDS = 120.0
LONGEST_WINDOW = 2**6  # delays


class HostsInUse:
    """Which hosts are being asked right now. For requests outside of a host's own turns."""

    def __init__(self) -> None:
        self._busy: Counter[str] = Counter()
        self._idle_since: dict[str, float] = {}  # only of hosts that were asked about

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


class _Trail(msgspec.Struct):
    urls: list[str]
    window: int = 1  # delays for which the other host is kept free for the last of them
    waiting_since: float | None = None


class RobotsRedirects:
    def __init__(self, frontier: Frontier, in_use: HostsInUse, delay_of: Callable[[str], float]) -> None:
        self._frontier = frontier
        self._in_use = in_use
        self._delay_of = delay_of
        self._trails: dict[str, _Trail] = {}

    def current(self, site: str) -> str:
        """Where the site's robots.txt is, as far as is known."""
        return self._trail(site).urls[-1]

    def follow(self, site: str, target: str | None, limit: int) -> bool:
        """False if this way leads nowhere: malformed, in a circle, or too long."""
        urls = self._trail(site).urls
        if target is None or target in urls or len(urls) > limit:
            return False
        self._trails[site] = _Trail([*urls, target])
        return True

    def forget(self, site: str) -> None:
        self._trails.pop(site, None)

    async def wait_for(self, site: str, own: str, now: float) -> float | None:
        """None if the current place may be asked now, which must happen then; else when to come back. ``own``
        is the host whose turn is spent: where a page is known without its ``www.``, not that of the site."""
        host = self._other_host(site, own)
        if host is None:
            return None
        delay = self._delay_of(host)
        since = self._in_use.idle_since(host, now)
        opens = (now if since is None else since) + delay
        if (since is None or now < opens) and self._is_patient(site, now):
            await self._hold_both(site, own, host, opens, delay)
            return opens
        self._in_use.enter(host)
        await self._frontier.hold_host(host, now + delay + ANSWER_SECONDS, WHY)
        return None

    async def asked(self, site: str, own: str, reached: float, now: float) -> None:
        """The current place was asked; another host is left alone from then on as after any request."""
        host = self._other_host(site, own)
        if host is not None:
            self._in_use.leave(host, now)
            await self._frontier.hold_host(host, reached + self._delay_of(host), WHY)

    async def _hold_both(self, site: str, own: str, host: str, opens: float, delay: float) -> None:
        """Nobody else takes the moment; a window that was missed is longer the next time."""
        trail = self._trail(site)
        await self._frontier.hold_host(host, opens + delay * trail.window, WHY)
        trail.window = min(2 * trail.window, LONGEST_WINDOW)
        await self._frontier.hold_host(own, opens, "has its robots.txt on another host")

    def _is_patient(self, site: str, now: float) -> bool:
        trail = self._trail(site)
        if trail.waiting_since is None:
            trail.waiting_since = now
        return now - trail.waiting_since < PATIENCE_SECONDS

    def _other_host(self, site: str, own: str) -> str | None:
        host = host_key(self.current(site))
        return None if host in (own, host_key(site)) else host

    def _trail(self, site: str) -> _Trail:
        return self._trails.setdefault(site, _Trail([f"{site}/robots.txt"]))
