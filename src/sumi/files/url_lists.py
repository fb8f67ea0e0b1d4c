"""Lists of URLs that a user has: lines, a column of CSV or JSON lines, Markdown such as llms.txt, sitemaps,
feeds, CDX files, and web archives. Plain or gzipped; recognized by name and first bytes.

Lists come from elsewhere, so nothing in them is trusted: a line that is too long or no address is passed over
and counted.
"""

import csv
import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple, TypeAlias

import msgspec

from sumi.errors import UsageError
from sumi.files.warc_reader import Archive, Record
from sumi.parse.sitemap.reader import read_sitemap
from sumi.policy import SITEMAP_BYTES, Preset
from sumi.urls import PRESETS, Spelled, spelled

_Found: TypeAlias = tuple[int, str]

LINE_BYTES: Final = 64 * 1024
_FIELDS: Final = ("url", "uri", "loc", "link", "href", "address", "requested_url")
_PAGE_TYPES: Final = ("text/html", "application/xhtml+xml", "text/markdown", "text/plain")
_UNKNOWN: Final = ("-", "", "warc/revisit", "unk")
_LINK: Final = re.compile(r"\[[^\]\n]*\]\(<?(https?://[^\s)>]+)")
_ARCHIVED_PAGE: Final = re.compile(
    rb"HTTP/[\d.]+ 200\b.*?^content-type:[ \t]*([a-z+/]+)", re.IGNORECASE | re.DOTALL | re.MULTILINE
)
_HOST: Final = re.compile(r"(?:[\w-]{1,63}\.)+[^\W\d_][\w-]{0,62}")
_NOT_LINES: Final = (".csv", ".tsv", ".cdx", ".cdxj", ".md", "llms.txt", "llms-full.txt")
_GZIP: Final = b"\x1f\x8b"
_HEAD: Final = 4096
_BLANK: Final = b"\xef\xbb\xbf \t\r\n"
_USUAL_CDX: Final = "NbamskrMSVg"


class Entry(NamedTuple):
    """A URL of a list, and its place there: the line, or the number of the record."""

    url: Spelled
    place: int


class UrlList:
    """``shown``: its name for users. ``column``: the column or field that has the URLs, if that has none of
    the usual names. ``bare``: names of hosts stand for their home pages. ``passed_over`` counts what is no
    address, once the list has been read."""

    def __init__(self, path: Path, shown: str = "", column: str = "", *, bare: bool = False) -> None:
        self.path = path
        self.shown = shown or path.name
        self.passed_over = 0
        self._bare = bare
        self._fields = (column.lower(),) if column else _FIELDS

    def __iter__(self) -> Iterator[Entry]:
        self.passed_over = 0
        try:
            for place, text in self._texts():
                url = spelled(self._whole(text.strip()), PRESETS[Preset.MIRROR])
                if url is None:
                    self.passed_over += 1
                else:
                    yield Entry(url, place)
        except (OSError, EOFError, zlib.error, csv.Error) as error:
            raise UsageError(f"the list {self.shown} cannot be read: {error}") from None

    @property
    def is_lines(self) -> bool:
        """A URL on each line, and nothing else; so is what cannot be read."""
        if self.shown.lower().endswith(_NOT_LINES):
            return False
        try:
            with self.path.open("rb") as file:
                head = file.read(_HEAD).lstrip(_BLANK)
        except OSError:
            return True
        return not head.startswith((_GZIP, b"WARC/", b"PK\x03\x04", b"<", b"{", b"CDX "))

    def _whole(self, text: str) -> str:
        return f"https://{text}/" if self._bare and _HOST.fullmatch(text) else text

    def _texts(self) -> Iterator[_Found]:
        with self.path.open("rb") as plain:
            packed = plain.read(len(_GZIP)) == _GZIP
        with gzip.open(self.path) if packed else self.path.open("rb") as file:
            head = file.peek(_HEAD)[:_HEAD].lstrip(_BLANK)
            if head.startswith((b"WARC/", b"PK\x03\x04")):
                return _of_archive(self.path)
            if head.startswith(b"<"):
                return _of_sitemap(file.read(SITEMAP_BYTES), self.shown)
        return self._of_lines(packed=packed, head=head)

    def _of_lines(self, *, packed: bool, head: bytes) -> Iterator[_Found]:
        name = self.shown.lower().removesuffix(".gz")
        with gzip.open(self.path) if packed else self.path.open("rb") as file:
            lines = _lines(file)
            if name.endswith((".csv", ".tsv")):
                yield from self._of_table(lines, "\t" if name.endswith(".tsv") else ",")
            elif head.startswith(b"CDX ") or name.endswith((".cdx", ".cdxj")):
                yield from _of_cdx(lines)
            elif head.startswith(b"{"):
                yield from self._of_objects(lines)
            else:
                yield from _of_text(lines)

    def _of_table(self, lines: Iterator[str], delimiter: str) -> Iterator[_Found]:
        rows = csv.reader(lines, delimiter=delimiter)
        names = [name.strip().lower() for name in next(rows, [])]
        column = next((names.index(field) for field in self._fields if field in names), None)
        if column is None:
            raise UsageError(
                f"the list {self.shown} has no column {' or '.join(self._fields)}: name yours with "
                "--urls-column"
            )
        for row in rows:
            yield rows.line_num, row[column] if column < len(row) else ""

    def _of_objects(self, lines: Iterator[str]) -> Iterator[_Found]:
        for place, line in enumerate(lines, 1):
            fields = {name.lower(): value for name, value in _object(line).items()}
            found = next((fields[field] for field in self._fields if field in fields), "")
            yield place, found if isinstance(found, str) else ""


