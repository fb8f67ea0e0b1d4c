"""A sitemap that was read: its pages, and the sitemaps that an index names."""

from sumi.engine.facts import bare_facts
from sumi.engine.found_links import Onward
from sumi.engine.gate import Gate
from sumi.engine.io import Io
from sumi.engine.revisit import Revisits
from sumi.model import Candidate, Hop, Kind, Lease, Response
from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.ports import Judged, Settlement

# Of indexes within indexes. The format allows none at all; honest sites have been seen with two or three.
SITEMAP_NESTING = 5
NESTED_TOO_DEEPLY = Verdict(Outcome.TOO_DEEP, f"more than {SITEMAP_NESTING} sitemap indexes lead to it")


class Sitemaps:
    def __init__(self, io: Io, gate: Gate, onward: Onward, revisits: Revisits) -> None:
        self._io = io
        self._gate = gate
        self._onward = onward
        self._revisits = revisits

    async def read(self, lease: Lease, response: Response, digest: PageDigest) -> Settlement:
        # Once more: without a rate limit many are on their way before the first has been read.
        needless = await self._gate.needless_now(lease.candidate)
        if needless is not None:
            return Settlement(lease, needless, self._io.clock.now(), bare_facts(response, None))
        self._revisits.listed(digest.modified)
        pages = await self._onward.judged(digest.links, lease, Hop.MANIFEST, spelled=digest.addresses)
        files = await self._onward.judged(digest.sitemaps, lease, Hop.MANIFEST, Kind.SITEMAP)
        if files and await self._indexes_above(lease.candidate) >= SITEMAP_NESTING:
            files = tuple(Judged(each.candidate, each.refusal or NESTED_TOO_DEEPLY) for each in files)
        taken = f"{len(digest.links)} pages, {len(digest.sitemaps)} sitemaps"
        verdict = Verdict(Outcome.READ, taken)
        if digest.cut:
            verdict = Verdict(Outcome.SITEMAP_CUT, f"{taken}, and then {digest.problem}")
        return Settlement(lease, verdict, self._io.clock.now(), bare_facts(response, None), files + pages)

    async def _indexes_above(self, candidate: Candidate) -> int:
        """How many indexes led to this sitemap; where it matters, a few look-ups per index."""
        indexes = 0
        while candidate.hop in (Hop.MANIFEST, Hop.REDIRECT) and indexes < SITEMAP_NESTING:
            indexes += candidate.hop is Hop.MANIFEST
            above = None if candidate.referrer is None else await self._io.ledger.record(candidate.referrer)
            if above is None:
                break
            candidate = Candidate(above.url, above.hop, above.kind, above.depth, above.referrer)
        return indexes
