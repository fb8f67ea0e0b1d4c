"""The settlement of a page that brought no content: failed, gone, kept as stale, or a redirect."""

import msgspec

from sumi.engine.acquisition import Redirected
from sumi.engine.answers import bare_facts
from sumi.engine.contents import Assets
from sumi.engine.found_links import FoundLinks
from sumi.engine.io import Io
from sumi.engine.revisit import has_copy, unchanged_facts
from sumi.engine.soft_errors import probed
from sumi.engine.visit import Visit
from sumi.events import Warned
from sumi.model import ASSETS, Candidate, Hop, Kind, PageFacts, Response
from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.parse.sitemap.reader import called_like_a_sitemap
from sumi.policy import Preset
from sumi.ports import Deferral, Settlement
from sumi.recipe import Recipe
from sumi.urls import normalize, rules_for, spelled, split

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


# The weakest normalization: for requests, whatever the job's identity rules leave out.
SPELLING = Preset.MIRROR
# A page that only redirects has no more than a sentence of its own.
REFRESH_PAGE_CHARACTERS = 500
# A cookie wall: one request that sets the cookie, one that gets the page; a third for a second cookie.
MAX_COOKIE_TRIES = 3


class Redirects:
    """By HTTP or by a meta refresh: targets become candidates, circles end."""

    def __init__(self, recipe: Recipe, io: Io, endings: Endings, links: FoundLinks) -> None:
        self._recipe = recipe
        self._io = io
        self._endings = endings
        self._links = links

    async def redirected(self, visit: Visit, redirected: Redirected) -> Settlement | Deferral:
        response = redirected.response
        if visit.candidate.kind is Kind.PROBE:
            return self._endings.probed(visit, response, None)
        rules = rules_for(self._recipe.preset, self._recipe.keep_params)
        to = spelled(redirected.location, rules, visit.lease.target)
        if to is None:
            verdict = Verdict(Outcome.BAD_HTTP, "a redirect to something other than an http(s) URL")
            return await self._endings.without_content(visit, verdict, response)
        target = to.identity
        if target == visit.url:
            # As the server spells it, whatever the job's rules leave out.
            address = normalize(redirected.location, SPELLING, visit.lease.target) or visit.lease.target
            return await self._within_itself(visit, address, response)
        if await self._is_circular(visit.candidate, target):
            return await self._endings.without_content(visit, _loop(target), response, target)
        self._warn_if_seed_leaves_scope(visit.candidate, target)
        kind = _kind_of_target(visit, target)
        found = await self._links.judged([target], visit, Hop.REDIRECT, kind, {target: to.address})
        too_many = [j.refusal for j in found if j.refusal and j.refusal.outcome is Outcome.TOO_MANY_REDIRECTS]
        verdict = (
            too_many[0] if too_many else Verdict(Outcome.REDIRECTED, f"HTTP {response.status} → {target}")
        )
        settlement = await self._endings.without_content(visit, verdict, response, target)
        if too_many:
            return settlement
        return msgspec.structs.replace(settlement, found=found, links=self._links.recorded([target]))

    async def refreshed(
        self, visit: Visit, response: Response, target: str, address: str
    ) -> Settlement | Deferral:
        """A page without content of its own and with a meta refresh."""
        if target == visit.url:
            return await self._within_itself(visit, address or target, response)
        if await self._is_circular(visit.candidate, target):
            return await self._endings.without_content(visit, _loop(target), response, target)
        found = await self._links.judged([target], visit, Hop.REDIRECT, spelled={target: address})
        verdict = Verdict(Outcome.REDIRECTED, f"meta refresh → {target}")
        settlement = await self._endings.without_content(visit, verdict, response, target)
        return msgspec.structs.replace(settlement, found=found)

    async def _within_itself(self, visit: Visit, address: str, response: Response) -> Settlement | Deferral:
        """Only the spelling differs (a slash, http for https), or a cookie was set: request it so spelled."""
        in_place = address == visit.lease.target and not _may_pass_cookie_wall(visit, response)
        so_far = visit.candidate.redirects + visit.tried.redirects
        if in_place or so_far >= self._recipe.urls.redirects:
            return await self._endings.without_content(visit, _loop(address), response, address)
        visit.tried.redirects += 1
        now = self._io.clock.now()
        return Deferral(visit.lease, now, now, address=address)

    def _warn_if_seed_leaves_scope(self, candidate: Candidate, target: str) -> None:
        if candidate.depth or candidate.kind is not Kind.PAGE:
            return
        if (self._recipe.scope.bases or self._recipe.origins) and candidate.hop is not Hop.SEED:
            return  # pages of a base or an origin are all at depth 0, not only seeds
        if self._recipe.scope.judge(Candidate(target, Hop.REDIRECT)) is not None:
            self._io.tell(Warned(f"{candidate.url} redirects to {target}, outside the scope: try that URL"))

    async def _is_circular(self, candidate: Candidate, target: str) -> bool:
        return await self._comes_from(candidate, target) or await self._leads_back(target, candidate.url)

    async def _leads_back(self, target: str, url: str) -> bool:
        """Whether the target is known to redirect here: the pages of a circle may be found one by one."""
        for _ in range(self._recipe.urls.redirects):
            record = await self._io.ledger.record(target)
            if record is None or record.outcome is not Outcome.REDIRECTED or record.facts.location is None:
                return False
            target = record.facts.location
            if target == url:
                return True
        return False

    async def _comes_from(self, candidate: Candidate, target: str) -> bool:
        """Whether the redirects that led to this page passed the target."""
        for _ in range(candidate.redirects):
            if candidate.hop is not Hop.REDIRECT or candidate.referrer is None:
                return False
            if candidate.referrer == target:
                return True
            record = await self._io.ledger.record(candidate.referrer)
            if record is None:
                return False
            candidate = Candidate(record.url, record.hop, record.kind, record.depth, record.referrer)
        return False


def _may_pass_cookie_wall(visit: Visit, response: Response) -> bool:
    """Whether a page that redirects to itself set a cookie and may come with it. Bounded, or a client without
    cookies would loop."""
    if response.header("set-cookie") is None or visit.tried.cookies + 1 >= MAX_COOKIE_TRIES:
        return False
    visit.tried.cookies += 1
    return True


def is_only_a_redirect(digest: PageDigest) -> bool:
    return len(digest.markdown or "") < REFRESH_PAGE_CHARACTERS


_STAYS = ASSETS | {Kind.NAVIGATION}


def _kind_of_target(visit: Visit, target: str) -> Kind:
    """A sitemap's target is a sitemap only if named like one: many sites redirect unknown paths to a page."""
    kind = visit.candidate.kind
    return kind if kind in _STAYS or called_like_a_sitemap(split(target).path) else Kind.PAGE


def _loop(target: str) -> Verdict:
    return Verdict(Outcome.REDIRECT_LOOP, f"redirects in a loop through {target}")
