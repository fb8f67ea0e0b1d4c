"""The history of a mirror's pages, and ``_changes.json``, which lists the changes of its last update."""

import msgspec

from sumi.engine.revisit import revision_of
from sumi.files.plain_text import iso_utc
from sumi.files.safe_files import SafeFolder
from sumi.history.recorder import HistoryRecorder
from sumi.history.rows import ChangeKind, Version
from sumi.jobs.mirror.markdown_page import HEAD_END
from sumi.jobs.mirror.missing_pages import ENDINGS
from sumi.jobs.mirror.update import last_update
from sumi.model import PageFacts
from sumi.outcomes import Outcome
from sumi.parse.page.digest import PageDigest
from sumi.ports import Ledger, UrlRecord

CHANGES = "_changes.json"
_LISTED = ("added", "changed", "moved", "gone")


class PageHistory:
    """Records versions as pages are written, and in ``finish`` whatever else the ledger knows by then: pages
    of a mirror that is older than its history, and what a kill kept from being recorded."""

    def __init__(self, recorder: HistoryRecorder, files: SafeFolder, home: str) -> None:
        self._recorder = recorder
        self._files = files
        self._home = home
        self._had_pages = False  # when the run began
        self._pages = 0  # that were checked

    async def load(self, ledger: Ledger, *, had_pages: bool) -> None:
        self._had_pages = had_pages
        if self._recorder.exists:
            await self._record_gone(ledger)

    def accept(self, url: str, path: str, data: bytes, facts: PageFacts, digest: PageDigest) -> None:
        if self._had_pages and not self._recorder.knows(url):
            self._record_earlier_file(url, path)
        known = msgspec.structs.replace(facts, revision=revision_of(digest), raw=digest.raw_sha256)
        self._recorder.page(url, data.partition(HEAD_END)[2], known, facts.fetched_at or 0.0)

    def _record_earlier_file(self, url: str, path: str) -> None:
        """Its text is about to be replaced, and was written before there was a history."""
        status, data = self._files.status(path), self._files.read_bytes(path)
        _, end, body = (data or b"").partition(HEAD_END)
        if status is not None and end:
            self._recorder.page(url, body, PageFacts(), status.st_mtime)

    def settled(self, url: str, outcome: Outcome, facts: PageFacts, at: float) -> None:
        if outcome in ENDINGS and facts.was_path is not None and not facts.asset:
            self._recorder.gone(
                url, at, facts.duplicate_of or (facts.location if outcome is Outcome.REDIRECTED else None)
            )

    def check(self, record: UrlRecord) -> None:
        """For each stored page before ``finish``."""
        facts = record.facts
        if facts.path is None:
            return
        self._pages += 1
        if facts.revision is not None and not self._recorder.is_current(record.url, facts):
            self._record_file(record)

    async def finish(self, ledger: Ledger, *, finished: bool) -> None:
        await self._record_gone(ledger)
        if self._recorder.store.count_live() != self._pages:
            await self._record_missing(ledger)
        self._pages = 0
        self._recorder.end(finished=finished)
        await self._write_changes(ledger)

    def _record_file(self, record: UrlRecord) -> None:
        facts = record.facts
        _, end, body = (self._files.read_bytes(facts.path or "") or b"").partition(HEAD_END)
        if end:
            at = facts.changed_at or facts.fetched_at or record.at or 0.0
            self._recorder.page(record.url, body, facts, at, remade=True)

    async def _record_gone(self, ledger: Ledger) -> None:
        async for record in ledger.records(ENDINGS):
            self.settled(record.url, record.outcome, record.facts, record.at or 0.0)

    async def _record_missing(self, ledger: Ledger) -> None:
        """Pages that are no longer kept for another reason, such as other rules."""
        for url in list(self._recorder.store.live_urls()):
            record = await ledger.record(url)
            if record is None or record.facts.path is None:
                self._recorder.gone(url, (record and record.at) or 0.0)

    async def _write_changes(self, ledger: Ledger) -> None:
        """Covers the last update only: a first run would list every page."""
        name = f"{self._home}/{CHANGES}"
        update = await last_update(ledger)
        if update is None:
            return
        listed: dict[str, list[dict[str, object]]] = {
            kind: [] for kind in ("added", "changed", "moved", "gone")
        }
        for version in self._recorder.store.changes(run=self._recorder.run)[::-1]:
            entry = _listed(version)
            if entry is not None:
                listed[entry[0]].append(entry[1])
        about = {"since": iso_utc(update.began), "run": self._recorder.run, **listed}
        self._files.write_atomic(name, msgspec.json.format(msgspec.json.encode(about)) + b"\n")

    def notes(self) -> list[str]:
        return [self._recorder.note] if self._recorder.note else []

    def sync(self) -> None:
        self._recorder.sync()

    def close(self) -> None:
        self._recorder.close()


def _listed(version: Version) -> tuple[str, dict[str, object]] | None:
    page: dict[str, object] = {"url": version.url}
    if version.title is not None:
        page["title"] = version.title
    match version.kind:
        case ChangeKind.ADDED | ChangeKind.BACK if version.other is None:
            return "added", page
        case ChangeKind.CHANGED:
            return "changed", {
                **page,
                "lines_added": version.added,
                "lines_removed": version.removed,
                "minor": version.minor,
            }
        case ChangeKind.MOVED:
            return "moved", {**page, "to": version.other}
        case ChangeKind.GONE:
            return "gone", page
    return None
