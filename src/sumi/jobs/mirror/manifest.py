"""``_manifest.json``: every page of a mirror for programs, one entry per line, streamed.

Counts and lists come from the same records, so ``successful`` is the length of ``pages`` and so on. URLs
without a list (redirects, sitemaps, pages of other sites) are counted in ``outcomes``, which add up to
``discovered``.
"""

from collections.abc import AsyncIterator
from typing import Any, BinaryIO

import msgspec

from sumi.files.plain_text import escape_marks, iso_utc, one_line
from sumi.jobs.mirror.assets import stored_assets
from sumi.jobs.mirror.missing_pages import ENDINGS
from sumi.jobs.mirror.survey import FAILED, SKIPPED, Survey, stored_pages
from sumi.jobs.mirror.update import Changes
from sumi.model import Kind
from sumi.outcomes import MEANINGS, Outcome
from sumi.ports import FrontierStats, Ledger, UrlRecord

VERSION = "2.0.0"


class MirrorInfo(msgspec.Struct, frozen=True):
    """What the manifest and the contents say about the mirror as a whole."""

    home: str  # the folder below the output root with the job's own files
    source_url: str
    started: float


class _PageEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    url: str
    path: str | None
    size_bytes: int | None
    fetched_at: str | None
    sha256: str | None
    title: str | None
    outcome: str
    status: int | None = None
    content_type: str | None = None
    language: str | None = None
    description: str | None = None
    canonical: str | None = None
    robots: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    noindex: bool = False  # the page asks search engines not to list it
    robots_rule: str | None = None
    content_signal: str | None = None
    licenses: tuple[str, ...] = ()
    simhash: str | None = None
    raw_sha256: str | None = None
    first_captured: str | None = None
    changed_at: str | None = None
    fidelity: float | None = None
    shortfalls: tuple[str, ...] = ()
    left_out: dict[str, int] | None = None
    junk: float | None = None
    source: str | None = None  # the URL of the site's own Markdown, if the page was made from that


class _AssetEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    url: str
    path: str
    size_bytes: int | None
    sha256: str | None
    fetched_at: str | None
    outcome: str
    kind: Kind
    content_type: str | None = None
    referrer: str | None = None  # the page that it was first found on
    etag: str | None = None
    last_modified: str | None = None
    robots_rule: str | None = None


class _MissingEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    url: str
    outcome: str
    reason: str
    at: str | None
    referrer: str | None
    status: int | None = None
    kind: Kind = Kind.PAGE


class _GoneEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    url: str
    was_path: str
    at: str | None
    reason: str
    moved_to: str | None = None


async def write_manifest(
    file: BinaryIO, mirror: MirrorInfo, ledger: Ledger, found: Survey, stats: FrontierStats
) -> None:
    head = {
        "version": VERSION,
        "source_url": mirror.source_url,
        "sitemap_url": found.sitemap,
        "crawl_started": iso_utc(mirror.started),
        "crawl_completed": _completed(found, stats, mirror.started),
        "total_pages": found.pages + found.failed + found.skipped,
        "successful": found.pages,
        "failed": found.failed,
        "skipped": found.skipped,
        "outcomes": outcome_counts(stats),
        "discovered": stats.known,
        "last_update": _update_head(found.changes),
    }
    file.write(b"{\n")
    file.writelines(b'"%s": %s,\n' % (key.encode(), _json(value)) for key, value in head.items())
    await _write_list(file, "pages", (_page(record, mirror.home) async for record in stored_pages(ledger)))
    file.write(b",\n")
    await _write_list(file, "failed_pages", (_missing(record) async for record in ledger.records(FAILED)))
    file.write(b",\n")
    await _write_list(file, "skipped_pages", (_missing(record) async for record in ledger.records(SKIPPED)))
    file.write(b",\n")
    await _write_list(file, "assets", (_asset(r, mirror.home) async for r in _assets_of(ledger, found)))
    file.write(b",\n")
    await _write_list(file, "gone_pages", (_gone(page, mirror.home) async for page in _gone_pages(ledger)))
    file.write(b"\n}\n")


def _update_head(changes: Changes | None) -> dict[str, Any] | None:
    if changes is None:
        return None
    return {**msgspec.to_builtins(changes), "since": iso_utc(changes.since)}


