"""From an answer to a settlement: parse, write the outputs, collect and judge what was found.

Outputs come first and are idempotent; nothing here changes the frontier, so a crash in the middle repeats
the page and changes nothing.
"""

from collections.abc import Iterable

import msgspec

from sumi.engine.acquire import Acquired, Crowded, Ended, Fetched, Redirected
from sumi.engine.assets import Assets
from sumi.engine.contents import KEPT, Contents
from sumi.engine.cookie_walls import CookieWalls
from sumi.engine.facts import bare_facts
from sumi.engine.gate import Gate
from sumi.engine.io import Io
from sumi.engine.ladder import Held, Ladder, Way, as_markdown, is_markdown
from sumi.engine.revisit import (
    Revisits,
    ending_without_news,
    facts_without_news,
    has_file,
    unchanged_facts,
)
from sumi.engine.robots_desk import Turn
from sumi.engine.scrutiny import Scrutiny, probed
from sumi.events import PageDeferred, Warned
from sumi.frontier.retry import retry_delay
from sumi.model import ASSETS, Candidate, Hop, Kind, Lease, PageFacts, Response
from sumi.outcomes import Outcome, Verdict
from sumi.parse.digest import DigestRequest, PageDigest, Undigested
from sumi.parse.sitemap import called_like_a_sitemap
from sumi.policy import Preset
from sumi.ports import Deferral, Judged, Settlement
from sumi.recipe import Recipe
from sumi.scope.domains import DomainClasses
from sumi.urls import normalize, normalize_with, rules_for, split

# A guess at a sitemap that met one of these was simply wrong.
NOT_THERE = frozenset(
    {Outcome.NOT_FOUND, Outcome.FORBIDDEN, Outcome.CLIENT_ERROR, Outcome.NOT_HTML, Outcome.PARSE_FAILED}
)
# The least that normalization ever does: how to spell a request, whatever the identity leaves out.
SPELLING = Preset.MIRROR
# Of indexes within indexes. The format allows none at all; honest sites have been seen with two or three.
SITEMAP_NESTING = 5
NESTED_TOO_DEEPLY = Verdict(Outcome.TOO_DEEP, f"more than {SITEMAP_NESTING} sitemap indexes lead to it")
# A page that only sends its reader on holds no more than a sentence of its own.
REFRESH_PAGE_CHARACTERS = 500


