"""The output of a capture: texts and bodies in the folder's database, and the pages of the job.

Contents are stored before their page is settled, the page's row afterwards. When a job is resumed, its rows
are brought in line with the ledger.
"""

import asyncio

import msgspec

from sumi.engine.answers import page_facts
from sumi.engine.completeness import LEFT_OUT
from sumi.events import CaptureProgress, Listener
from sumi.frontier.freshness import vouched_seconds
from sumi.history.recorder import HistoryRecorder
from sumi.jobs.capture.cache import CacheSource, DigestCache, DigestInFlight, PageCache
from sumi.jobs.capture.database import BatchWriter, CaptureDatabase
from sumi.jobs.capture.groups import settle_groups
from sumi.jobs.capture.rows import CacheLevel, CapturedPage, CaptureJob, FailedPage, JobStatus
from sumi.model import Kind, Lease, PageFacts, Response
from sumi.outcomes import BY_ENDING, CAME, KEPT, Ending, Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.parse.page.raw import packed
from sumi.ports import Frontier, FrontierStats, Ledger, UrlRecord
from sumi.scope.bases import BaseUrls

FAILURES = BY_ENDING[Ending.FAILED]
NO_LONGER = frozenset({Outcome.NOT_FOUND, Outcome.SOFT_404, Outcome.REDIRECTED})
HIDING = (FAILURES - NO_LONGER) | set(LEFT_OUT)  # there may be pages that were not found because of these
EMPTY_SHA256 = packed(b"")[0]


