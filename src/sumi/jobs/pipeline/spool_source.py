"""The scraper's source: discoveries, read from the spool while the crawler writes them.

A line is acknowledged once its page is settled durably and recorded in every file. After a crash the lines
since the bookmark are read again; the ledger knows which of them are done.

A page is requested once per run, however often it is listed: the metadata of further lines are merged into
its record. A page whose body the crawler handed over is not requested at all, and each such line counts.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import msgspec
from msgspec import UNSET

from sumi.events import Listener, Warned
from sumi.files.blobs import MOST_BODY_BYTES
from sumi.frontier.freshness import NOT_MODIFIED
from sumi.jobs.pipeline.discoveries import Discovery, DiscoveryMetadata, Listing, merged, read_listing
from sumi.jobs.pipeline.ledger_copies import NOT_MODIFIED_VERDICT
from sumi.jobs.pipeline.spool import MOST_LINE_BYTES
from sumi.jobs.pipeline.spool_reader import SkippedLines, SpoolLine, SpoolPlace, SpoolReader
from sumi.model import Candidate, Hop, Lease, PageFacts, Response, Timing
from sumi.outcomes import Outcome
from sumi.ports import Blobs, Clock, Enqueue, Ledger, Remains, Settlement, UrlRecord

# Pages read from the spool and not settled yet: a few seconds' worth at full speed.
MOST_WAITING = 2000
LINES_AT_ONCE = 200
POLL_SECONDS = 0.2
OK = 200


TOO_LONG = f"it is longer than {MOST_LINE_BYTES >> 20} MiB"


@dataclass(slots=True)
class _Item:
    line: SpoolLine
    listing: Listing | None = None
    before: PageFacts | None = None  # of a page that is archived already and may turn out to be unchanged
    earlier: str = ""  # metadata of earlier lines
    handed_over: bool = False  # the crawler had its body
    signed: bool = False  # its facts are final
    further: list["_Item"] = field(default_factory=list)  # lines that listed it again while it waited
    amends: bool = False  # only adds to the record of a page that is settled
    copied: bool = False  # recorded in every file

    @property
    def comes_with_body(self) -> bool:
        return self.listing is not None and self.listing.discovery.is_handed_over


class SpoolSource:
    """Implements ``sumi.ports.Source``."""

    def __init__(
        self,
        spool: SpoolReader,
        ledger: Ledger,
        blobs: Blobs,
        clock: Clock,
        *,
        identify: Callable[[str], str | None],
        amend: Callable[[Mapping[str, PageFacts]], Awaitable[None]],
        began: Callable[[], float],
        crawler_at_work: Callable[[], bool],
        resumed: bool,
        tell: Listener,
    ) -> None:
        """``began``: when this run began, or the killed run that it resumes."""
        self._spool = spool
        self._ledger = ledger
        self._blobs = blobs
        self._clock = clock
        self._identify = identify
        self._amend = amend
        self._began = began
        self._crawler_at_work = crawler_at_work
        self._resumed = resumed
        self._tell = tell
        self._skipped = SkippedLines(spool, ledger, tell)
        self._items: deque[_Item] = deque()  # in the order of the spool
        self._waiting: dict[str, _Item] = {}  # by URL
        self._by_place: dict[SpoolPlace, _Item] = {}  # settled
        self._amended: list[_Item] = []  # durable after two syncs
        self._almost_durable: list[_Item] = []
        self._held_back: Sequence[SpoolLine] = ()
        self._is_offering = False
        self.more_to_come = True

    # ── from the spool to the frontier ─────────────────────────────────────────────────────────────────

    async def resume(self, enqueue: Enqueue) -> None:
        """Match the pages that wait in the frontier with their lines, which are among the next ones."""
        for problem in self._spool.problems:
            self._tell(Warned(problem))
        await self._skipped.load()
        while not self._held_back and (lines := self._next_lines()):
            await self._offer(lines, enqueue)

    async def feed(self, enqueue: Enqueue) -> None:
        while self.more_to_come:
            at_work = self._crawler_at_work()  # checked first, so that its last lines are seen below
            lines = self._next_lines()
            if not lines and not at_work and self._room > 0:
                lines = self._spool.take_unended()
                self.more_to_come = bool(lines)
            await self._offer(lines, enqueue)
            if self.more_to_come and (not lines or self._held_back):
                await self._clock.sleep_until(self._clock.now() + POLL_SECONDS)

    def remains(self) -> Remains:
        remains = self._skipped.remains()
        left = self._is_offering or bool(self._held_back)
        return msgspec.structs.replace(remains, behind=remains.behind or left)

    @property
    def _room(self) -> int:
        return MOST_WAITING - len(self._waiting)

    def _next_lines(self) -> Sequence[SpoolLine]:
        if self._held_back or self._room <= 0:
            lines, self._held_back = self._held_back, ()
            return lines
        return self._spool.take(min(self._room, LINES_AT_ONCE))

    async def _offer(self, lines: Sequence[SpoolLine], enqueue: Enqueue) -> None:
        batch: list[Candidate] = []
        self._is_offering = True
        for number, line in enumerate(lines):
            item = _Item(line)
            candidate = await self._wanted(item)
            waiting = None if candidate is None else self._waiting.get(candidate.url)
            if waiting is not None and not _can_share_a_visit(waiting, item):
                self._held_back = lines[number:]  # until the waiting one is settled
                break
            self._items.append(item)
            for words in item.listing.remarks if item.listing is not None else ():
                self._skipped.warn(line.place, words)
            if waiting is not None:
                waiting.further.append(item)
            elif candidate is not None:
                self._waiting[candidate.url] = item
                batch.append(candidate)
            else:
                item.copied = not item.amends
        await self._skipped.note()
        await self._queue(batch, enqueue)
        self._is_offering = False

    async def _wanted(self, item: _Item) -> Candidate | None:
        """None if there is nothing left to do for a line."""
        url = self._read(item)
        if url is None or item.listing is None:
            return None
        record = await self._ledger.record(url)
        if record is not None and self._done_with(record, item.line.place):
            return None
        if record is not None and not item.comes_with_body and self._was_requested(record):
            await self._amend_record(record, item)
            return None
        if record is not None:
            item.before = record.facts if record.facts.path is not None else None
            item.earlier = record.facts.listed or ""
        found = item.listing.discovery
        hop = Hop.LINK if found.depth else Hop.SEED
        address = found.metadata.requested_url or ""
        if self._identify(address) in (None, url):
            address = ""
        return Candidate(url, hop, depth=found.depth, referrer=found.referrer, address=address)

    def _read(self, item: _Item) -> str | None:
        """The URL of a line; None if it is blank or cannot be used."""
        line = item.line
        if not line.too_long and not line.data.strip():
            return None
        found = TOO_LONG if line.too_long else read_listing(line.data)
        if isinstance(found, str):
            self._skipped.skip(line, found)
            return None
        url = self._identify(found.discovery.url)
        if url is None:
            self._skipped.skip(line, "its url cannot be requested as written")
            return None
        item.listing = found
        return url

    def _done_with(self, record: UrlRecord, place: SpoolPlace) -> bool:
        known = record.facts.spool
        return known is not None and self._spool.came_after(SpoolPlace(*known), place)

    def _was_requested(self, record: UrlRecord) -> bool:
        return record.outcome is not Outcome.PENDING and (record.at or 0.0) >= self._began()

    async def _amend_record(self, record: UrlRecord, item: _Item) -> None:
        """The page was requested in this run already: only add what this line says of it."""
        await self._amend({record.url: _with_listing(record.facts, item)})
        item.amends = True
        self._amended.append(item)

    async def _queue(self, batch: list[Candidate], enqueue: Enqueue) -> None:
        if not batch:
            return
        for candidate, refusal in zip(batch, await enqueue(batch), strict=True):
            if refusal is not None:
                _mark_copied(self._waiting.pop(candidate.url))

    # ── bodies that the crawler handed over ────────────────────────────────────────────────────────────

    def at_hand(self, lease: Lease) -> Response | None:
        item = self._waiting.get(lease.url)
        discovery = item.listing.discovery if item is not None and item.listing is not None else None
        if item is None or discovery is None or discovery.metadata.content_sha256 is UNSET:
            return None
        # In its first run the engine revisits no page: see ``_with_crawler_facts``.
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
        if item is None or item.listing is None:
            return settlement
        item.signed = True
        settlement = _with_crawler_facts(settlement, item, item.listing.discovery)
        facts = settlement.facts
        for each in (item, *item.further):
            facts = _with_listing(facts, each)
        return msgspec.structs.replace(settlement, facts=facts)

    # ── acknowledging lines ────────────────────────────────────────────────────────────────────────────

    def settled(self, record: UrlRecord) -> None:
        item = self._waiting.pop(record.url, None)
        if item is not None and record.facts.spool is not None:
            self._by_place[SpoolPlace(*record.facts.spool)] = item

    def copied(self, records: Sequence[UrlRecord]) -> None:
        """Every file has these pages: acknowledge their lines."""
        for record in records:
            if record.facts.spool is not None:
                item = self._by_place.pop(SpoolPlace(*record.facts.spool), None)
                if item is not None:
                    _mark_copied(item)
        for item in self._almost_durable:
            item.copied = True
        self._almost_durable, self._amended = self._amended, []
        while self._items and self._items[0].copied:
            self._spool.ack(self._items.popleft().line.after)
        self._spool.save()


def _mark_copied(item: _Item) -> None:
    for each in (item, *item.further):
        each.copied = True


def _can_share_a_visit(waiting: _Item, item: _Item) -> bool:
    """Not if either line has a body of its own, or the facts of the waiting page are final."""
    return not (waiting.signed or waiting.comes_with_body or item.comes_with_body)


def _with_listing(facts: PageFacts, item: _Item) -> PageFacts:
    listing, place = item.listing, item.line.place
    assert listing is not None
    return msgspec.structs.replace(
        facts,
        spool=(place.file, place.offset),
        page_type=listing.discovery.page_type or facts.page_type,
        listed=merged(facts.listed or item.earlier, listing.foreign) or None,
    )


def _was_not_modified(item: _Item, discovery: Discovery) -> bool:
    return item.before is not None and discovery.metadata.status_code == NOT_MODIFIED


def _with_crawler_facts(settlement: Settlement, item: _Item, discovery: Discovery) -> Settlement:
    """Add what only the crawler's request and response said: retries, robots rules, validators."""
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
    """The crawler's response as far as it was kept; the missing HTTP version marks it as incomplete."""
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
