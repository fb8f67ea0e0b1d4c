"""``--replay``: answers come from web archives, and nothing is requested over the network.

Of several captures of a URL the last one counts. What is not archived ends as ``not_archived``; a robots.txt
that is not archived is taken for absent, because archives often leave it out.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from sumi.fetch.decode import content_codings, undo_codings
from sumi.fetch.headers import Fields, all_values, parse_fields, status_of, version_of
from sumi.files.warc_reader import Archive, BadRecord, Record
from sumi.model import Request, Response, Timing
from sumi.outcomes import Outcome, Trouble, Verdict
from sumi.policy import FetchLimits, Preset
from sumi.urls import normalize, split

_NOT_ARCHIVED: Final = Verdict(Outcome.NOT_ARCHIVED, "not in the archive")
_DAMAGED: Final = Verdict(Outcome.BAD_HTTP, "its record in the archive is damaged")
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_OK: Final = 200
_NO_ROBOTS: Final = 404
_MOST_BAD: Final = 20  # named; the rest is counted
_PAGE_TYPES: Final = ("text/html", "application/xhtml+xml", "text/markdown", "text/plain")


class _Capture(NamedTuple):
    record: Record  # without the start of its content, of which there are many
    status: int
    media: str


class ReplayFetcher:
    """Implements the ``Fetcher`` port. Reads the archives once, to know where everything is."""

    def __init__(self, paths: Sequence[Path], limits: FetchLimits) -> None:
        self._limits = limits
        self._archive = Archive(list(paths))
        self._captures: dict[str, _Capture] = {}
        self._others: Counter[str] = Counter()  # records that are not replayed, by kind
        self._truncated = 0
        self._bad: list[BadRecord] = []
        self._bad_count = 0
        try:
            self._read()
        except BaseException:
            self._archive.close()
            raise

    async def fetch(self, request: Request) -> Response | Trouble:
        return self.answer(request)

    def answer(self, request: Request) -> Response | Trouble:
        name = normalize(request.url, Preset.MIRROR) or request.url
        capture = self._captures.get(name)
        if capture is None and split(request.url).path == "/robots.txt":
            return Response(request.url, _NO_ROBOTS, (), b"", Timing(0.0, 0.0, 0.0))
        if capture is None:
            return Trouble(_NOT_ARCHIVED, Timing(0.0, 0.0, 0.0))
        record = capture.record
        timing = Timing(record.date, record.date, record.date)
        content = self._archive.content(record, self._limits.wire_bytes + self._limits.header_bytes)
        if content is None:
            return Trouble(_DAMAGED, timing)
        answer = self._answer(request, record, content, timing)
        return Trouble(answer, timing) if isinstance(answer, Verdict) else answer

    async def aclose(self) -> None:
        self.close()

    def close(self) -> None:
        self._archive.close()

    def pages(self) -> Iterator[str]:
        """The URLs of everything that looks like a page and was there."""
        yield from (url for url, _ in self.addresses())

    def addresses(self) -> Iterator[tuple[str, str]]:
        """The same, each with the URL as the archive spells it."""
        for url, capture in self._captures.items():
            if capture.status == _OK and capture.media in _PAGE_TYPES:
                yield url, capture.record.uri

    def notes(self) -> tuple[str, ...]:
        """What was not replayed."""
        notes = []
        if self._truncated:
            notes.append(f"{self._truncated:,} archived records were cut by the program that made them")
        revisits = self._others["revisit"]
        if revisits:
            notes.append(f"{revisits:,} revisits: what they confirm counts, where it is archived")
        if self._bad_count:
            named = "; ".join(f"{bad.path.name} at byte {bad.offset:,}: {bad.why}" for bad in self._bad)
            more = "" if self._bad_count <= _MOST_BAD else f"; and {self._bad_count - _MOST_BAD:,} more"
            places = "damaged place was" if self._bad_count == 1 else "damaged places were"
            notes.append(f"{self._bad_count:,} {places} passed over: {named}{more}")
        return tuple(notes)

    def _read(self) -> None:
        for record in self._archive:
            if isinstance(record, BadRecord):
                self._bad_count += 1
                if len(self._bad) < _MOST_BAD:
                    self._bad.append(record)
            elif record.kind in ("response", "resource"):
                self._take(record)
            else:
                self._others[record.kind] += 1

    def _take(self, record: Record) -> None:
        name = normalize(record.uri, Preset.MIRROR)
        if name is None or (record.kind == "response" and not record.start.startswith(b"HTTP/")):
            self._others["foreign"] += 1
            return
        self._truncated += bool(record.truncated)
        before = self._captures.get(name)
        if before is None or before.record.date <= record.date:
            self._captures[name] = _Capture(_without_start(record), *status_and_type(record))

    def _answer(self, request: Request, record: Record, content: bytes, timing: Timing) -> Response | Verdict:
        if record.kind == "resource":
            return Response(request.url, _OK, (("content-type", record.content_type),), content, timing, "")
        end = _HEAD_END.search(content)
        lines = content[: end.start() if end else len(content)].splitlines(keepends=True)
        body = content[end.end() :] if end else b""
        fields = parse_fields(lines[1:])
        body = _joined(body, fields)
        decoded = undo_codings(
            body, content_codings(all_values(fields, "content-encoding")), self._limits, request.max_bytes
        )
        if isinstance(decoded, Verdict):
            return decoded
        return Response(
            request.url,
            status_of(lines[0]),
            fields,
            decoded,
            timing,
            http_version=version_of(lines[0]),
            wire_bytes=len(body),
        )


def _without_start(record: Record) -> Record:
    return msgspec.structs.replace(record, start=b"", payload_digest="")


def status_and_type(record: Record) -> tuple[int, str]:
    """The record is a response or a resource. The type has no parameters and is in lower case."""
    if record.kind == "resource":
        return _OK, record.content_type.partition(";")[0].strip().lower()
    lines = _HEAD_END.split(record.start, maxsplit=1)[0].splitlines(keepends=True)
    media = next(iter(all_values(parse_fields(lines[1:]), "content-type")), "")
    return status_of(lines[0]), media.partition(";")[0].strip().lower()


def _joined(body: bytes, fields: Fields) -> bytes:
    """The chunks of a body, if it has any: many programs keep them, and some only the header."""
    if not any("chunked" in value.lower() for value in all_values(fields, "transfer-encoding")):
        return body
    parts, rest = [], body
    while rest:
        line, newline, rest = rest.partition(b"\n")
        try:
            size = int(line.split(b";")[0].strip(), 16)
        except ValueError:
            return body
        if not newline or size < 0 or size > len(rest):
            return body
        if size == 0:
            break
        parts.append(rest[:size])
        rest = rest[size:].removeprefix(b"\r").removeprefix(b"\n")
    return b"".join(parts)
