"""The captured pages of a job, whatever kind it is.

``async with open_pages(job) as pages`` reads a snapshot; a run may go on meanwhile. ``pages.all()`` yields
what is known of each page without reading it, ``pages.read(page)`` its content, checked by its hash.
"""

import os.path
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import apsw
import msgspec

from sumi.catalogue.captures import CaptureReader, open_captures
from sumi.catalogue.find import Job, JobKind
from sumi.catalogue.page_files import MOST_TEXT_BYTES, PageFiles, SegmentFiles, open_page_files
from sumi.catalogue.role import load_role
from sumi.errors import OutputRefused, StateDamaged, StorageFailed, UsageError
from sumi.files.blobs import MOST_BODY_BYTES, FolderBlobs
from sumi.files.contents_place import contents_of
from sumi.files.objects import Objects
from sumi.files.safe_files import SafeFolder
from sumi.files.segments import SegmentReader
from sumi.outcomes import KEPT, Outcome
from sumi.parse.page.raw import unpacked
from sumi.ports import Ledger, UrlRecord
from sumi.state.folder import CAPTURES, open_snapshot

HEAD_END: Final = b"\n---\n\n"  # ends the front matter of a mirrored page
_MOVED: Final = frozenset({Outcome.REDIRECTED, Outcome.DUPLICATE})
_KEPT_FILES: Final = frozenset({Outcome.STORED, Outcome.STALE, Outcome.PENDING})
_UNPACKED: Final = 4  # times as large as packed is a text
_SHARDS: Final = 3  # aa/bb/<sha256>.html.zst
_MAP_PAGES: Final = (
    "SELECT id, url, title, content_hash FROM pages "
    "WHERE id > ? AND state = 'Processed' ORDER BY id LIMIT 500"
)


class Form(StrEnum):
    MARKDOWN = "markdown"
    HTML = "html"  # an archive keeps pages as they came
    FILE = "file"  # an image or a download that a mirror kept
    NONE = "none"  # a map keeps titles only


class CapturedPage(msgspec.Struct, frozen=True, kw_only=True):
    url: str
    title: str = ""
    form: Form = Form.MARKDOWN
    sha256: str = ""  # of the Markdown without front matter, or of the HTML
    path: str = ""  # its file, relative to ``Job.root``; "" if it is in a database
    fetched_at: float = 0.0
    changed_at: float | None = None
    fidelity: float | None = None
    language: str = ""
    content_type: str = ""
    address: str = ""  # what was requested: links are relative to it
    description: str = ""
    size: int = 0  # about as many bytes as it has; 0 if that is not known
    body: str = ""  # SHA-256 of the page as the server sent it, if that was kept
    body_at: tuple[str, int, int] | None = None  # where a mirror has it: pack, first byte, length
    source: str = ""  # where the site's own Markdown came from, if it is that


class Content(NamedTuple):
    data: bytes  # without front matter
    start: int = 0  # where it begins in the page's file


class Contents(Protocol):
    def read(self, page: CapturedPage) -> Content | None:
        """None if it is no longer there, or no longer what was captured."""
        ...


class Pages(Contents, Protocol):
    def all(self) -> AsyncIterator[CapturedPage]:
        """Settled pages only, in the order in which they were found."""
        ...

    def files(self) -> AsyncIterator[CapturedPage]:
        """Images and downloads that were kept; ``read`` gives them, too."""
        ...

    def aliases(self) -> AsyncIterator[tuple[str, str]]:
        """URLs that led to another one by a redirect or as its duplicate, and that other one."""
        ...

    def original(self, page: CapturedPage) -> bytes | None:
        """The page as the server sent it; None if that was not kept."""
        ...


@asynccontextmanager
async def open_pages(job: Job, ledger: Ledger | None = None) -> AsyncIterator[Pages]:
    """``ledger``: the store of the job, if it is open; otherwise a snapshot is opened. Raises SumiError if
    the job is damaged."""
    if job.damage:
        raise StateDamaged(job.damage)
    match job.kind:
        case JobKind.CAPTURE:
            with open_captures(job.root / CAPTURES) as captures:
                captures.hold_moment()
                yield _CaptureTexts(captures, job.name)
        case JobKind.MAP:
            with closing(_map_database(job.state)) as db:
                yield _MapTitles(db)
        case _ if ledger is not None:
            async with _of_ledger(job, ledger) as pages:
                yield pages
        case _:
            store = open_snapshot(job.state, time.time())
            try:
                async with _of_ledger(job, store) as pages:
                    yield pages
            finally:
                await store.aclose()


