"""The contents of jobs that keep them in a store: whether all are there, and what nothing names any more."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from hashlib import sha256
from typing import Final, NamedTuple

from sumi.files.objects import Objects, StoredObject
from sumi.files.segments import NAME, SegmentReader, place_in
from sumi.jobs.mirror.assets import is_whole_asset
from sumi.jobs.mirror.markdown_page import is_whole
from sumi.jobs.mirror.settings import load_saved_settings
from sumi.ports import Ledger, Place, Snapshot, UrlRecord
from sumi.state.check import Finding, ledger_violations

# A segment is stored before the pages in it are settled, and a page may be in flight for long.
YOUNG_SECONDS: Final = 24 * 3600.0
_PROBE: Final = "probe-"


class Garbage(NamedTuple):
    segments: int
    bytes: int
    kept: int  # that nothing names either, but that are too young


async def stored_content_findings(store: Snapshot, address: str, *, deep: bool) -> AsyncIterator[Finding]:
    """Everything that is wrong with such a job. ``deep``: also read every page and compare its hash."""
    settings = await load_saved_settings(store)
    async for words in ledger_violations(store, settings.max_pages if settings else 0):
        yield Finding(words)
    objects = Objects(address)
    sizes = {each.name: each.size for each in await asyncio.to_thread(list, objects.list())}
    reader = SegmentReader(objects)
    async for record in store.records():
        words = next((words for place in _places(record) if (words := _missing(place, sizes))), "")
        if deep and not words and not await asyncio.to_thread(_is_as_recorded, record, reader):
            words = "its content is not what was recorded"
        if words:
            yield Finding(f"{record.url}: {words}", requeue=record.url)


async def collect_garbage(ledger: Ledger, address: str, *, dry_run: bool = False) -> Garbage:
    """Remove segments that no ending names. The caller keeps runs on this machine out."""
    objects = Objects(address)
    # Before the ledger is read: what is stored afterwards is not even looked at.
    found, now = await _listed(objects)
    named = {place[0] async for record in ledger.records() for place in _places(record)}
    unnamed = [each for each in found if each.name not in named]
    old = [each for each in unnamed if now - each.modified > YOUNG_SECONDS]
    if not dry_run:
        await asyncio.to_thread(objects.delete, [each.name for each in old])
    return Garbage(len(old), sum(each.size for each in old), len(unnamed) - len(old))


async def _listed(objects: Objects) -> tuple[list[StoredObject], float]:
    """The segments, and the time by the store's own clock: ours may be wrong."""
    probe = f"{_PROBE}{secrets.token_hex(8)}"
    await objects.put(probe, b"what time is it?")
    found = await asyncio.to_thread(list, objects.list())
    await asyncio.to_thread(objects.delete, [probe])
    now = max(each.modified for each in found if each.name == probe)
    return [each for each in found if NAME.fullmatch(each.name)], now


def _places(record: UrlRecord) -> list[Place]:
    facts = record.facts
    raw = facts.raw_at if facts.raw_at is not None and NAME.fullmatch(facts.raw_at[0]) else None
    return [place for place in (place_in(facts.path), raw) if place is not None]


def _missing(place: Place, sizes: dict[str, int]) -> str:
    name, start, length = place
    if name not in sizes:
        return f"the segment {name} is missing"
    if start + length > sizes[name]:
        return f"the segment {name} is too short"
    return ""


def _is_as_recorded(record: UrlRecord, reader: SegmentReader) -> bool:
    facts = record.facts
    place = place_in(facts.path)
    if place is not None and place != facts.raw_at:  # a crawl has bodies only
        data = reader.body(place)
        if data is None:
            return False
        is_right = (is_whole_asset if facts.asset else is_whole)(data, facts)
        if not is_right and sha256(data).hexdigest() != facts.sha256:  # a capture has no front matter
            return False
    if facts.raw is None or facts.raw_at is None:
        return True
    body = reader.body(facts.raw_at)
    return body is not None and sha256(body).hexdigest() == facts.raw
