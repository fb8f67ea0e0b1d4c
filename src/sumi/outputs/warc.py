"""A WARC 1.1 file, written as pages arrive: a record for every answer, each gzipped by itself.

An answer is a ``response`` record. Of a page that was taken over from another job only the body and a few
headers are here: that is a ``resource`` record, for an answer would have to be made up.

The body is stored as it was decoded, so the headers that spoke of its transfer are left out. The file is
called ``….open`` until it is whole; what a kill left is cut back to its last whole record and kept. A record
has left this process when ``add`` returns: its page is settled after that, and then never asked for again.
"""

import base64
import gzip
import hashlib
import os
import zlib
from io import FileIO
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

from sumi import __version__
from sumi.model import Response
from sumi.outputs.plain_text import iso_utc
from sumi.outputs.safe_files import explained

OPEN_SUFFIX: Final = ".open"
# They describe the bytes on the wire, which are not what is stored.
_OF_THE_TRANSFER: Final = frozenset({"content-encoding", "transfer-encoding", "content-length", "connection"})
_LEVEL: Final = 6
_BLOCK: Final = 256 * 1024


class WarcFile:
    """``path`` is what the file is called in the end; a file of that name is never touched."""

    def __init__(self, path: Path, now: float) -> None:
        self._path = path
        self._open_path = path.with_name(path.name + OPEN_SUFFIX)
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            if self._open_path.exists():
                _rescue(self._open_path, _free_name(path))
            self._file = _create(self._open_path)
        self._write(_record("warcinfo", now, b"application/warc-fields", _software(), {}))

    def add(self, response: Response) -> None:
        if response.http_version:
            self._add_answer(response)
        else:
            self._add_body(response)

    def _add_body(self, response: Response) -> None:
        # Others may write spools, too: what they call a type stays within its line.
        kind = " ".join((response.header("content-type") or "application/octet-stream").split())
        fields = {"WARC-Target-URI": response.url, "WARC-Payload-Digest": _digest(response.body)}
        self._write(
            _record(
                "resource", response.timing.finished, kind.encode(errors="replace"), response.body, fields
            )
        )

    def _add_answer(self, response: Response) -> None:
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
        """Whole: it gets its name."""
        self.sync()
        self._file.close()
        with explained(self._path):
            self._open_path.rename(_free_name(self._path))

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
    """SHA-1 is what readers of the format look for; nothing here depends on its strength."""
    return "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def _create(path: Path) -> FileIO:
    """Unbuffered: what waits in a buffer is lost with the process."""
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644), "wb", buffering=0)


def _rescue(unfinished: Path, path: Path) -> None:
    """Cut a file that a kill left back to its last whole record, and give it its name."""
    with unfinished.open("r+b") as file:
        file.truncate(_whole_bytes(file))
        os.fsync(file.fileno())
    unfinished.rename(path)


def _whole_bytes(file: BinaryIO) -> int:
    """How far the gzip members are complete; memory does not depend on what is in them."""
    whole = position = 0
    inflate = zlib.decompressobj(wbits=31)
    while data := file.read(_BLOCK):
        while data:
            try:
                inflate.decompress(data, _BLOCK)
            except zlib.error:
                return whole
            rest = inflate.unconsumed_tail or inflate.unused_data
            position += len(data) - len(rest)
            if inflate.eof:
                whole = position
                inflate = zlib.decompressobj(wbits=31)
            data = rest
    return whole


def _free_name(path: Path) -> Path:
    """``name-2.warc.gz`` and so on, where the name itself is taken."""
    stem = path.name.removesuffix(".warc.gz")
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{stem}-{number}.warc.gz")
    return free