class Digestion:
    def __init__(self, recipe: Recipe, io: Io, gate: Gate, revisits: Revisits, ladder: Ladder) -> None:
        self._recipe = recipe
        self._io = io
        self._gate = gate
        self._revisits = revisits
        self._scrutiny = Scrutiny(recipe, io, gate)
        self._contents = Contents(recipe, io, gate, revisits)
        self._assets = Assets(recipe, io, gate, revisits)
        self._walls = CookieWalls()
        self._ladder = ladder
        self._homes = DomainClasses(recipe.origins, recipe.scope.blacklist, recipe.scope.stub)
        self._has_homes = bool(recipe.origins or recipe.scope.bases)

    async def recall(self) -> None:
        """Take up what earlier runs learnt about traps and contents."""
        await self._contents.recall()
        await self._ladder.recall()

    def settled(self, unit: Settlement | Deferral, accepted: bool) -> None:
        """What became of a unit that ``conclude`` made."""
        kept = accepted and isinstance(unit, Settlement) and unit.verdict.outcome in KEPT
        self._gate.places.settled(unit.lease.url, kept=kept)
        if isinstance(unit, Settlement):
            self._contents.settled(unit, accepted)
            self._walls.settled(unit.lease.url)
            self._ladder.settled(unit.lease.url)

    async def conclude(self, lease: Lease, acquired: Acquired) -> Settlement | Deferral:
        if isinstance(acquired, Ended | Redirected | Fetched) and acquired.way is not None:
            return await self._own_markdown(lease, acquired, acquired.way)
        match acquired:
            case Turn():
                found = await self._gate.judge(acquired.found)
                return Deferral(lease, self._now(), acquired.not_before, found=found)
            case Crowded():
                await self._gate.places.wait(lease.candidate)
                return Deferral(lease, self._now(), self._now())
            case Ended():
                return await self._ended(lease, acquired)
            case Redirected():
                return await self._redirected(lease, acquired)
            case Fetched():
                return await self._fetched(lease, acquired.response)

    # ── no content ─────────────────────────────────────────────────────────────────────────────────────

    async def _ended(self, lease: Lease, ended: Ended) -> Settlement | Deferral:
        outcome = ended.verdict.outcome
        challenge = await self._scrutiny.of_error(lease, ended.response) if ended.response else None
        if challenge is not None:
            return await self._without_content(lease, challenge, ended.response)
        delay = None
        if ended.report is not None:
            delay = retry_delay(outcome, lease.attempt, self._recipe.retry, self._io.jitter())
        if delay is None:
            return await self._without_content(lease, ended.verdict, ended.response)
        not_before = self._now() + delay
        self._io.tell(PageDeferred(lease.url, ended.verdict.rule, not_before))
        return Deferral(lease, self._now(), not_before, why=ended.verdict)

    async def _without_content(
        self, lease: Lease, verdict: Verdict, response: Response | None = None, location: str | None = None
    ) -> Settlement:
        if lease.candidate.kind is Kind.PROBE:
            return self._probed(lease, response, None)
        if lease.candidate.hop is Hop.GUESS and verdict.outcome in NOT_THERE:
            verdict = Verdict(Outcome.ABSENT, verdict.rule)
        verdict = self._assets.verdict_on(lease, verdict)
        now = self._now()
        before = await self._revisits.before(lease)
        if before is not None and (has_file(before) or verdict.outcome is Outcome.UNCHANGED):
            return _without_news(lease, verdict, before, response, location, now)
        if lease.candidate.kind is Kind.PAGE and verdict.outcome is not Outcome.REDIRECTED:
            await self._io.output.note_ending(lease, verdict, now)
        return Settlement(lease, verdict, now, bare_facts(response, location))

    def _probed(self, lease: Lease, response: Response | None, digest: PageDigest | None) -> Settlement:
        verdict, simhash = probed(response.status if response else None, digest)
        facts = msgspec.structs.replace(bare_facts(response, None), simhash=simhash)
        return Settlement(lease, verdict, self._now(), facts)

    # ── the site's own Markdown ────────────────────────────────────────────────────────────────────────

    async def _own_markdown(
        self, lease: Lease, acquired: Ended | Redirected | Fetched, way: Way
    ) -> Settlement | Deferral:
        """It is taken if it is the page, and as good; if not, the page itself is asked for next."""
        if isinstance(acquired, Ended) and acquired.verdict.outcome is Outcome.UNCHANGED:
            return await self._ended(lease, acquired)
        response = acquired.response if isinstance(acquired, Fetched) else None
        if self._ladder.holds(lease.url):
            better = await self._ladder.compared(lease, way, response)
            if better is None:
                return self._once_more(lease)
            if isinstance(better, Held):
                return await self._fetched(lease, better.response)
            return await self._kept_markdown(lease, better, way, compared=True)
        if response is not None and is_markdown(response):
            return await self._kept_markdown(lease, response, way, compared=False)
        return await self._missed(lease)

    async def _kept_markdown(
        self, lease: Lease, response: Response, way: Way, *, compared: bool
    ) -> Settlement | Deferral:
        request = msgspec.structs.replace(self._request(lease, response), content_type=as_markdown(response))
        digest = await self._io.digester.digest(request)
        if isinstance(digest, Undigested) or not (compared or self._ladder.believes(lease, response, digest)):
            return await self._missed(lease)
        settlement = await self._page(lease, response, digest)
        if isinstance(settlement, Deferral) or settlement.facts.path is None:
            return settlement
        source = way.target if way.target != lease.url else way.rung
        facts = msgspec.structs.replace(settlement.facts, source=source)
        return msgspec.structs.replace(settlement, facts=facts)

    async def _missed(self, lease: Lease) -> Deferral:
        await self._ladder.missed(lease)
        return self._once_more(lease)

    def _once_more(self, lease: Lease) -> Deferral:
        return Deferral(lease, self._now(), self._now())

    # ── redirects ──────────────────────────────────────────────────────────────────────────────────────

    async def _redirected(self, lease: Lease, redirected: Redirected) -> Settlement | Deferral:
        response = redirected.response
        if lease.candidate.kind is Kind.PROBE:
            return self._probed(lease, response, None)
        rules = rules_for(self._recipe.preset, self._recipe.keep_params)
        target = normalize_with(redirected.location, rules, lease.target)
        if target is None:
            verdict = Verdict(Outcome.BAD_HTTP, "a redirect to something that is not an http(s) URL")
            return await self._without_content(lease, verdict, response)
        if target == lease.url:
            return await self._redirected_within_itself(lease, redirected)
        if await self._closes_a_circle(lease.candidate, target):
            return await self._without_content(lease, _loop(target), response, target)
        self._warn_if_the_seed_leads_astray(lease.candidate, target)
        found = await self._judge_new([target], lease, Hop.REDIRECT, _kind_behind(lease, target))
        too_many = [j.refusal for j in found if j.refusal and j.refusal.outcome is Outcome.TOO_MANY_REDIRECTS]
        verdict = (
            too_many[0] if too_many else Verdict(Outcome.REDIRECTED, f"HTTP {response.status} → {target}")
        )
        settlement = await self._without_content(lease, verdict, response, target)
        if too_many:
            return settlement
        return msgspec.structs.replace(settlement, found=found, links=self._recorded([target]))

    async def _redirected_within_itself(self, lease: Lease, redirected: Redirected) -> Settlement | Deferral:
        """Only the spelling differs (a slash, http for https), or a cookie was set: ask again, so spelled."""
        address = normalize(redirected.location, SPELLING, lease.target) or lease.target
        in_place = address == lease.target and not self._walls.opens(lease, redirected.response)
        if in_place or lease.candidate.redirects >= self._recipe.urls.redirects:
            return await self._without_content(lease, _loop(address), redirected.response, address)
        now = self._now()
        return Deferral(lease, now, now, address=address, redirected=True)

    def _warn_if_the_seed_leads_astray(self, candidate: Candidate, target: str) -> None:
        if candidate.depth or candidate.kind is not Kind.PAGE:
            return
        if self._recipe.scope.bases and candidate.hop is not Hop.SEED:
            return  # everything under a base is at depth 0, so that depth does not tell a seed
        if self._recipe.scope.judge(Candidate(target, Hop.REDIRECT)) is not None:
            self._io.tell(
                Warned(f"{candidate.url} redirects to {target}, outside of what was asked for: try that URL")
            )

    async def _closes_a_circle(self, candidate: Candidate, target: str) -> bool:
        """Whether the redirects that led to this page started from the target."""
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

    # ── content ────────────────────────────────────────────────────────────────────────────────────────

    async def _fetched(self, lease: Lease, response: Response) -> Settlement | Deferral:
        if lease.candidate.kind in ASSETS:
            return await self._asset(lease, response)
        request = self._request(lease, response)
        digest = await self._io.digester.digest(request)
        if isinstance(digest, Undigested):
            return await self._undigested(lease, response, digest.verdict)
        if digest.problem:
            self._io.tell(Warned(f"{lease.url}: {digest.problem}"))
        if digest.links_dropped:
            taken = f"the first {len(digest.links):,} links were taken"
            self._io.tell(Warned(f"{lease.url}: {taken}, {digest.links_dropped:,} more were left out"))
        if lease.candidate.kind is Kind.SITEMAP:
            return await self._sitemap(lease, response, digest)
        if lease.candidate.kind is Kind.PROBE:
            return self._probed(lease, response, digest)
        held = Held(request, response, digest)
        if self._ladder.active and await self._ladder.wants_markdown_of(lease, held):
            return self._once_more(lease)
        return await self._page(lease, response, digest)

    async def _page(self, lease: Lease, response: Response, digest: PageDigest) -> Settlement | Deferral:
        objection = await self._scrutiny.of_page(lease, response, digest)
        if isinstance(objection, Deferral):
            return objection
        if objection is not None:
            return await self._without_content(lease, objection, response)
        if digest.refresh is not None and not self._recipe.record_links and _only_sends_on(digest):
            return await self._refreshed(lease, response, digest.refresh)
        verdict, facts = await self._contents.keep(lease, response, digest)
        found = await self._links(lease, digest)
        links = self._recorded((*digest.links, digest.refresh, digest.canonical))
        return Settlement(lease, verdict, self._now(), facts, found, links)

    async def _undigested(self, lease: Lease, response: Response, verdict: Verdict) -> Settlement:
        if self._assets.takes(verdict):
            return await self._asset(lease, response)
        return await self._without_content(lease, verdict, response)

    async def _asset(self, lease: Lease, response: Response) -> Settlement:
        kept = await self._assets.keep(lease, response)
        if isinstance(kept, Verdict):
            return await self._without_content(lease, kept, response)
        verdict, facts = kept
        return Settlement(lease, verdict, self._now(), facts)

    def _request(self, lease: Lease, response: Response) -> DigestRequest:
        recipe = self._recipe
        return DigestRequest(
            url=response.url,
            body=response.body,
            content_type=response.header("content-type") or "",
            kind=Kind.PAGE if lease.candidate.kind is Kind.PROBE else lease.candidate.kind,
            preset=recipe.preset,
            keep_params=recipe.keep_params,
            markdown=recipe.markdown,
            max_links=recipe.urls.links_per_page,
            max_depth=recipe.parse.depth,
            max_nodes=recipe.parse.nodes,
            raw=recipe.keep_raw and lease.candidate.kind is Kind.PAGE,
            dates=self._revisits.wants_dates,
            vocabulary=self._gate.traps.watches(lease.url),
            assets=bool(recipe.asset_bytes),
            alternate=self._ladder.active,
        )

    async def _sitemap(self, lease: Lease, response: Response, digest: PageDigest) -> Settlement:
        self._revisits.listed(digest.modified)
        pages = await self._judge_new(digest.links, lease, Hop.MANIFEST)
        files = await self._judge_new(digest.sitemaps, lease, Hop.MANIFEST, Kind.SITEMAP)
        if files and await self._indexes_above(lease.candidate) >= SITEMAP_NESTING:
            files = tuple(Judged(each.candidate, each.refusal or NESTED_TOO_DEEPLY) for each in files)
        rule = f"{len(digest.links)} pages, {len(digest.sitemaps)} sitemaps"
        facts = bare_facts(response, None)
        return Settlement(lease, Verdict(Outcome.READ, rule), self._now(), facts, files + pages)

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

    async def _refreshed(self, lease: Lease, response: Response, target: str) -> Settlement:
        if target == lease.url or await self._closes_a_circle(lease.candidate, target):
            return await self._without_content(lease, _loop(target), response, target)
        found = await self._judge_new([target], lease, Hop.REDIRECT)
        verdict = Verdict(Outcome.REDIRECTED, f"meta refresh → {target}")
        settlement = await self._without_content(lease, verdict, response, target)
        return msgspec.structs.replace(settlement, found=found)

    async def _links(self, lease: Lease, digest: PageDigest) -> tuple[Judged, ...]:
        if not self._recipe.take_links:
            return ()
        found = await self._judge_new(digest.links, lease, Hop.LINK)
        if self._recipe.asset_bytes:
            files = await self._judge_new(self._assets.wanted_of(digest, found), lease, Hop.LINK, Kind.FILE)
            images = await self._judge_new(digest.images, lease, Hop.EMBED, Kind.IMAGE)
            # Before the links: of one URL the first finding counts, and as links they were refused.
            found = images + files + found
        if digest.refresh is not None:
            found += await self._judge_new([digest.refresh], lease, Hop.REDIRECT)
        if digest.canonical is not None and digest.canonical != lease.url:
            found += await self._judge_new([digest.canonical], lease, Hop.CANONICAL)
        return found

    def _recorded(self, links: Iterable[str | None]) -> tuple[str, ...] | None:
        """What the settlement says of links: each once, in order."""
        return tuple(dict.fromkeys(filter(None, links))) if self._recipe.record_links else None

    async def _judge_new(
        self, urls: list[str], lease: Lease, hop: Hop, kind: Kind = Kind.PAGE
    ) -> tuple[Judged, ...]:
        """Only what nobody knows yet becomes an object; on most pages that is next to nothing."""
        source = lease.candidate
        # From a sitemap to a page is a step too, be it by a redirect: only what was asked for is at depth 0.
        listed = source.kind is Kind.SITEMAP and kind is Kind.PAGE
        depth = source.depth + (hop is Hop.LINK or listed or self._recipe.record_links)
        redirects = source.redirects + 1 if hop is Hop.REDIRECT else 0
        fresh = await self._io.frontier.unseen(urls, depth, hop)
        found = _candidates(fresh, hop, kind, depth, source.url, redirects)
        return await self._gate.judge(map(self._at_home, found) if self._has_homes else found)

    def _at_home(self, candidate: Candidate) -> Candidate:
        """A page of an origin, or under a base, is where the job starts from, however far it was found."""
        scope = self._recipe.scope
        if scope.bases:
            return scope.base_urls.placed(candidate, scope.external_hops)
        if self._homes.origin_of(split(candidate.url).host) is None:
            return candidate
        return msgspec.structs.replace(candidate, depth=0)

    def _now(self) -> float:
        return self._io.clock.now()


