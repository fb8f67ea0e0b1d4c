"""The settlement of a page that brought no content: failed, gone, or kept from before as stale."""

import msgspec

from sumi.engine.answers import bare_facts
from sumi.engine.contents import Assets
from sumi.engine.io import Io
from sumi.engine.revisit import has_copy, unchanged_facts
from sumi.engine.soft_errors import probed
from sumi.engine.visit import Visit
from sumi.model import Candidate, Hop, Kind, PageFacts, Response
from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.ports import Settlement

# A guessed sitemap with one of these outcomes does not exist.
NOT_THERE = frozenset(
    {
        Outcome.NOT_FOUND,
        Outcome.FORBIDDEN,
        Outcome.CLIENT_ERROR,
        Outcome.NOT_HTML,
        Outcome.NOT_ARCHIVED,
        Outcome.PARSE_FAILED,
    }
)

NOT_REPORTED = frozenset({Outcome.REDIRECTED, Outcome.ABSENT})

# The page no longer exists. Every other failure may be transient.
GONE = frozenset({Outcome.NOT_FOUND, Outcome.SOFT_404})


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
        if before is not None and (_has_file(before) or verdict.outcome is Outcome.UNCHANGED):
            return _without_news(visit, verdict, before, response, location, now)
        if visit.candidate.kind is Kind.PAGE and verdict.outcome not in NOT_REPORTED:
            await self._io.output.note_ending(visit.lease, verdict, now)
        return Settlement(visit.lease, verdict, now, bare_facts(response, location))

    async def _is_a_guess(self, candidate: Candidate) -> bool:
        """Whether we only guessed that it exists: a usual place for a sitemap, or where that redirects to,
        such as the site's error page."""
        hop, referrer = candidate.hop, candidate.referrer
        for _ in range(candidate.redirects):
            record = None if referrer is None else await self._io.ledger.record(referrer)
            if hop is not Hop.REDIRECT or record is None:
                break
            hop, referrer = record.hop, record.referrer
        return hop is Hop.GUESS

    def probed(self, visit: Visit, response: Response | None, digest: PageDigest | None) -> Settlement:
        """A URL that cannot exist was requested, to learn how its host answers."""
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
    """A page of which there is or was a copy brought nothing new."""
    verdict = _verdict_without_news(verdict, before)
    if verdict.outcome in (Outcome.UNCHANGED, Outcome.STORED):
        return Settlement(visit.lease, verdict, now, unchanged_facts(before, response))
    facts = _facts_without_news(verdict, before, bare_facts(response, location), now)
    return Settlement(visit.lease, verdict, now, facts)


def _has_file(facts: PageFacts) -> bool:
    """Whether the page has or had a file of its own."""
    return facts.path is not None or facts.was_path is not None


def _verdict_without_news(verdict: Verdict, before: PageFacts) -> Verdict:
    """The verdict on a page with an earlier copy that could not be fetched again: gone, or stale."""
    if verdict.outcome is Outcome.UNCHANGED and before.asset:
        return Verdict(Outcome.STORED, verdict.rule)
    if verdict.outcome in (Outcome.UNCHANGED, Outcome.REDIRECTED):
        return verdict
    gone = verdict.outcome in GONE or not has_copy(before)
    return Verdict(Outcome.GONE if gone else Outcome.STALE, f"{verdict.outcome.value}: {verdict.rule}")


def _facts_without_news(verdict: Verdict, before: PageFacts, bare: PageFacts, now: float) -> PageFacts:
    """What to record then: everything as before; for a page that is gone now, where its file was."""
    if verdict.outcome not in (Outcome.GONE, Outcome.REDIRECTED):
        return before
    if not has_copy(before):
        return msgspec.structs.replace(before, location=bare.location)
    return msgspec.structs.replace(
        bare,
        was_path=before.path,
        asset=before.asset,
        first_captured=before.first_captured,
        changed_at=now,
    )