@asynccontextmanager
async def _of_ledger(job: Job, ledger: Ledger) -> AsyncIterator[Pages]:
    role = await load_role(ledger, job.state)
    root = job.root if role is None else role.home
    if not root.is_dir():
        raise UsageError(f"{root} is not there any more")
    if role is not None:
        yield _ArchivePages(ledger, role.home, job.state)
        return
    with open_page_files(root, job.home, job.state) as files:
        yield _MirrorPages(ledger, files)


@contextmanager
def open_contents(kind: JobKind, root: Path, state: Path) -> Iterator[Contents]:
    """For pages that are known already: the job's ledger, which takes long to read if it is large, stays
    closed. ``state``: of the job."""
    match kind:
        case JobKind.CAPTURE:
            with open_captures(root / CAPTURES) as captures:
                yield _CaptureTexts(captures, "")
        case JobKind.MAP:
            yield _NoContents()
        case JobKind.CRAWL:
            yield _ArchiveContents(root, state)
        case _:
            with open_page_files(root, state.parent, state) as files:
                yield _MirrorContents(files)


class _NoContents:
    def read(self, page: CapturedPage) -> Content | None:
        """A map has no texts."""
        return None


def split_page(data: bytes) -> Content:
    """The file of a mirrored page without its front matter."""
    if not data.startswith(b"---\n"):
        return Content(data)
    end = data.find(HEAD_END)
    start = 0 if end < 0 else end + len(HEAD_END)
    return Content(data[start:], start)


class _MirrorContents:
    def __init__(self, files: PageFiles) -> None:
        self._files = files

    def read(self, page: CapturedPage) -> Content | None:
        data = self._files.read(page.path)
        if data is None:
            return None
        content = Content(data) if page.form is Form.FILE else split_page(data)
        if _is_content(content.data, page.sha256):
            return content
        # A capture has no front matter, but its text may begin as if it had.
        return Content(data) if content.start and _is_content(data, page.sha256) else None

    def original(self, page: CapturedPage) -> bytes | None:
        body = None if page.body_at is None else self._files.body(page.body_at)
        return body if body is not None and _is_content(body, page.body) else None


class _MirrorPages(_MirrorContents):
    def __init__(self, ledger: Ledger, files: PageFiles) -> None:
        super().__init__(files)
        self._ledger = ledger

    async def all(self) -> AsyncIterator[CapturedPage]:
        async for record in self._ledger.records(KEPT):
            if _is_page(record):
                yield _page(record, Form.MARKDOWN)
        async for record in self._ledger.waiting_again():  # an unfinished update has yet to request them
            if _is_page(record):
                yield _page(record, Form.MARKDOWN)

    async def files(self) -> AsyncIterator[CapturedPage]:
        async for record in self._ledger.records(_KEPT_FILES):
            if record.facts.asset and record.facts.path is not None:
                yield _page(record, Form.FILE)

    def aliases(self) -> AsyncIterator[tuple[str, str]]:
        return _aliases(self._ledger)


class _ArchiveContents:
    def __init__(self, home: Path, state: Path) -> None:
        self._home = home
        self._blobs: dict[str, FolderBlobs] = {}
        address = contents_of(state)
        self._segments = None if address is None else SegmentFiles(SegmentReader(Objects(address)))

    def read(self, page: CapturedPage) -> Content | None:
        if self._segments is not None:
            body = self._segments.read(page.path, MOST_BODY_BYTES)
        else:
            body = self._blob(page)
        return Content(body) if body is not None and _is_content(body, page.sha256) else None

    def _blob(self, page: CapturedPage) -> bytes | None:
        blobs = self._opened("/".join(page.path.split("/")[:-_SHARDS]))
        try:
            return None if blobs is None else blobs.open(page.sha256, MOST_BODY_BYTES)
        except (OutputRefused, StorageFailed):
            return None

    def _opened(self, root: str) -> FolderBlobs | None:
        if root not in self._blobs:
            folder = Path(os.path.normpath(self._home / root))
            if not folder.is_relative_to(self._home) or not folder.is_dir():
                return None
            self._blobs[root] = FolderBlobs(SafeFolder(folder), packed=True)
        return self._blobs[root]

    def original(self, page: CapturedPage) -> bytes | None:
        content = self.read(page)
        return None if content is None else content.data


