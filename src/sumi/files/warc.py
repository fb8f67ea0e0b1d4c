"""``--warc FILE``: everything that a run asked for and got, in WARC files that other archives read.

The file is called ``….open`` until it is complete; after a full one comes the next (``name-2.warc.gz``).
Records are written before their page is settled, in one piece, and the page's ledger record names them. After
a kill, the next run cuts off a torn record and removes the records of pages that were not settled: those are
fetched again. So every settled page is there once.
"""

import fcntl
import os
import re
import zlib
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Final

from sumi.errors import StateLocked
from sumi.files.disk_errors import explained
from sumi.files.warc_records import page_records, software_record
from sumi.model import Candidate, PageFacts, Response
from sumi.outcomes import Verdict
from sumi.ports import Ledger

OPEN_SUFFIX: Final = ".open"
SEGMENT_BYTES: Final = 1024**3
_OPEN: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_BLOCK: Final = 256 * 1024
_HEAD_BYTES: Final = 64 * 1024  # of a record; more than any of ours has
_RECORD_ID: Final = re.compile(rb"^WARC-Record-ID: <urn:uuid:([0-9a-f-]{36})>\r$", re.MULTILINE)
_CONCURRENT: Final = re.compile(
    rb"^WARC-(?:Concurrent-To|Refers-To): <urn:uuid:([0-9a-f-]{36})>\r$", re.MULTILINE
)


class WarcRecorder:
    """Implements ``sumi.ports.Recorder``. ``path`` is the final name. An existing file of that name is never
    touched, nor one that another process is writing. Await ``load`` before the first ``record``."""

    def __init__(self, path: Path, segment_bytes: int = SEGMENT_BYTES) -> None:
        self._path = path
        self._segment_bytes = segment_bytes
        self._open_path = path.with_name(path.name + OPEN_SUFFIX)
        self._size = 0  # 0: nothing is written yet
        self._void: set[str] = set()  # records in this file whose page was not settled by them
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _locked(self._open_path, path)

    async def load(self, ledger: Ledger) -> None:
        """Finish the file that a kill left."""
        with explained(self._open_path):
            if not os.fstat(self._file.fileno()).st_size:
                return
            names = {member.page for member in _members(self._file)} - {""}
        settled: set[str] = set()
        if names:
            settled = {r.facts.warc async for r in ledger.records() if r.facts.warc in names}
        with explained(self._open_path):
            self._keep_only(names & settled)
            self._finish(bool(names & settled))
            self._file.close()
            self._file = _locked(self._open_path, self._path)

    def record(
        self,
        candidate: Candidate,
        response: Response | None,
        verdict: Verdict,
        before: PageFacts | None,
        now: float,
    ) -> str:
        if self._size >= self._segment_bytes:
            self._begin_next()
        if not self._size:
            self._write(software_record(now))
        records = page_records(candidate, response, verdict, before, now)
        self._write(records.members)
        return records.name

    def withdraw(self, name: str) -> None:
        self._void.add(name)

    def sync(self) -> None:
        with explained(self._open_path):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Give the file its final name, or remove it if it holds no page."""
        with explained(self._path):
            self._complete()
            self._file.close()  # and with it the lock

    def _begin_next(self) -> None:
        with explained(self._path):
            self._complete()
            self._file.close()
            self._file = _locked(self._open_path, self._path)
        self._size = 0

    def _complete(self) -> None:
        if self._void:
            self._keep_only({member.page for member in _members(self._file)} - self._void)
            self._void.clear()
        self._finish(bool(self._size))

    def _finish(self, has_pages: bool) -> None:
        if has_pages:
            os.fsync(self._file.fileno())
            self._open_path.rename(_free_name(self._path))
        else:
            self._open_path.unlink(missing_ok=True)

    def _keep_only(self, pages: set[str]) -> None:
        """Remove the other pages' records and a torn end. The new file takes the old one's place at once, and
        is locked by then."""
        members = list(_members(self._file))
        kept = [member for member in members if not member.page or member.page in pages]
        end = members[-1].end if members else 0
        if len(kept) == len(members):
            self._file.truncate(end)
            self._file.seek(end)
            return
        beside = self._open_path.with_name(self._open_path.name + ".new")
        beside.unlink(missing_ok=True)
        rewritten = FileIO(os.open(beside, _OPEN, 0o644), "r+b")
        fcntl.flock(rewritten, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for member in kept:
            _write_all(rewritten, os.pread(self._file.fileno(), member.end - member.start, member.start))
        os.fsync(rewritten.fileno())
        beside.rename(self._open_path)
        self._file.close()
        self._file = rewritten

    def _write(self, members: bytes) -> None:
        with explained(self._open_path):
            _write_all(self._file, members)
        self._size += len(members)


class _Member:
    """A complete record. ``page`` names the page's records that it belongs to; "" if there is none."""

    __slots__ = ("end", "page", "start")

    def __init__(self, start: int, end: int, page: str) -> None:
        self.start = start
        self.end = end
        self.page = page


def _members(file: FileIO) -> Iterator[_Member]:
    """The complete gzip members, in constant memory."""
    start = position = 0
    inflate, head = zlib.decompressobj(wbits=31), bytearray()
    for data in _blocks(file):
        rest = data
        while rest:
            try:
                text = inflate.decompress(rest, _BLOCK)
            except zlib.error:
                return
            head += text[: _HEAD_BYTES - len(head)]
            left = inflate.unconsumed_tail or inflate.unused_data
            position += len(rest) - len(left)
            if inflate.eof:
                yield _Member(start, position, _page_of(bytes(head)))
                start = position
                inflate, head = zlib.decompressobj(wbits=31), bytearray()
            rest = left


def _blocks(file: FileIO) -> Iterator[bytes]:
    offset = 0
    while data := os.pread(file.fileno(), _BLOCK, offset):
        offset += len(data)
        yield data


def _page_of(record: bytes) -> str:
    head = record.partition(b"\r\n\r\n")[0]
    if b"WARC-Type: warcinfo\r\n" in head:
        return ""
    is_revisit = b"WARC-Type: revisit\r\n" in head  # what that refers to is an earlier capture
    found = (None if is_revisit else _CONCURRENT.search(head)) or _RECORD_ID.search(head)
    return found[1].decode() if found else ""


def _write_all(file: FileIO, data: bytes) -> None:
    """One write, unless the disk takes less at a time. Nothing is buffered, since a kill would lose it."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _locked(unfinished: Path, path: Path) -> FileIO:
    """The unfinished file, new or as a kill left it, locked by us."""
    while True:
        file = FileIO(os.open(unfinished, _OPEN, 0o644), "r+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(file, unfinished):
                return file
            file.close()  # its writer has just given it its final name
        except BlockingIOError:
            file.close()
            raise StateLocked(
                f"{path} is being written by another process: wait for it, or choose another file with --warc"
            ) from None
        except BaseException:
            file.close()
            raise


def _is_at(file: FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.lstat(path))
    except FileNotFoundError:
        return False


def _free_name(path: Path) -> Path:
    """``name-2.warc.gz`` and so on, if the name itself is taken."""
    stem = path.name.removesuffix(".warc.gz")
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{stem}-{number}.warc.gz")
    return free