def outcome_counts(stats: FrontierStats) -> dict[str, int]:
    """By name, in the order of the table of outcomes; with ``pending`` they add up to all known URLs."""
    counts = {outcome.value: stats.outcomes.get(outcome, 0) for outcome in Outcome}
    counts[Outcome.PENDING.value] = stats.pending
    return {name: number for name, number in counts.items() if number}


def relative_to_home(path: str, home: str) -> str:
    """A path below the output root, relative to the job's home folder."""
    inside = path.removeprefix(f"{home}/")
    return inside if inside != path else f"../{path}"


def _completed(found: Survey, stats: FrontierStats, started: float) -> str | None:
    """The time of the last settlement, not of this call: finishing twice writes the same manifest twice."""
    if stats.pending:
        return None
    return iso_utc(started if found.last_settled is None else found.last_settled)


async def _write_list(file: BinaryIO, key: str, entries: AsyncIterator[msgspec.Struct]) -> None:
    file.write(b'"%s": [' % key.encode())
    separator = b"\n"
    async for entry in entries:
        file.write(separator + _json(entry))
        separator = b",\n"
    file.write(b"\n]")


def _page(record: UrlRecord, home: str) -> _PageEntry:
    facts = record.facts
    return _PageEntry(
        url=one_line(record.url),
        path=None if facts.path is None else relative_to_home(facts.path, home),
        size_bytes=facts.size,
        fetched_at=None if facts.fetched_at is None else iso_utc(facts.fetched_at),
        sha256=facts.sha256,
        title=_clean(facts.title),
        outcome=record.outcome.value,
        status=facts.status,
        content_type=_clean(facts.content_type),
        language=_clean(facts.language),
        description=_clean(facts.description),
        canonical=_clean(facts.canonical),
        robots=_clean(facts.robots_meta),
        etag=_clean(facts.etag),
        last_modified=_clean(facts.last_modified),
        noindex="noindex" in (facts.robots_meta or "").lower(),
        robots_rule=_clean(facts.robots_rule),
        content_signal=_clean(facts.content_signal),
        licenses=tuple(map(one_line, facts.licenses)),
        simhash=facts.simhash,
        fidelity=facts.fidelity,
        shortfalls=facts.shortfalls,
        left_out=facts.left_out,
        junk=facts.junk,
        source=_clean(facts.source),
        raw_sha256=facts.raw,
        first_captured=None if facts.first_captured is None else iso_utc(facts.first_captured),
        changed_at=None if facts.changed_at is None else iso_utc(facts.changed_at),
    )


def _asset(record: UrlRecord, home: str) -> _AssetEntry:
    facts = record.facts
    return _AssetEntry(
        url=one_line(record.url),
        path=relative_to_home(facts.path or "", home),
        size_bytes=facts.size,
        sha256=facts.sha256,
        fetched_at=None if facts.fetched_at is None else iso_utc(facts.fetched_at),
        outcome=record.outcome.value,
        kind=record.kind,
        content_type=_clean(facts.content_type),
        referrer=_clean(record.referrer),
        etag=_clean(facts.etag),
        last_modified=_clean(facts.last_modified),
        robots_rule=_clean(facts.robots_rule),
    )


async def _assets_of(ledger: Ledger, found: Survey) -> AsyncIterator[UrlRecord]:
    if found.assets:  # most mirrors have none, and reading the ledger is slow
        async for record in stored_assets(ledger):
            yield record


async def _gone_pages(ledger: Ledger) -> AsyncIterator[UrlRecord]:
    async for record in ledger.records(ENDINGS):
        if record.facts.was_path is not None:
            yield record


def _gone(record: UrlRecord, home: str) -> _GoneEntry:
    facts = record.facts
    return _GoneEntry(
        url=one_line(record.url),
        was_path=relative_to_home(facts.was_path or "", home),
        at=None if record.at is None else iso_utc(record.at),
        reason=one_line(record.rule),
        moved_to=_clean(facts.duplicate_of or facts.location),
    )


def _missing(record: UrlRecord) -> _MissingEntry:
    return _MissingEntry(
        url=one_line(record.url),
        outcome=record.outcome.value,
        reason=one_line(record.rule) or MEANINGS[record.outcome].meaning,
        at=None if record.at is None else iso_utc(record.at),
        referrer=_clean(record.referrer),
        status=record.facts.status,
        kind=record.kind,
    )


def _clean(text: str | None) -> str | None:
    return None if text is None else one_line(text)


def _json(value: Any) -> bytes:
    return escape_marks(msgspec.json.encode(value).decode()).encode()
