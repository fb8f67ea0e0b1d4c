"""The scraper's source: discoveries, taken from the spool as the crawler writes them.

A line is acknowledged once its page is settled, durably so, and told of in every file. After a crash the
lines since the bookmark come again; the ledger knows which of them were done.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

import msgspec
from msgspec import UNSET

from sumi.events import Listener, Warned
from sumi.model import Candidate, Hop, Lease, PageFacts, Response, Timing
from sumi.outputs.discoveries import Discovery, DiscoveryMetadata, read_discovery
from sumi.outputs.page_rows import NOT_MODIFIED, NOT_MODIFIED_VERDICT
from sumi.ports import Blobs, Clock, Ledger, Settlement, SpoolLine, SpoolPlace, TakeIn, UrlRecord
from sumi.store.blobs import MOST_BODY_BYTES
from sumi.store.spool import SpoolReader

# Pages taken from the spool and not settled yet. A few seconds' worth at full speed.
MOST_WAITING = 2000
LINES_AT_ONCE = 200
POLL_SECONDS = 0.2
OK = 200


@dataclass(slots=True)
class _Item:
    line: SpoolLine
    discovery: Discovery | None = None
    before: PageFacts | None = None  # of a page that is archived already, so it may turn out to be unchanged
    handed_over: bool = False  # its body was taken from the crawler
    told: bool = False  # of in every file


class SpoolSource:
    """Implements ``sumi.ports.Source``."""

    def __init__(
        self,
        spool: SpoolReader,
        ledger: Ledger,
        blobs: Blobs,
        clock: Clock,
        *,
        canonical: Callable[[str], str | None],
        crawler_at_work: Callable[[], bool],
        resumed: bool,
        tell: Listener,
    ) -> None:
        self._spool = spool
        self._ledger = ledger
        self._blobs = blobs
        self._clock = clock
        self._canonical = canonical
        self._crawler_at_work = crawler_at_work
        self._resumed = resumed
        self._tell = tell
        self._items: deque[_Item] = deque()  # in the order of the spool
        self._waiting: dict[str, _Item] = {}  # by URL
        self._by_place: dict[SpoolPlace, _Item] = {}  # settled ones
        self._held_back: Sequence[SpoolLine] = ()
        self.more_to_come = True

    # ── from the spool to the frontier ─────────────────────────────────────────────────────────────────

    async def recall(self, take_in: TakeIn) -> None:
        """Whatever waits in the frontier came with one of the next lines: no more were taken at a time."""
        if self._spool.problem:
            self._tell(Warned(self._spool.problem))
        while not self._held_back and (lines := self._next_lines()):
            await self._offer(lines, take_in)

    async def feed(self, take_in: TakeIn) -> None:
        while self.more_to_come:
            at_work = self._crawler_at_work()  # asked first: what it wrote last is then seen below
            lines = self._next_lines()
            await self._offer(lines, take_in)
            if not lines and not at_work and self._room > 0:
                self.more_to_come = False
            elif not lines or self._held_back:
                await self._clock.sleep_until(self._clock.now() + POLL_SECONDS)

    @property
    def _room(self) -> int:
        return MOST_WAITING - len(self._waiting)

    def _next_lines(self) -> Sequence[SpoolLine]:
        if self._held_back or self._room <= 0:
            lines, self._held_back = self._held_back, ()
            return lines
        return self._spool.take(min(self._room, LINES_AT_ONCE))

    async def _offer(self, lines: Sequence[SpoolLine], take_in: TakeIn) -> None:
        batch: list[Candidate] = []
        for number, line in enumerate(lines):
            item = _Item(line)
            candidate = await self._wanted(item)
            if candidate is not None and candidate.url in self._waiting:
                self._held_back = lines[number:]  # found twice in a short time: one after the other
                break
            self._items.append(item)
            if candidate is None:
                item.told = True
            else:
                self._waiting[candidate.url] = item
                batch.append(candidate)
        await self._queue(batch, take_in)

    async def _wanted(self, item: _Item) -> Candidate | None:
        found = read_discovery(item.line.data)
        url = self._canonical(found.url) if found is not None else None
        if found is None or url is None:
            place = item.line.place
            self._tell(Warned(f"{place.file}, byte {place.offset}: not a discovery, passed over"))
            return None
        record = await self._ledger.record(url)
        if record is not None and _done_with(record, item.line.place):
            return None
        item.discovery = found
        item.before = record.facts if record is not None and record.facts.path is not None else None
        return Candidate(
            url, Hop.LINK if found.depth else Hop.SEED, depth=max(0, found.depth), referrer=found.referrer
        )

    async def _queue(self, batch: list[Candidate], take_in: TakeIn) -> None:
        if not batch:
            return
        for candidate, refusal in zip(batch, await take_in(batch), strict=True):
            if refusal is not None:
                self._waiting.pop(candidate.url).told = True

    # ── what came with a page ──────────────────────────────────────────────────────────────────────────

    def at_hand(self, lease: Lease) -> Response | None:
        item = self._waiting.get(lease.url)
        discovery = item.discovery if item is not None else None
        if item is None or discovery is None or discovery.metadata.content_sha256 is UNSET:
            return None
        # In its first run the engine knows of no page to come back to: see ``_as_the_crawler_had_it``.
        if self._resumed and _was_not_modified(item, discovery):
            item.handed_over = True
            return _response(lease, discovery, NOT_MODIFIED, b"")
        body = self._blobs.open(discovery.metadata.content_sha256, MOST_BODY_BYTES)
        if body is None or sha256(body).hexdigest() != discovery.metadata.content_sha256:
            return None
        item.handed_over = True
        return _response(lease, discovery, OK, body)

    def signed(self, settlement: Settlement) -> Settlement:
        item = self._waiting.get(settlement.lease.url)
        if item is None or item.discovery is None:
            return settlement
        settlement = _as_the_crawler_had_it(settlement, item, item.discovery)
        facts = settlement.facts
        place = item.line.place
        signed = msgspec.structs.replace(
            facts,
            spool=(place.file, place.offset),
            page_type=item.discovery.page_type or facts.page_type,
        )
        return msgspec.structs.replace(settlement, facts=signed)

    # ── back to the spool ──────────────────────────────────────────────────────────────────────────────

    def settled(self, record: UrlRecord) -> None:
        item = self._waiting.pop(record.url, None)
        if item is not None:
            self._by_place[item.line.place] = item

    def told(self, records: Sequence[UrlRecord]) -> None:
        """Every file tells of these pages: what the spool said of them is done with."""
        for record in records:
            if record.facts.spool is not None:
                item = self._by_place.pop(SpoolPlace(*record.facts.spool), None)
                if item is not None:
                    item.told = True
        while self._items and self._items[0].told:
            self._spool.ack(self._items.popleft().line.after)
        self._spool.save()


def _done_with(record: UrlRecord, place: SpoolPlace) -> bool:
    known = record.facts.spool
    return known is not None and SpoolPlace(*known) >= place


def _was_not_modified(item: _Item, discovery: Discovery) -> bool:
    return item.before is not None and discovery.metadata.status_code == NOT_MODIFIED


def _as_the_crawler_had_it(settlement: Settlement, item: _Item, discovery: Discovery) -> Settlement:
    """With what no body says: how it was asked for, and what stood beside it in the answer."""
    if not item.handed_over or settlement.facts.raw is None:
        facts = msgspec.structs.replace(settlement.facts, retries=None)
        return msgspec.structs.replace(settlement, facts=facts)
    known, facts, verdict = discovery.metadata, settlement.facts, settlement.verdict
    if _was_not_modified(item, discovery) and item.before is not None and item.before.raw == facts.raw:
        facts, verdict = _with_validators(item.before, known), NOT_MODIFIED_VERDICT
    facts = msgspec.structs.replace(
        facts,
        retries=known.retries or None,
        robots_meta=known.robots_meta or facts.robots_meta,
        robots_rule=known.robots_rule or facts.robots_rule,
        content_signal=known.content_signal or facts.content_signal,
    )
    return msgspec.structs.replace(settlement, verdict=verdict, facts=facts)


def _with_validators(before: PageFacts, known: DiscoveryMetadata) -> PageFacts:
    return msgspec.structs.replace(
        before, etag=known.etag or before.etag, last_modified=known.last_modified or before.last_modified
    )


def _response(lease: Lease, discovery: Discovery, status: int, body: bytes) -> Response:
    """The answer that the crawler got, as far as it was kept; no version says that it is not all of it."""
    known = discovery.metadata
    fields = {
        "content-type": known.content_type,
        "etag": known.etag,
        "last-modified": known.last_modified,
    }
    finished = known.fetched_at if isinstance(known.fetched_at, float | int) else 0.0
    started = finished - (known.latency_ms or 0.0) / 1000
    return Response(
        url=lease.target,
        status=status,
        headers=tuple((name, value) for name, value in fields.items() if isinstance(value, str)),
        body=body,
        timing=Timing(started, finished, finished),
        http_version="",
        rendered=known.rendered if isinstance(known.rendered, str) else "",
        proxy=known.proxy_id if isinstance(known.proxy_id, str) else "",
    )