class CaptureOutput:
    """Implements ``RestorableOutput``. ``job`` is the job's current row."""

    def __init__(
        self,
        database: CaptureDatabase,
        job: CaptureJob,
        frontier: Frontier,
        cache: PageCache,
        source: CacheSource,
        digests: DigestCache,
        bases: BaseUrls,
        limit: int,
        tell: Listener,
        *,
        keep_bodies: bool,
        history: HistoryRecorder | None = None,
    ) -> None:
        self.job = job
        self._history = history
        self._database = database
        self._frontier = frontier
        self._cache = cache
        self._source = source
        self._digests = digests
        self._bases = bases
        self._limit = limit
        self._tell = tell
        self._keep_bodies = keep_bodies
        self._processed: set[int] = set()  # hashes of URLs
        self._failed: set[int] = set()
        self._writer = BatchWriter(database, last=self._put_job)

    # ── pages ──────────────────────────────────────────────────────────────────────────────────────────

    async def accept(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        text = (digest.markdown or "").encode("utf-8", "replace")
        facts = msgspec.structs.replace(page_facts(response, digest), size=len(text), raw=digest.raw_sha256)
        if self._history is not None:
            self._history.page(lease.url, text, facts, facts.fetched_at or 0.0)
        digested = self._digests.take(response.url)
        if digested is not None and digested.new is None:  # everything is stored already
            return msgspec.structs.replace(facts, sha256=digest.sha256)
        text_sha256, frame = packed(text)
        contents = [(text_sha256, frame)]
        if self._keep_bodies and digest.raw_sha256 is not None:
            contents.append((digest.raw_sha256, digest.raw))
        digests = [digested.new] if digested is not None and digested.new is not None else []
        await self._writer.do(lambda: self._database.put_contents(contents, digests))
        return msgspec.structs.replace(facts, sha256=text_sha256)

    async def note_ending(self, lease: Lease, verdict: Verdict, at: float) -> None:
        """A failure is recorded once it is settled."""

    async def settled(self, lease: Lease, verdict: Verdict, at: float, facts: PageFacts) -> None:
        self._source.visited.pop(lease.url, None)
        if lease.candidate.kind is not Kind.PAGE:
            return
        stats = await self._frontier.stats()
        response = self._cache.responses.pop(lease.target, None)
        digested = self._digests.take(lease.target if response is None else response.url)
        had_failed = hash(lease.url) in self._failed
        self._count(lease.url, verdict.outcome)
        self.job = self._with_counts(stats)
        progress = self.progress()
        if verdict.outcome is Outcome.DUPLICATE and self._history is not None:
            self._history.known_text(lease.url, facts.content_key, facts, facts.fetched_at or at)
        if verdict.outcome in CAME:
            page = self._page(lease, facts, response, digested)
            await self._writer.do(lambda: self._put_page(page, digested, response, had_failed))
        elif verdict.ending is Ending.FAILED:
            failure = FailedPage(lease.url, _words(verdict), at)
            await self._writer.do(lambda: self._database.put_failure(self.job.id, failure))
        else:
            return
        self._tell(progress)

    def mark(self, status: JobStatus, now: float) -> CaptureJob:
        """Record the status of the job; its first start and its last end count."""
        job = msgspec.structs.replace(self.job, status=status, started=self.job.started or now)
        if not job.is_under_way:
            job = msgspec.structs.replace(job, ended=now, queue_size=self._left_over(job))
        self.job = job
        self._database.put_job(job)
        return job

    @staticmethod
    def _left_over(job: CaptureJob) -> int:
        """Pages beyond a limit are not waiting for anything."""
        return job.queue_size if job.status is JobStatus.INTERRUPTED else 0

    def progress(self) -> CaptureProgress:
        job, visited = self.job, tuple(self._source.visited)
        found = job.pages_processed + job.queue_size + len(visited)
        return CaptureProgress(job.id, found, job.pages_processed, job.pages_failed, job.queue_size, visited)

    def _count(self, url: str, outcome: Outcome) -> None:
        self._failed.discard(hash(url))
        if outcome in KEPT:
            self._processed.add(hash(url))
        elif outcome in FAILURES:
            self._failed.add(hash(url))

    def _with_counts(self, stats: FrontierStats) -> CaptureJob:
        pages, waiting = len(self._processed), max(stats.pending - stats.leased, 0)
        return msgspec.structs.replace(
            self.job,
            pages_processed=pages,
            pages_failed=len(self._failed),
            queue_size=waiting,
            pages_found=pages + waiting + len(self._source.visited),
        )

    def _put_job(self) -> None:
        self._database.put_job(self.job)

    def _put_page(
        self, page: CapturedPage, digested: DigestInFlight | None, response: Response | None, had_failed: bool
    ) -> None:
        if digested is not None and digested.new is not None and response is not None:
            # A duplicate, for which ``accept`` was not called since its text is stored already.
            self._database.put_contents([packed(response.body)], [digested.new])
        self._database.put_page(self.job.id, page)
        if had_failed:
            self._database.drop_failure(self.job.id, page.url)

    def _page(
        self, lease: Lease, facts: PageFacts, response: Response | None, digested: DigestInFlight | None
    ) -> CapturedPage:
        self._bases.charged(lease.url, lease.candidate.referrer)
        page = self._page_of(lease.url, lease.target, lease.candidate.depth, facts)
        if response is None:
            return page
        return msgspec.structs.replace(
            page,
            address=response.url,
            body_sha256=digested.body_sha256 if digested is not None else page.body_sha256,
            etag=response.header("etag"),
            last_modified=response.header("last-modified"),
            fresh_for=vouched_seconds(response.headers, response.timing.finished),
            vary_key=self._cache.vary_key_of(response),
        )

    def _page_of(self, url: str, address: str, depth: int, facts: PageFacts) -> CapturedPage:
        """What the ledger knows of a page. A duplicate has the text of the page that it duplicates."""
        return CapturedPage(
            url=url,
            address=address,
            text_sha256=(facts.content_key if facts.duplicate_of else facts.sha256) or EMPTY_SHA256,
            body_sha256=facts.raw,
            title=facts.title,
            base=self._bases.charged(url),
            depth=depth,
            status=facts.status or 0,
            content_type=facts.content_type,
            etag=facts.etag,
            last_modified=facts.last_modified,
            rendered=facts.rendered,
            fresh_for=0.0,  # unknown: the ledger does not store what the server said
            cached=CacheLevel(facts.cached or CacheLevel.MISS),
            fetched_at=facts.fetched_at or 0.0,
            duplicate_of=facts.duplicate_of,
            simhash=facts.simhash,
        )

    # ── resuming ───────────────────────────────────────────────────────────────────────────────────────

    async def load(self, ledger: Ledger) -> None:
        """Bring the rows in line: a kill may have come between settling a page and writing its row."""
        known = self._database.page_urls(self.job.id)
        present: set[str] = set()
        async for record in ledger.records(CAME | FAILURES | {Outcome.REDIRECTED}):
            self._bases.charged(record.url, record.referrer)  # one after the other, as they were found
            if record.kind is Kind.PAGE and record.outcome is not Outcome.REDIRECTED:
                self._count(record.url, record.outcome)
                self._restore(record, known)
                present.add(record.url)
        self._database.drop_pages(self.job.id, known - present)

    def _restore(self, record: UrlRecord, known: set[str]) -> None:
        if record.outcome not in CAME:
            failure = FailedPage(record.url, _words(Verdict(record.outcome, record.rule)), record.at or 0.0)
            self._database.put_failure(self.job.id, failure)
        elif record.url not in known:
            page = self._page_of(record.url, record.target, record.depth, record.facts)
            self._database.put_page(self.job.id, page)

    def has_whole(self, facts: PageFacts) -> bool:
        return all(
            sha256 is None or self._database.has_content(sha256) for sha256 in (facts.sha256, facts.raw)
        )

    async def sync(self) -> None:
        await asyncio.to_thread(self._database.sync)
        if self._history is not None:
            await asyncio.to_thread(self._history.sync)

    async def finish(self, ledger: Ledger, stats: FrontierStats) -> None:
        await settle_groups(ledger, self._database, self.job.id, self._bases.charged)
        self.job = self._with_counts(stats)
        self._database.put_job(self.job)
        if self._history is not None:
            if not stats.pending:
                await self._record_gone(self._history, ledger, stats)
            self._history.end(finished=not stats.pending)

    async def _record_gone(self, history: HistoryRecorder, ledger: Ledger, stats: FrontierStats) -> None:
        """Pages that an earlier capture found under the same base URLs: gone if the site says so, or if no
        page links to them any more. Limits and failures tell nothing about the pages beyond them."""
        all_found = not any(stats.outcomes.get(outcome) for outcome in HIDING)
        for url in list(history.store.live_urls()):
            if self._bases.of(url) is None:
                continue
            record = await ledger.record(url)
            if record is None:
                if all_found:
                    history.gone(url, self.job.started or self.job.created)
            elif record.outcome in NO_LONGER:
                moved_to = record.facts.location if record.outcome is Outcome.REDIRECTED else None
                history.gone(url, record.at or 0.0, moved_to)

    def remarks(self) -> tuple[str, ...]:
        about = (self._history.note,) if self._history is not None and self._history.note else ()
        return (*self._per_base(), self._cache_use(), *about)

    def _per_base(self) -> list[str]:
        counts = self._database.count_by_base(self.job.id)
        most = f"/{self._limit:,}" if self._limit else ""
        return [f"{base}: {counts.get(n, 0):,}{most} pages" for n, base in enumerate(self.job.base_urls)]

    def _cache_use(self) -> str:
        counts = self._database.count_by_level(self.job.id)
        parts = ", ".join(f"{counts.get(level, 0):,} {level}" for level in CacheLevel)
        return f"cache: {parts}"


def _words(verdict: Verdict) -> str:
    return f"{verdict.outcome}: {verdict.rule}" if verdict.rule else str(verdict.outcome)
