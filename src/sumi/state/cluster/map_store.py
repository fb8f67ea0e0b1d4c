"""Frontier and Ledger of one worker of a map.

A page's depth is the least number of links to it, in whatever order pages are read. So links are stored
with their page. When a shorter way to a page is found that was read already, its owner mails that to itself,
in the transaction in which it was found: once the page's links are read again from the database, its depth
drops and the pages come nearer that it links to, all in the transaction that removes the letter.

Requests are counted for each host and run, and a host that answered 429 is not asked again, whoever owns it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from sumi.frontier.pacing import GIVEN_UP, INFINITY, SUSPENDED
from sumi.model import Candidate, Hop, Lease
from sumi.outcomes import Outcome
from sumi.ports import Deferral, HostWait, Judged, Settlement
from sumi.state.cluster.batch import pack_links
from sumi.state.cluster.keys import bucket_of, key_of
from sumi.state.cluster.rows import Letter
from sumi.state.cluster.store import ClusterStore
from sumi.state.entries import REFUSED, SETTLED, WAITING, Entry
from sumi.urls import host_key


class ClusterMapStore(ClusterStore):
    def __init__(
        self, *arguments: Any, is_home: Callable[[str], bool], max_depth: int, **options: Any
    ) -> None:
        """``is_home``: whether a URL is on a domain whose pages are all at depth 0."""
        super().__init__(*arguments, **options)
        self._is_home = is_home
        self._max_depth = max_depth
        self._promised: dict[str, int] = {}  # depths of pages that were read, in letters to ourselves
        self.final_waits: list[HostWait] | None = None  # of the whole job, when it is over

    def lose(self, why: object = "no answer") -> None:
        self._promised.clear()
        super().lose(why)

    # ── Frontier ───────────────────────────────────────────────────────────────────────────────────────

    async def unseen(self, urls: Sequence[str], depth: int, hop: Hop) -> list[str]:
        """Settlements lower depths by their links, so only URLs that are not known at all need the gate."""
        entries, takes = self.holdings.machine.entries, self.holdings.takes
        return [
            url
            for url in urls
            if (
                url not in entries
                if takes(bucket_of(host_key(url)))
                else self._mailed.get((url, hop), depth + 1) > depth
            )
        ]

    async def lease(self, limit: int, now: float) -> list[Lease]:
        leases, heads = await super().lease(limit, now), self.holdings.machine.heads
        return [
            msgspec.structs.replace(lease, head_answered=True) if lease.url in heads else lease
            for lease in leases
        ]

    async def waiting_hosts(self, now: float) -> list[HostWait]:
        return await super().waiting_hosts(now) if self.final_waits is None else self.final_waits

    def admit(self, item: Judged) -> bool:
        """A page that was read already comes nearer too."""
        entry = self.holdings.machine.settled(item.candidate.url)
        if entry is None or item.refusal is not None or not self.holdings.takes(bucket_of(entry.host)):
            return super().admit(item)
        return self._lower(entry, item.candidate.depth)

    def _settle(self, unit: Settlement | Deferral) -> bool:
        machine = self.holdings.machine
        entry = machine.leases.held_by(unit.lease)
        if entry is None or not super()._settle(unit):
            return False
        self._count_requests(unit)
        if isinstance(unit, Deferral):
            if unit.head_answered:
                machine.heads.add(unit.lease.url)
            return True
        machine.heads.discard(unit.lease.url)
        if unit.links:
            self._batch.links[key_of(entry.host, unit.lease.url)] = pack_links(unit.links)
            self._pass_on(entry, unit.links)
        return True

    def _count_requests(self, unit: Settlement | Deferral) -> None:
        hosts, host = self.holdings.machine.hosts, unit.lease.host
        if isinstance(unit, Settlement) and unit.verdict.outcome is Outcome.RATE_LIMITED:
            hosts.hold(host, INFINITY, SUSPENDED)
        pace = hosts.pace(host)
        why = SUSPENDED if pace.hold_why == SUSPENDED else ""
        if not why and pace.given_up(hosts.policy.pacing):
            why = GIVEN_UP
        self._batch.spent[host] = (pace.budget_used, why)

    async def read_hosts(self, first: int, last: int) -> None:
        await super().read_hosts(first, last)
        for host, requests, why in await self.reader.spent_of(first, last):
            pace = self.holdings.machine.hosts.pace(host)
            pace.budget_used = requests
            if why == SUSPENDED:
                pace.hold(INFINITY, SUSPENDED)

    # ── depths ─────────────────────────────────────────────────────────────────────────────────────────

    def _lower(self, entry: Entry, depth: int) -> bool:
        """Of a page that is ours."""
        if depth >= entry.candidate.depth:
            return False
        if entry.state is SETTLED:
            return self._promise(entry, depth)
        machine = self.holdings.machine
        candidate = msgspec.structs.replace(entry.candidate, depth=depth)
        if entry.state is REFUSED and self._comes_within_reach(entry, depth):
            machine.lift(entry, candidate)
        elif entry.state is WAITING:
            machine.shorten(entry, candidate)
        else:
            entry.candidate = candidate
        self._note_url(entry, was_known=True)
        return True

    def _comes_within_reach(self, entry: Entry, depth: int) -> bool:
        too_deep = entry.verdict is not None and entry.verdict.outcome is Outcome.TOO_DEEP
        return too_deep and depth <= self._max_depth

    def _promise(self, entry: Entry, depth: int) -> bool:
        url = entry.candidate.url
        if self._promised.get(url, depth + 1) <= depth:
            return False
        self._promised[url] = depth
        self._batch.send(entry.host, Candidate(url, Hop.LINK, entry.candidate.kind, depth))
        return True

    def _pass_on(self, entry: Entry, links: Sequence[str]) -> None:
        """No page that it links to is farther than one link more."""
        entries, takes = self.holdings.machine.entries, self.holdings.takes
        source, depth = entry.candidate.url, entry.candidate.depth + 1
        for url in links:
            if self._is_home(url):
                continue
            host = host_key(url)
            found = entries.get(url)
            if not takes(bucket_of(host)):
                self._send(host, Candidate(url, Hop.LINK, depth=depth, referrer=source))
            elif found is not None:
                self._lower(found, depth)
            else:  # the letter with which its finder told us of it is still in the mail, before this one
                self._batch.send(host, Candidate(url, Hop.LINK, depth=depth, referrer=source))

    # ── mail ───────────────────────────────────────────────────────────────────────────────────────────

    async def receive(self, letters: Sequence[Letter]) -> None:
        entries, items = self.holdings.machine.entries, [item for one in letters for item in one.items]
        # Several letters may tell of a page: it is judged by the shortest way.
        farthest_first = sorted(items, key=lambda item: -item.depth)
        unknown = {item.url: item for item in farthest_first if item.url not in entries}
        assert self.judge is not None
        judged = {one.candidate.url: one for one in await self.judge(list(unknown.values()))}
        links = await self._links_of([item for item in items if self._comes_nearer_when_read(item)])
        for letter in letters:
            if self.holdings.takes(letter.bucket):  # else it stays in the mail
                for item in letter.items:
                    self._take_in(item, judged, links)
                self._batch.taken_in.append((letter.bucket, letter.id))

    def _comes_nearer_when_read(self, item: Candidate) -> bool:
        entry = self.holdings.machine.settled(item.url)
        return entry is not None and item.depth < entry.candidate.depth

    async def _links_of(self, items: Sequence[Candidate]) -> dict[str, list[str]]:
        if not items:
            return {}
        await self.flush()  # some of them may not be written yet
        keys = {key_of(host_key(item.url), item.url): item.url for item in items}
        found = await self.reader.links_of(list(keys))
        return {url: found.get(key, []) for key, url in keys.items()}

    def _take_in(self, item: Candidate, judged: dict[str, Judged], links: dict[str, list[str]]) -> None:
        entry = self.holdings.machine.entries.get(item.url)
        if self._promised.get(item.url) == item.depth:
            del self._promised[item.url]
        if entry is None:
            self.admit(judged[item.url])
        elif not self._comes_nearer_when_read(item) or item.url not in links:
            self._lower(entry, item.depth)
        else:
            entry.candidate = msgspec.structs.replace(entry.candidate, depth=item.depth)
            self._note_url(entry, was_known=True)
            self._pass_on(entry, links[item.url])
