"""How a page ends that brought no content, and what is recorded of it."""

import msgspec

from sumi.engine.answers import bare_facts
from sumi.engine.contents import Assets
from sumi.engine.io import Io
from sumi.engine.revisit import (
    ending_without_news,
    facts_without_news,
    has_file,
    unchanged_facts,
)
from sumi.engine.soft_errors import probed
from sumi.engine.visit import Visit
from sumi.model import Candidate, Hop, Kind, PageFacts, Response
from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.ports import Settlement

# A guess at a sitemap that met one of these was simply wrong.
NOT_THERE = frozenset(
    {Outcome.NOT_FOUND, Outcome.FORBIDDEN, Outcome.CLIENT_ERROR, Outcome.NOT_HTML, Outcome.PARSE_FAILED}
)

NOT_TOLD = frozenset({Outcome.REDIRECTED, Outcome.ABSENT})


class Endings:
    def __init__(self, io: Io, assets: Assets) -> None:
        self._io = io
        self._assets = assets

    async def without_content(
        self, visit: Visit, verdict: Verdict, response: Response | None = None, location: str | None = None
    ) -> Settlement:
        if visit.candidate.kind is Kind.PROBE:
            return self.probed(visit, response, None)
        if verdict.outcome in NOT_THERE and await self._is_a_guess(visit.candidate):
            verdict = Verdict(Outcome.ABSENT, verdict.rule)
        verdict = self._assets.verdict_on(visit, verdict)
        now = self._io.clock.now()
        before = visit.before
        if before is not None and (has_file(before) or verdict.outcome is Outcome.UNCHANGED):
            return _without_news(visit, verdict, before, response, location, now)
        if visit.candidate.kind is Kind.PAGE and verdict.outcome not in NOT_TOLD:
            await self._io.output.note_ending(visit.lease, verdict, now)
        return Settlement(visit.lease, verdict, now, bare_facts(response, location))

    async def _is_a_guess(self, candidate: Candidate) -> bool:
        """Whether only we thought that it exists: a usual place for a sitemap, or where one redirects to,
        such as the site's page for what does not exist."""
        hop, referrer = candidate.hop, candidate.referrer
        for _ in range(candidate.redirects):
            record = None if referrer is None else await self._io.ledger.record(referrer)
            if hop is not Hop.REDIRECT or record is None:
                break
            hop, referrer = record.hop, record.referrer
        return hop is Hop.GUESS

    def probed(self, visit: Visit, response: Response | None, digest: PageDigest | None) -> Settlement:
        """A URL that cannot exist was asked for, to learn what its host says then."""
        verdict, simhash = probed(response.status if response else None, digest)
        facts = msgspec.structs.replace(bare_facts(response, None), simhash=simhash)
        return Settlement(visit.lease, verdict, self._io.clock.now(), facts)


def _without_news(
    visit: Visit,
    verdict: Verdict,
    before: PageFacts,
    response: Response | None,
    location: str | None,
    now: float,
) -> Settlement:
    """A page that is or was here brought nothing when it was asked for again."""
    ending = ending_without_news(verdict, before)
    if ending.outcome in (Outcome.UNCHANGED, Outcome.STORED):
        return Settlement(visit.lease, ending, now, unchanged_facts(before, response))
    facts = facts_without_news(ending, before, bare_facts(response, location), now)
    return Settlement(visit.lease, ending, now, facts)
