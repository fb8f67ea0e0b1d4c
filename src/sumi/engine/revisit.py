"""Pages of which there is a copy: requested only if they may have changed."""

from hashlib import blake2b

import msgspec

from sumi.engine.visit import Visit
from sumi.frontier.freshness import ListedDates, conditional_headers
from sumi.model import ASSETS, Kind, Lease, PageFacts, Response
from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.ports import Ledger, Settlement

REVISITED = ASSETS | {Kind.PAGE}
NO_HEADERS: tuple[tuple[str, str], ...] = ()


class Revisits:
    """Idle in a first run, which has nothing to revisit."""

    def __init__(self, ledger: Ledger, *, active: bool, trust_dates: bool) -> None:
        self._ledger = ledger
        self._active = active
        self.wants_dates = trust_dates  # the dates in sitemaps are used, now or by a later run
        self._dates = ListedDates()

    def listed(self, modified: dict[str, float]) -> None:
        """Add the dates of a sitemap: the latest time at which each page can have changed."""
        self._dates.take(modified)

    async def before(self, lease: Lease) -> PageFacts | None:
        """The record of a page that has or had a copy; None if it never had one, and for a duplicate, which
        is compared anew each time."""
        if not self._active or lease.candidate.kind not in REVISITED:
            return None
        record = await self._ledger.record(lease.url)
        if record is None or (record.facts.duplicate_of is not None and not has_copy(record.facts)):
            return None
        if not (has_copy(record.facts) or record.facts.was_path is not None):
            return None
        return record.facts

    def known_fresh(self, visit: Visit) -> Verdict | None:
        """A page need not be requested if its sitemap gives the same date as at the last request. Any other
        date is news, even one before our copy."""
        before = visit.before
        if before is None or not has_copy(before):
            return None
        listed = self._dates.of(visit.url)
        if listed is None or before.lastmod != listed:
            return None
        return Verdict(Outcome.UNCHANGED, "not changed according to the sitemap")

    def dated(self, settlement: Settlement, asked_at: float) -> Settlement:
        """With the date that its sitemap gave when the page was requested."""
        if not self.wants_dates or not has_copy(settlement.facts) or settlement.facts.asset:
            return settlement
        listed = self._dates.of(settlement.lease.url)
        lastmod = listed if listed is not None and listed < asked_at else None
        if lastmod == settlement.facts.lastmod:
            return settlement
        facts = msgspec.structs.replace(settlement.facts, lastmod=lastmod)
        return msgspec.structs.replace(settlement, facts=facts)


def validators(before: PageFacts | None) -> tuple[tuple[str, str], ...]:
    """Headers for a conditional request."""
    return NO_HEADERS if before is None else conditional_headers(before.etag, before.last_modified)


def has_copy(facts: PageFacts) -> bool:
    """Whether there is a copy of the page: a file of its own, or recorded content."""
    return facts.path is not None or facts.sha256 is not None


def revision_of(digest: PageDigest) -> str:
    """Changes whenever something else would be written for the page."""
    parts: tuple[object, ...] = (digest.title, digest.description, digest.language, digest.sha256)
    if digest.markdown is None:  # without text, a page is its links
        parts += (digest.links, digest.raw_sha256)
    return blake2b(repr(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()


def unchanged_facts(before: PageFacts, response: Response | None) -> PageFacts:
    """As recorded, with the validators of the new response."""
    if response is None:
        return before
    return msgspec.structs.replace(
        before,
        etag=response.header("etag") or before.etag,
        last_modified=response.header("last-modified") or before.last_modified,
    )


def facts_of_lost_file(facts: PageFacts) -> PageFacts:
    """For a page whose file was lost: its path, but nothing that would let it count as unchanged."""
    return msgspec.structs.replace(
        facts, etag=None, last_modified=None, revision=None, fetched_at=None, lastmod=None
    )
