"""Does an archive agree with the state of whoever filled it? Records, and the bodies that they name."""

from collections.abc import AsyncIterator
from pathlib import Path

from sumi.files.blobs import PACKED_SUFFIX, FolderBlobs
from sumi.files.safe_files import SafeFolder
from sumi.jobs.pipeline.note import CRAWLER, SCRAPER, Role
from sumi.outcomes import UP_TO_DATE
from sumi.parse.page.raw import has_frame_of
from sumi.ports import Snapshot, UrlRecord
from sumi.state.check import Finding, ledger_violations


async def archive_findings(role: Role, store: Snapshot, *, deep: bool) -> AsyncIterator[Finding]:
    """``deep`` also unpacks every body and compares it with its hash. Bodies that no page names are left from
    pages that changed, or that a kill undid, and no fault."""
    # What a scraper is told of was found by pages that it need not have heard of; a crawler that hands
    # nothing over keeps nothing of a page.
    told, keeps = role.job == SCRAPER, role.job != CRAWLER
    async for words in ledger_violations(store, 0, whole_ways=not told, keeps_files=keeps):
        yield Finding(words)
    bodies = _Bodies(role.home)
    try:
        async for record in store.records(UP_TO_DATE):
            words = bodies.trouble_with(record, deep=deep)
            if words:
                yield Finding(f"{record.url}: {record.facts.path} {words}", requeue=record.url)
    finally:
        bodies.close()


class _Bodies:
    """What records name in the archives of a workspace: one, unless ``store.root`` was changed meanwhile."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._workspace = SafeFolder(home)
        self._folders: list[SafeFolder] = []
        self._archives: dict[str, FolderBlobs] = {}

    def trouble_with(self, record: UrlRecord, *, deep: bool) -> str:
        """Empty if nothing was to be kept of the page, or what was is there."""
        path, digest = record.facts.path, record.facts.raw
        if path is None or digest is None:
            return ""
        status = self._workspace.status(path)
        if status is None:
            return "is missing"
        if not self._has_right_size(path, status.st_size, record.facts.body_bytes):
            return f"has {status.st_size:,} bytes, which is not what was written"
        if deep and not self._is_whole(path, digest):
            return "does not hash to what is recorded"
        return ""

    def _has_right_size(self, path: str, size: int, body_bytes: int | None) -> bool:
        if body_bytes is None:  # of a version that did not record it
            return size > 0
        if not path.endswith(PACKED_SUFFIX):
            return size == body_bytes

        def read(start: int, length: int) -> bytes:
            return self._workspace.read_range(path, start, length) or b""

        return has_frame_of(read, size, body_bytes)

    def close(self) -> None:
        for folder in (self._workspace, *self._folders):
            folder.close()

    def _is_whole(self, path: str, digest: str) -> bool:
        root = path.rsplit("/", 3)[0]  # above aa/bb/<sha256>
        if root not in self._archives:
            self._folders.append(SafeFolder(self._home / root))
            self._archives[root] = FolderBlobs(self._folders[-1], packed=True)
        return self._archives[root].has_whole(digest)
