"""What is known, and what a finding changes about it."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from sys import intern

import msgspec

from sumi.model import Candidate, Hop, Kind
from sumi.outcomes import Outcome
from sumi.policy import FrontierPolicy
from sumi.ports import Judged
from sumi.state.entries import Entry, State
from sumi.urls import host_key


class Discovery(ABC):
    def __init__(self, policy: FrontierPolicy) -> None:
        self._policy = policy
        self._entries: dict[str, Entry] = {}
        self._outcomes: Counter[Outcome] = Counter()
        self._open: Counter[Kind] = Counter()  # waiting, delayed or leased
        self._open_of: Counter[str] = Counter()  # the same by host
        self._listed = 0
        self._sitemaps_of: Counter[str] = Counter()  # open ones, by the host whose pages wait for them

    async def add(self, judged: Sequence[Judged]) -> list[bool]:
        return [self._admit(item) for item in judged]

    async def unseen(self, urls: Sequence[str], depth: int, hop: Hop) -> list[str]:
        known, settled = self._entries.get, State.SETTLED
        fresh = []
        for url in urls:  # nearly all of them are known, and most of those settled
            entry = known(url)
            if entry is None or (entry.state is not settled and entry.could_change(depth, hop)):
                fresh.append(url)
        return fresh

    def _admit(self, item: Judged) -> bool:
        entry = self._entries.get(item.candidate.url)
        if entry is None:
            self._register(item)
            return True
        if item.refusal is not None:
            return False
        if entry.state is State.REFUSED:
            self._lift(entry, item.candidate)
            return True
        if entry.could_change(item.candidate.depth, item.candidate.hop):
            self._shorten(entry, item.candidate)
            return True
        return False

    def _register(self, item: Judged) -> None:
        url = item.candidate.url
        entry = Entry(item.candidate, intern(host_key(url)), len(self._entries))
        self._entries[url] = entry
        if item.refusal is not None:
            entry.state, entry.verdict = State.REFUSED, item.refusal
            self._outcomes[item.refusal.outcome] += 1
            return
        self._open_entry(entry)

    def _lift(self, entry: Entry, candidate: Candidate) -> None:
        assert entry.verdict is not None
        self._outcomes[entry.verdict.outcome] -= 1
        entry.verdict = None
        entry.candidate = candidate
        self._open_entry(entry)

    def _open_entry(self, entry: Entry) -> None:
        entry.behind = is_foreign_sitemap(entry.candidate, entry.host)
        self._count_open(entry)
        self._enqueue(entry)

    def _count_open(self, entry: Entry) -> None:
        candidate = entry.candidate
        self._open[candidate.kind] += 1
        self._open_of[entry.host] += 1
        if candidate.hop is Hop.MANIFEST and candidate.kind is Kind.PAGE:
            self._listed += 1
        if candidate.kind is Kind.SITEMAP:
            self._count_sitemap(entry, 1)

    def _count_sitemap(self, entry: Entry, change: int) -> None:
        """Pages wait for the sitemaps of their own host, if that host named them: nobody else can make them
        wait."""
        if not is_foreign_sitemap(entry.candidate, entry.host):
            self._sitemaps_of[entry.host] += change
            if not self._sitemaps_of[entry.host]:
                del self._sitemaps_of[entry.host]
                self._unpark(entry.host)

    def _shorten(self, entry: Entry, candidate: Candidate) -> None:
        """A shorter way was found: the depth drops, and with it the place in the queue. What was taken for a
        sitemap stays one: the counts by kind were made when it entered. It is asked for as it was first
        written."""
        known = entry.candidate
        is_sitemap = known.kind is Kind.SITEMAP
        if is_sitemap:
            self._count_sitemap(entry, -1)
        entry.candidate = msgspec.structs.replace(candidate, kind=known.kind, address=known.address)
        if is_sitemap:
            self._count_sitemap(entry, 1)
        if entry.state is State.WAITING:
            self._enqueue(entry)  # its former place is recognised as stale by its rank

    @abstractmethod
    def _enqueue(self, entry: Entry) -> None:
        """It takes its place among what waits of its host."""

    @abstractmethod
    def _unpark(self, host: str) -> None:
        """Its pages need not wait any longer."""


def is_foreign_sitemap(candidate: Candidate, host: str) -> bool:
    """A sitemap that another host named: that one must not hold up this one's pages with it."""
    if candidate.kind is not Kind.SITEMAP or candidate.referrer is None:
        return False
    return host_key(candidate.referrer) != host
