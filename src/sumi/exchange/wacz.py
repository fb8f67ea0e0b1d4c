"""WACZ: a web archive that a browser replays, of stored jobs or of WARC files.

Jobs keep bodies and not the messages around them, so each page becomes a ``resource`` record with its type;
of WARC files every record is taken over as it is.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from sumi.catalogue.pages import Form
from sumi.errors import UsageError
from sumi.exchange.listing import Listed
from sumi.exchange.material import Material, digested
from sumi.exchange.result import new_file
from sumi.exchange.wacz_bundle import Bundle, Capture, Entry
from sumi.fetch.replay import ReplayFetcher, status_and_type
from sumi.files.plain_text import iso_utc
from sumi.files.warc_reader import Archive, BadRecord, Record
from sumi.files.warc_records import payload_digest, resource_record, software_record
from sumi.model import Request, Response
from sumi.policy import FetchLimits

SEGMENT_BYTES: Final = 1024**3
_MOST_TEXT: Final = 256 * 1024  # characters of one page in the list of pages
_ALL_TEXT: Final = 1024**3  # bytes of that list; pages beyond come without their text
_LINK: Final = re.compile(r"(!?)\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")
_INDEXED: Final = ("response", "resource", "revisit")
_STEP: Final = 1024 * 1024


class _Page(NamedTuple):
    url: str
    at: float
    title: str
    text: str


def write_wacz(material: Material, target: Path) -> int:
    with new_file(target) as file:
        bundle = Bundle(file, material.moment)
        try:
            written = _write_bodies(bundle, material)
            if not written:
                raise UsageError(
                    "none of these pages was kept as the server sent it: mirror with --raw, or run with "
                    "--warc and export the WARC file"
                )
            bundle.write_index()
            first = _write_pages(bundle, _kept_pages(material))
            bundle.write_description(material.title(), first.url, first.at)
        finally:
            bundle.close()
    return written


def _write_bodies(bundle: Bundle, material: Material) -> int:
    """Returns how many pages there are; images and files come with them."""
    written, segment = 0, 1
    bodies = _bodies(material)
    more = next(bodies, None)
    while more is not None:
        name = f"data-{segment}.warc.gz"
        with bundle.entry(f"archive/{name}") as entry:
            entry.write(software_record(material.moment))
            while more is not None and entry.size < SEGMENT_BYTES:
                _write_body(bundle, entry, name, *more)
                written += more[0].page.form is not Form.FILE
                more = next(bodies, None)
        segment += 1
    return written


def _bodies(material: Material) -> Iterator[tuple[Listed, bytes]]:
    for listing in (material.listing.pages(), material.listing.files()):
        for listed in listing:
            material.tick()
            body = material.body(listed)
            if body is None:
                material.miss_body(listed)
            else:
                yield listed, body


def _write_body(bundle: Bundle, entry: Entry, name: str, listed: Listed, body: bytes) -> None:
    page = listed.page
    start, kind = entry.size, page.content_type or "text/html"
    url = page.address or page.url
    entry.write(resource_record(url, page.fetched_at, kind, body))
    media = kind.partition(";")[0].strip().lower()
    length = entry.size - start
    capture = Capture(url, page.fetched_at, media, 200, payload_digest(body), name, start, length)
    bundle.add_capture(capture)


def _kept_pages(material: Material) -> Iterator[_Page]:
    for listed, text in material.texts(material.listing.pages()):
        page = listed.page
        if page.body:
            yield _Page(page.address or page.url, page.fetched_at, page.title, text)


def _write_pages(bundle: Bundle, pages: Iterator[_Page]) -> _Page:
    """Returns the first, which a viewer opens."""
    first: _Page | None = None
    with bundle.entry("pages/pages.jsonl", packed=True) as entry:
        head = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages", "hasText": True}
        entry.write(json.dumps(head).encode() + b"\n")
        for number, page in enumerate(pages, 1):
            first = first or page
            line = {
                "id": f"page-{number}",
                "url": page.url,
                "ts": iso_utc(page.at),
                "title": page.title or page.url,
            }
            if entry.size < _ALL_TEXT:
                line["text"] = _words(page.text)[:_MOST_TEXT]
            entry.write(json.dumps(line).encode() + b"\n")
    return first or _Page("", 0.0, "", "")


def _words(markdown: str) -> str:
    """Without the targets of links, which are not worth searching."""
    return _LINK.sub(r"\2", markdown)


# ── of WARC files ──────────────────────────────────────────────────────────────────────────────────────────


def wacz_of_archives(
    paths: list[Path], target: Path, moment: float, tick: Callable[[], None], title: str
) -> tuple[int, list[str]]:
    """The number of pages, and what was left out, in words."""
    fetcher = ReplayFetcher(paths, FetchLimits())
    try:
        with new_file(target) as file:
            bundle = Bundle(file, moment)
            try:
                notes = _copy_records(bundle, paths, tick)
                bundle.write_index()
                counted = _Counted(_archived_pages(fetcher, tick))
                first = _write_pages(bundle, iter(counted))
                bundle.write_description(title, first.url, first.at)
            finally:
                bundle.close()
    finally:
        fetcher.close()
    return counted.count, notes


class _Counted:
    def __init__(self, pages: Iterator[_Page]) -> None:
        self._pages = pages
        self.count = 0

    def __iter__(self) -> Iterator[_Page]:
        for page in self._pages:
            self.count += 1
            yield page


def _copy_records(bundle: Bundle, paths: list[Path], tick: Callable[[], None]) -> list[str]:
    """Every record that can be read, compressed by itself."""
    archive, notes, segment = Archive(paths), list[str](), 1
    try:
        records = iter(archive)
        more = next(records, None)
        while more is not None:
            name = f"data-{segment}.warc.gz"
            with bundle.entry(f"archive/{name}") as entry:
                while more is not None and entry.size < SEGMENT_BYTES:
                    tick()
                    if isinstance(more, BadRecord):
                        notes.append(f"{more.path.name} at byte {more.offset:,}: {more.why}")
                    else:
                        _copy(bundle, entry, name, archive, more)
                    more = next(records, None)
            segment += 1
    finally:
        archive.close()
    return notes


def _copy(bundle: Bundle, entry: Entry, name: str, archive: Archive, record: Record) -> None:
    start = entry.size
    for piece in archive.stored(record):
        entry.write(piece)
    if record.kind not in _INDEXED or not record.uri:
        return
    status, media = status_and_type(record)
    if record.kind == "revisit":
        media = "warc/revisit"
    bundle.add_capture(
        Capture(
            record.uri, record.date, media, status, record.payload_digest, name, start, entry.size - start
        )
    )


def _archived_pages(fetcher: ReplayFetcher, tick: Callable[[], None]) -> Iterator[_Page]:
    """The last capture of each URL."""
    for url, address in fetcher.addresses():
        tick()
        answer = fetcher.answer(Request(url))
        if not isinstance(answer, Response):
            continue
        found = digested(url, answer.body, answer.header("content-type") or "")
        if found is not None:
            yield _Page(address, answer.timing.finished, found.title or "", found.markdown or "")
