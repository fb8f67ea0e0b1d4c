"""Whether a store is consistent: every URL in one state, counts that add up, referrers that are known."""

from collections import Counter
from collections.abc import AsyncIterator

import msgspec

from sumi.outcomes import Outcome
from sumi.ports import Snapshot, UrlRecord

_ROBOTS = "/robots.txt"  # the referrer of the sitemaps it names, but not a page, so it has no record


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that is wrong with a job's state or files, and what repairs it."""

    words: str
    damaged: bool = False  # the state itself: salvage what is intact
    requeue: str | None = None  # the page whose file must be made again
    stray: str | None = None  # a file that belongs to no page
    stale: bool = False  # a derived file must be written again


async def ledger_violations(
    store: Snapshot, cap: int, *, whole_ways: bool = True, keeps_files: bool = True
) -> AsyncIterator[str]:
    """Each as a sentence. ``cap``: the highest page limit that the job ever had; 0 for no limit.
    ``whole_ways``: every referrer must be known itself. ``keeps_files``: a captured page must have a file."""
    seen: set[str] = set()
    counted: Counter[Outcome] = Counter()
    referrers: set[str] = set()
    async for record in store.records():
        if record.url in seen:
            yield f"{record.url}: recorded twice"
        seen.add(record.url)
        counted[record.outcome] += 1
        for words in _contradictions(record, keeps_files=keeps_files):
            yield f"{record.url}: {words}"
        if record.referrer is not None:
            referrers.add(record.referrer)
    for referrer in sorted(referrers - seen) if whole_ways else ():
        if not referrer.endswith(_ROBOTS):
            yield f"{referrer}: a referrer of other URLs, but not known itself"
    async for words in _wrong_counts(store, counted, cap):
        yield words


def _contradictions(record: UrlRecord, *, keeps_files: bool) -> list[str]:
    words = []
    if keeps_files and record.outcome is Outcome.CAPTURED and record.facts.path is None:
        words.append("captured, but no file is recorded")
    if record.depth < 0 or record.attempts < 0:
        words.append(f"depth {record.depth} and {record.attempts} attempts are impossible")
    return words


async def _wrong_counts(store: Snapshot, counted: Counter[Outcome], cap: int) -> AsyncIterator[str]:
    stats = await store.stats()
    if stats.known != counted.total():
        yield f"{stats.known:,} URLs are counted, {counted.total():,} are recorded"
    if stats.pending != counted[Outcome.PENDING]:
        yield f"{stats.pending:,} URLs are counted as pending, {counted[Outcome.PENDING]:,} are"
    for outcome in Outcome:
        claimed = stats.outcomes.get(outcome, 0)
        if outcome is not Outcome.PENDING and claimed != counted[outcome]:
            yield f"{claimed:,} URLs are counted as {outcome}, {counted[outcome]:,} are"
    if cap and stats.captured > cap:
        yield f"{stats.captured:,} pages were captured, though {cap:,} were allowed"
