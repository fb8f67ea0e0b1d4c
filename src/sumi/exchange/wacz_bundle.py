"""The ZIP file of a WACZ: its entries with their hashes, its index and the description of it all.

Archives are stored as they are, so that a viewer reads a record out of the middle of the file.
"""

import gzip
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from typing import IO, BinaryIO, Final, NamedTuple
from urllib.parse import urlsplit

import apsw

from sumi import __version__
from sumi.files.plain_text import iso_utc

WACZ_VERSION: Final = "1.1.1"
_BLOCK_LINES: Final = 3000
_INDEX: Final = "index.cdx.gz"
_WWW: Final = re.compile(r"^(https?://)www\d*\.", re.IGNORECASE)


class Entry:
    """An open entry of the ZIP file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = sha256()
        self.size = 0

    def write(self, data: bytes | memoryview) -> None:
        self._file.write(data)
        self.digest.update(data)
        self.size += len(data)


class Capture(NamedTuple):
    """A record as the index names it."""

    url: str
    at: float
    media: str  # "warc/revisit" for a revisit
    status: int
    digest: str
    filename: str
    offset: int
    length: int


class Bundle:
    def __init__(self, file: BinaryIO, moment: float) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
        self._when = datetime.fromtimestamp(max(moment, 315532800.0), UTC).timetuple()[:6]
        self._moment = moment
        self._resources: list[dict[str, object]] = []
        self._lines = apsw.Connection("")
        self._lines.pragma("journal_mode", "OFF")
        self._lines.execute("CREATE TABLE line(key TEXT, text TEXT); BEGIN")

    def close(self) -> None:
        self._lines.close()
        self._zip.close()

    @contextmanager
    def entry(self, path: str, *, packed: bool = False) -> Iterator[Entry]:
        """Less than 2 GiB, of whatever size. ``packed``: it is read as a whole, so it may be compressed."""
        info = zipfile.ZipInfo(path, self._when)
        info.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
        info.external_attr = 0o644 << 16
        # Without the fields of large files, which viewers look for only where the directory has them, too.
        with self._zip.open(info, "w") as file:
            written = Entry(file)
            yield written
        self._resources.append(
            {
                "name": path.rpartition("/")[2].lower(),
                "path": path,
                "hash": f"sha256:{written.digest.hexdigest()}",
                "bytes": written.size,
            }
        )

    def add_capture(self, capture: Capture) -> None:
        stamp = datetime.fromtimestamp(capture.at, UTC).strftime("%Y%m%d%H%M%S")
        said = {
            "url": capture.url,
            "mime": capture.media or "unk",
            "status": str(capture.status),
            "digest": capture.digest,
            "length": str(capture.length),
            "offset": str(capture.offset),
            "filename": capture.filename,
        }
        if not capture.status:
            del said["status"]
        self._lines.execute(
            "INSERT INTO line VALUES (?, ?)", (f"{surt(capture.url)} {stamp}", json.dumps(said))
        )

    def write_index(self) -> None:
        """Sorted and compressed in blocks; the second file says where each block begins."""
        where: list[str] = [f"!meta 0 {json.dumps({'format': 'cdxj-gzip-1.0', 'filename': _INDEX})}"]
        with self.entry(f"indexes/{_INDEX}") as index:
            for key, block in self._blocks():
                packed = gzip.compress(block, 6, mtime=0)
                place = {"offset": index.size, "length": len(packed), "filename": _INDEX}
                place["digest"] = f"sha256:{sha256(packed).hexdigest()}"
                where.append(f"{key} {json.dumps(place)}")
                index.write(packed)
        with self.entry("indexes/index.idx") as places:
            places.write(("\n".join(where) + "\n").encode())

    def _blocks(self) -> Iterator[tuple[str, bytes]]:
        rows = self._lines.execute("SELECT key, text FROM line ORDER BY key, text")
        while block := list(islice(rows, _BLOCK_LINES)):
            yield (
                str(block[0][0]),
                "".join(f"{key} {text}\n" for key, text in block).encode("utf-8", "replace"),
            )

    def write_description(self, title: str, main_url: str, main_at: float) -> None:
        package = {
            "profile": "data-package",
            "wacz_version": WACZ_VERSION,
            "title": title,
            "software": f"sumi/{__version__}",
            "created": iso_utc(self._moment),
            "mainPageUrl": main_url,
            "mainPageDate": iso_utc(main_at),
            "resources": self._resources,
        }
        text = json.dumps(package, indent=2).encode()
        digest = {"path": "datapackage.json", "hash": f"sha256:{sha256(text).hexdigest()}"}
        for name, data in (
            ("datapackage.json", text),
            ("datapackage-digest.json", json.dumps(digest).encode()),
        ):
            self._zip.writestr(zipfile.ZipInfo(name, self._when), data)


def surt(url: str) -> str:
    """The key under which an index of web archives sorts a URL: ``org,example,docs)/guide?a=1``."""
    try:
        parts = urlsplit(_WWW.sub(r"\1", url).lower())
        port = parts.port
    except ValueError:
        return url
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return url
    host = ",".join(reversed(parts.hostname.split(".")))
    usual = {"http": 80, "https": 443}[parts.scheme]
    place = host if port in (None, usual) else f"{host}:{port}"
    query = f"?{'&'.join(sorted(parts.query.split('&')))}" if parts.query else ""
    return f"{place}){parts.path or '/'}{query}"