def _without_news(
    lease: Lease,
    verdict: Verdict,
    before: PageFacts,
    response: Response | None,
    location: str | None,
    now: float,
) -> Settlement:
    """A page that is or was here brought nothing when it was asked for again."""
    ending = ending_without_news(verdict, before)
    if ending.outcome in (Outcome.UNCHANGED, Outcome.STORED):
        return Settlement(lease, ending, now, unchanged_facts(before, response))
    facts = facts_without_news(ending, before, bare_facts(response, location), now)
    return Settlement(lease, ending, now, facts)


def _candidates(
    urls: Iterable[str], hop: Hop, kind: Kind, depth: int, referrer: str, redirects: int
) -> Iterable[Candidate]:
    return (Candidate(url, hop, kind, depth, referrer, 0.0, redirects) for url in urls)


def _kind_behind(lease: Lease, target: str) -> Kind:
    """A moved sitemap is one still, if called like one: many sites send every strange path to a page."""
    kind = lease.candidate.kind
    return kind if kind in ASSETS or called_like_a_sitemap(split(target).path) else Kind.PAGE


def _only_sends_on(digest: PageDigest) -> bool:
    return len(digest.markdown or "") < REFRESH_PAGE_CHARACTERS


def _loop(target: str) -> Verdict:
    return Verdict(Outcome.REDIRECT_LOOP, f"redirects in a circle by way of {target}")
