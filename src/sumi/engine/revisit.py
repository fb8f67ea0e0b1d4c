"""A page that is here already: asked for only if it may have changed."""

from hashlib import blake2b

import msgspec

from sumi.engine.visit import Visit
from sumi.frontier.freshness import ListedDates, conditional_headers
from sumi.model import ASSETS, Kind, Lease, PageFacts, Response
from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.ports import Ledger, Settlement

COME_BACK_TO = ASSETS | {Kind.PAGE}
NO_HEADERS: tuple[tuple[str, str], ...] = ()


class Revisits:
    """Idle in a first run, when there is nothing to come back to."""

    def __init__(self, ledger: Ledger, *, active: bool, trust_dates: bool) -> None:
        self._ledger = ledger
        self._active = active
        self.wants_dates = trust_dates  # when a sitemap says that its pages changed matters, now or later
        self._dates = ListedDates()

    def listed(self, modified: dict[str, float]) -> None:
        """What a sitemap says: the latest time that each page can have been changed."""
        self._dates.take(modified)

    async def before(self, lease: Lease) -> PageFacts | None:
        """What is recorded of a page that is here, or once was; None if there never was one."""
        if not self._active or lease.candidate.kind not in COME_BACK_TO:
            return None
        record = await self._ledger.record(lease.url)
        if record is None or not (is_here(record.facts) or record.facts.was_path is not None):
            return None
        return record.facts

    def known_fresh(self, visit: Visit) -> Verdict | None:
        """A page need not be asked for at all if its sitemap dates it as it did when it was asked for last. A
        date that moved, to whichever side, is news, even if it still lies before our copy."""
        before = visit.before
        if before is None or not is_here(before):
            return None
        listed = self._dates.of(visit.url)
        if listed is None or before.lastmod != listed:
            return None
        return Verdict(Outcome.UNCHANGED, "not changed according to the sitemap")

    def dated(self, settlement: Settlement, asked_at: float) -> Settlement:
        """With a record of what its sitemap says of a page that is here, as it was when we asked."""
        if not self.wants_dates or not is_here(settlement.facts) or settlement.facts.asset:
            return settlement
        listed = self._dates.of(settlement.lease.url)
        lastmod = listed if listed is not None and listed < asked_at else None
        if lastmod == settlement.facts.lastmod:
            return settlement
        facts = msgspec.structs.replace(settlement.facts, lastmod=lastmod)
        return msgspec.structs.replace(settlement, facts=facts)


def validators(before: PageFacts | None) -> tuple[tuple[str, str], ...]:
    """Request headers that let the server say "as you have it"."""
    return NO_HEADERS if before is None else conditional_headers(before.etag, before.last_modified)


def is_here(facts: PageFacts) -> bool:
    """Whether there is a copy of the page: a file of its own, or content that was recorded."""
    return facts.path is not None or facts.sha256 is not None


def revision_of(digest: PageDigest) -> str:
    """Another one whenever something else would be written of the page."""
    parts: tuple[object, ...] = (digest.title, digest.description, digest.language, digest.sha256)
    if digest.markdown is None:  # where no text is made of it, a page is what it points to
        parts += (digest.links, digest.raw_sha256)
    return blake2b(repr(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()


def unchanged_facts(before: PageFacts, response: Response | None) -> PageFacts:
    """As recorded, with the validators of today's answer."""
    if response is None:
        return before
    return msgspec.structs.replace(
        before,
        etag=response.header("etag") or before.etag,
        last_modified=response.header("last-modified") or before.last_modified,
    )


def facts_of_lost_file(facts: PageFacts) -> PageFacts:
    """For a page whose file was lost: where it belongs, but nothing that would let it be called unchanged."""
    return msgspec.structs.replace(
        facts, etag=None, last_modified=None, revision=None, fetched_at=None, lastmod=None
    )