def _lines(file: IO[bytes] | gzip.GzipFile) -> Iterator[str]:
    """A line that is too long is empty, so that places still count."""
    while line := file.readline(LINE_BYTES):
        rest = line
        while len(rest) == LINE_BYTES and not rest.endswith(b"\n"):
            rest = file.readline(LINE_BYTES)
        yield "" if rest is not line else line.decode("utf-8-sig", "replace").rstrip("\r\n")


def _object(line: str) -> dict[str, object]:
    try:
        return msgspec.json.decode(line, type=dict[str, object])
    except msgspec.MsgspecError:
        return {}


def _of_text(lines: Iterator[str]) -> Iterator[_Found]:
    for place, line in enumerate(lines, 1):
        links = _LINK.findall(line)
        if links:
            yield from ((place, link) for link in links)
        elif line.strip() and not line.lstrip().startswith(("#", ">")):
            yield place, line


def _of_cdx(lines: Iterator[str]) -> Iterator[_Found]:
    """Pages that were there. A line of CDXJ ends in JSON; the first line of others names their fields."""
    letters = list(_USUAL_CDX)
    for place, line in enumerate(lines, 1):
        if line.lstrip().startswith("CDX "):
            letters = line.split()[1:]
            continue
        if "{" in line:
            fields = _object(line[line.index("{") :])
            url, media, status = (str(fields.get(name, "")) for name in ("url", "mime", "status"))
        else:
            by_letter = dict(zip(letters, line.split(), strict=False))
            url, media, status = (by_letter.get(letter, "") for letter in "ams")
        if (media in _PAGE_TYPES and status in ("200", *_UNKNOWN)) or media in _UNKNOWN:
            yield place, url


def _of_sitemap(body: bytes, shown: str) -> Iterator[_Found]:
    found = read_sitemap(body, "")
    if not found.entries:
        raise UsageError(f"the list {shown} names no page{': ' if found.problem else ''}{found.problem}")
    yield from ((place, entry.url_raw) for place, entry in enumerate(found.entries, 1))


def _of_archive(path: Path) -> Iterator[_Found]:
    archive = Archive([path])
    try:
        for place, record in enumerate(archive, 1):
            if isinstance(record, Record) and record.kind == "response" and _is_page(record):
                yield place, record.uri
    finally:
        archive.close()


def _is_page(record: Record) -> bool:
    found = _ARCHIVED_PAGE.match(record.start)
    return found is not None and found[1].decode().lower() in _PAGE_TYPES