class _ArchivePages(_ArchiveContents):
    def __init__(self, ledger: Ledger, home: Path, state: Path) -> None:
        super().__init__(home, state)
        self._ledger = ledger

    async def all(self) -> AsyncIterator[CapturedPage]:
        async for record in self._ledger.records(KEPT):
            if _is_page(record) and record.facts.raw is not None:
                yield _page(record, Form.HTML)

    async def files(self) -> AsyncIterator[CapturedPage]:
        return
        yield

    def aliases(self) -> AsyncIterator[tuple[str, str]]:
        return _aliases(self._ledger)


class _CaptureTexts:
    def __init__(self, captures: CaptureReader, job_id: str) -> None:
        self._captures = captures
        self._job_id = job_id

    async def all(self) -> AsyncIterator[CapturedPage]:
        for page in self._captures.pages(self._job_id):
            yield CapturedPage(
                url=page.url,
                title=page.title or "",
                sha256=page.sha256,
                fetched_at=page.fetched_at,
                content_type=page.content_type or "",
                address=page.address,
                size=_UNPACKED * page.packed_bytes,
                body=page.body or "",
            )

    def read(self, page: CapturedPage) -> Content | None:
        text = self._content(page.sha256)
        return None if text is None else Content(text)

    async def files(self) -> AsyncIterator[CapturedPage]:
        return
        yield

    async def aliases(self) -> AsyncIterator[tuple[str, str]]:
        for alias in self._captures.duplicates(self._job_id):
            yield alias

    def original(self, page: CapturedPage) -> bytes | None:
        return self._content(page.body) if page.body else None

    def _content(self, digest: str) -> bytes | None:
        frame = self._captures.packed(digest)
        data = None if frame is None else unpacked(frame, MOST_TEXT_BYTES)
        return data if data is not None and _is_content(data, digest) else None


class _MapTitles:
    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    async def all(self) -> AsyncIterator[CapturedPage]:
        after = 0
        while rows := list(self._db.execute(_MAP_PAGES, (after,))):
            for _, url, title, content in rows:
                yield CapturedPage(url=url, title=title or "", form=Form.NONE, sha256=content or "")
            after = int(str(rows[-1][0]))

    def read(self, page: CapturedPage) -> Content | None:
        """A map has no texts."""
        return None

    async def files(self) -> AsyncIterator[CapturedPage]:
        return
        yield

    async def aliases(self) -> AsyncIterator[tuple[str, str]]:
        return
        yield

    def original(self, page: CapturedPage) -> bytes | None:
        """Nor has it bodies."""
        return None


def _map_database(path: Path) -> apsw.Connection:
    try:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        db.set_busy_timeout(5000)
        db.execute(_MAP_PAGES, (0,)).fetchone()
    except apsw.Error as error:
        raise StateDamaged(f"{path} cannot be read: {error}") from error
    return db


def _is_page(record: UrlRecord) -> bool:
    return not record.facts.asset and record.facts.path is not None


def _page(record: UrlRecord, form: Form) -> CapturedPage:
    facts = record.facts
    return CapturedPage(
        url=record.url,
        title=facts.title or "",
        form=form,
        sha256=(facts.raw if form is Form.HTML else facts.sha256) or "",
        path=facts.path or "",
        fetched_at=facts.fetched_at or 0.0,
        changed_at=facts.changed_at,
        fidelity=facts.fidelity,
        language=facts.language or "",
        content_type=facts.content_type or "",
        address=record.target,
        description=facts.description or "",
        size=facts.size or facts.body_bytes or 0,
        body=facts.raw or "",
        body_at=facts.raw_at,
        source=facts.source or "",
    )


async def _aliases(ledger: Ledger) -> AsyncIterator[tuple[str, str]]:
    async for record in ledger.records(_MOVED):
        target = record.facts.location or record.facts.duplicate_of
        if target is not None:
            yield record.url, target


def _is_content(data: bytes, digest: str) -> bool:
    return sha256(data).hexdigest() == digest
