"""A WARC 1.1 file, written as pages arrive: a record for every response, each gzipped by itself.

A response that was just fetched is a ``response`` record. A page that another job fetched has only its body
and a few headers: it becomes a ``resource`` record, because a response would have to be made up.

Bodies are stored decompressed, without the headers about their transfer. The file is called ``….open`` until
it is complete; after a kill it is cut back to its last complete record and kept. When ``add`` returns, the
record has left this process: only then is its page settled, and never requested again.
"""

import base64
import fcntl
import gzip
import hashlib
import os
import zlib
from io import FileIO
from pathlib import Path
from typing import Final
from uuid import uuid4

from sumi import __version__
from sumi.errors import StateLocked
from sumi.files.disk_errors import explained
from sumi.files.plain_text import iso_utc
from sumi.model import Response

OPEN_SUFFIX: Final = ".open"
# They describe the transfer, not what is stored.
_OF_THE_TRANSFER: Final = frozenset({"content-encoding", "transfer-encoding", "content-length", "connection"})
_OPEN: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_LEVEL: Final = 6
_BLOCK: Final = 256 * 1024


class WarcFile:
    """``path`` is the final name. An existing file of that name is never touched, nor one that another
    process is writing."""

    def __init__(self, path: Path, now: float) -> None:
        self._path = path
        self._open_path = path.with_name(path.name + OPEN_SUFFIX)
        self._has_responses = False
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = _create(self._open_path, path)
        self._write(_record("warcinfo", now, b"application/warc-fields", _software(), {}))

    def add(self, response: Response) -> None:
        self._has_responses = True
        if response.http_version:
            self._add_response(response)
        else:
            self._add_body(response)

    def _add_body(self, response: Response) -> None:
        # Other programs may write spools, too: a content type must not break out of its line.
        kind = " ".join((response.header("content-type") or "application/octet-stream").split())
        fields = {"WARC-Target-URI": response.url, "WARC-Payload-Digest": _digest(response.body)}
        self._write(
            _record(
                "resource", response.timing.finished, kind.encode(errors="replace"), response.body, fields
            )
        )

    def _add_response(self, response: Response) -> None:
        head = [f"HTTP/1.1 {response.status} \r\n"]
        kept = [(name, value) for name, value in response.headers if name not in _OF_THE_TRANSFER]
        head += [f"{name}: {value}\r\n" for name, value in (*kept, ("content-length", len(response.body)))]
        block = "".join(head).encode("latin-1", "replace") + b"\r\n" + response.body
        fields = {"WARC-Target-URI": response.url, "WARC-Payload-Digest": _digest(response.body)}
        if response.peer:
            fields["WARC-IP-Address"] = response.peer.rpartition(":")[0].strip("[]") or response.peer
        kind = b"application/http; msgtype=response"
        self._write(_record("response", response.timing.finished, kind, block, fields))

    def sync(self) -> None:
        with explained(self._open_path):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Give the file its final name, or remove it if it holds no response."""
        self.sync()
        with explained(self._path):
            if self._has_responses:
                self._open_path.rename(_free_name(self._path))
            else:
                self._open_path.unlink(missing_ok=True)
        self._file.close()  # and with it the lock

    def _write(self, record: bytes) -> None:
        member = memoryview(gzip.compress(record, _LEVEL, mtime=0))
        with explained(self._open_path):
            while member:  # one write, unless the disk takes less at a time
                member = member[self._file.write(member) :]


def _record(kind: str, at: float, content_type: bytes, block: bytes, fields: dict[str, str]) -> bytes:
    head = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid4()}>",
        "WARC-Date": iso_utc(at),
        "Content-Length": str(len(block)),
        "WARC-Block-Digest": _digest(block),
        **fields,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return (
        f"WARC/1.1\r\n{lines}Content-Type: ".encode("utf-8", "replace")
        + content_type
        + b"\r\n\r\n"
        + block
        + b"\r\n\r\n"
    )


def _software() -> bytes:
    return f"software: sumi/{__version__}\r\nformat: WARC File Format 1.1\r\n".encode()


def _digest(data: bytes) -> str:
    """SHA-1 is what readers of the format expect; nothing here depends on its strength."""
    return "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def _create(unfinished: Path, path: Path) -> FileIO:
    """A new, locked file; what a kill left under its name is rescued first. Unbuffered, because a buffer is
    lost with the process."""
    while True:
        file = FileIO(os.open(unfinished, _OPEN, 0o644), "r+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not _is_at(file, unfinished):  # its writer has just given it its final name
                file.close()
            elif os.fstat(file.fileno()).st_size:
                _rescue(file, unfinished, _free_name(path))
                file.close()
            else:
                return file
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


def _rescue(file: FileIO, unfinished: Path, path: Path) -> None:
    """Cut what a kill left back to its last complete record, and give it its name if it holds a response."""
    records, whole = _whole_records(file)
    if records > 1:  # the first describes the program
        file.truncate(whole)
        os.fsync(file)
        unfinished.rename(path)
    else:
        unfinished.unlink(missing_ok=True)


def _whole_records(file: FileIO) -> tuple[int, int]:
    """The number of complete gzip members, and where the last one ends; in constant memory."""
    records = whole = position = 0
    inflate = zlib.decompressobj(wbits=31)
    while data := file.read(_BLOCK):
        while data:
            try:
                inflate.decompress(data, _BLOCK)
            except zlib.error:
                return records, whole
            rest = inflate.unconsumed_tail or inflate.unused_data
            position += len(data) - len(rest)
            if inflate.eof:
                records, whole = records + 1, position
                inflate = zlib.decompressobj(wbits=31)
            data = rest
    return records, whole


def _free_name(path: Path) -> Path:
    """``name-2.warc.gz`` and so on, if the name itself is taken."""
    stem = path.name.removesuffix(".warc.gz")
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{stem}-{number}.warc.gz")
    return free
