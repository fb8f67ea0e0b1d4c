"""From an answer to a settlement: parse, write the outputs, collect and judge what was found.

Outputs come first and are idempotent; nothing here changes the frontier, so a crash in the middle repeats
the page and changes nothing.
"""

from collections.abc import Iterable

import msgspec

from sumi.engine.acquire import Acquired, Ended, Fetched, Redirected
from sumi.engine.gate import Gate
from sumi.engine.io import Io
from sumi.engine.robots_desk import Turn
from sumi.events import PageDeferred, Warned
from sumi.frontier.retry import retry_delay
from sumi.model import Candidate, Hop, Kind, Lease, PageFacts, Response
from sumi.outcomes import Outcome, Verdict
from sumi.parse.digest import DigestRequest, PageDigest, Undigested
from sumi.policy import Preset
from sumi.ports import Deferral, Judged, Settlement
from sumi.recipe import Recipe
from sumi.urls import normalize

# A guess at a sitemap that met one of these was simply wrong.
NOT_THERE = frozenset(
    {Outcome.NOT_FOUND, Outcome.FORBIDDEN, Outcome.CLIENT_ERROR, Outcome.NOT_HTML, Outcome.PARSE_FAILED}
)
# The least that normalization ever does: how to spell a request, whatever the identity leaves out.
SPELLING = Preset.MIRROR
# A page that only sends its reader on holds no more than a sentence of its own.
REFRESH_PAGE_CHARACTERS = 500


class Digestion:
    def __init__(self, recipe: Recipe, io: Io, gate: Gate) -> None:
        self._recipe = recipe
        self._io = io
        self._gate = gate

    async def conclude(self, lease: Lease, acquired: Acquired) -> Settlement | Deferral:
        match acquired:
            case Turn():
                found = await self._gate.judge(acquired.found)
                return Deferral(lease, self._now(), acquired.not_before, found=found)
            case Ended():
                return await self._ended(lease, acquired)
            case Redirected():
                return await self._redirected(lease, acquired)
            case Fetched():
                return await self._fetched(lease, acquired.response)

    # ── no content ─────────────────────────────────────────────────────────────────────────────────────

    async def _ended(self, lease: Lease, ended: Ended) -> Settlement | Deferral:
        outcome = ended.verdict.outcome
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
        if lease.candidate.hop is Hop.GUESS and verdict.outcome in NOT_THERE:
            verdict = Verdict(Outcome.ABSENT, verdict.rule)
        now = self._now()
        if lease.candidate.kind is Kind.PAGE and verdict.outcome is not Outcome.REDIRECTED:
            await self._io.output.note_ending(lease, verdict, now)
        return Settlement(lease, verdict, now, _bare_facts(response, location))

    # ── redirects ──────────────────────────────────────────────────────────────────────────────────────

    async def _redirected(self, lease: Lease, redirected: Redirected) -> Settlement | Deferral:
        response = redirected.response
        target = normalize(redirected.location, self._recipe.preset, lease.target)
        if target is None:
            verdict = Verdict(Outcome.BAD_HTTP, "a redirect to something that is not an http(s) URL")
            return await self._without_content(lease, verdict, response)
        if target == lease.url:
            return await self._redirected_within_itself(lease, redirected)
        if await self._closes_a_circle(lease.candidate, target):
            return await self._without_content(lease, _loop(target), response, target)
        self._warn_if_the_seed_leads_astray(lease.candidate, target)
        found = await self._judge_new([target], lease, Hop.REDIRECT)
        too_many = [j.refusal for j in found if j.refusal and j.refusal.outcome is Outcome.TOO_MANY_REDIRECTS]
        verdict = (
            too_many[0] if too_many else Verdict(Outcome.REDIRECTED, f"HTTP {response.status} → {target}")
        )
        settlement = await self._without_content(lease, verdict, response, target)
        return msgspec.structs.replace(settlement, found=() if too_many else found)

    async def _redirected_within_itself(self, lease: Lease, redirected: Redirected) -> Settlement | Deferral:
        """Only the spelling differs (a slash, http for https): ask again, spelled that way."""
        address = normalize(redirected.location, SPELLING, lease.target) or lease.target
        if address == lease.target or lease.candidate.redirects >= self._recipe.urls.redirects:
            return await self._without_content(lease, _loop(address), redirected.response, address)
        now = self._now()
        return Deferral(lease, now, now, address=address, redirected=True)

    def _warn_if_the_seed_leads_astray(self, candidate: Candidate, target: str) -> None:
        if candidate.depth or candidate.kind is not Kind.PAGE:
            return
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

    async def _fetched(self, lease: Lease, response: Response) -> Settlement:
        digest = await self._io.digester.digest(self._request(lease, response))
        if isinstance(digest, Undigested):
            return await self._without_content(lease, digest.verdict, response)
        if digest.problem:
            self._io.tell(Warned(f"{lease.url}: {digest.problem}"))
        if lease.candidate.kind is Kind.SITEMAP:
            return await self._sitemap(lease, response, digest)
        if digest.refresh is not None and _only_sends_on(digest):
            return await self._refreshed(lease, response, digest.refresh)
        facts = await self._io.output.accept(lease, response, digest)
        found = await self._links(lease, digest)
        return Settlement(
            lease, Verdict(Outcome.CAPTURED, f"HTTP {response.status}"), self._now(), facts, found
        )

    def _request(self, lease: Lease, response: Response) -> DigestRequest:
        recipe = self._recipe
        return DigestRequest(
            url=lease.target,
            body=response.body,
            content_type=response.header("content-type") or "",
            kind=lease.candidate.kind,
            preset=recipe.preset,
            markdown=recipe.markdown,
            max_links=recipe.urls.links_per_page,
        )

    async def _sitemap(self, lease: Lease, response: Response, digest: PageDigest) -> Settlement:
        pages = await self._judge_new(digest.links, lease, Hop.MANIFEST)
        files = await self._judge_new(digest.sitemaps, lease, Hop.MANIFEST, Kind.SITEMAP)
        rule = f"{len(digest.links)} pages, {len(digest.sitemaps)} sitemaps"
        facts = _bare_facts(response, None)
        return Settlement(lease, Verdict(Outcome.READ, rule), self._now(), facts, files + pages)

    async def _refreshed(self, lease: Lease, response: Response, target: str) -> Settlement:
        if target == lease.url or await self._closes_a_circle(lease.candidate, target):
            return await self._without_content(lease, _loop(target), response, target)
        found = await self._judge_new([target], lease, Hop.REDIRECT)
        verdict = Verdict(Outcome.REDIRECTED, f"meta refresh → {target}")
        settlement = await self._without_content(lease, verdict, response, target)
        return msgspec.structs.replace(settlement, found=found)

    async def _links(self, lease: Lease, digest: PageDigest) -> tuple[Judged, ...]:
        found = await self._judge_new(digest.links, lease, Hop.LINK)
        if digest.refresh is not None:
            found += await self._judge_new([digest.refresh], lease, Hop.REDIRECT)
        if digest.canonical is not None and digest.canonical != lease.url:
            found += await self._judge_new([digest.canonical], lease, Hop.CANONICAL)
        return found

    async def _judge_new(
        self, urls: list[str], lease: Lease, hop: Hop, kind: Kind = Kind.PAGE
    ) -> tuple[Judged, ...]:
        """Only what nobody knows yet becomes an object; on most pages that is next to nothing."""
        source = lease.candidate
        depth = source.depth + (hop is Hop.LINK or (hop is Hop.MANIFEST and kind is Kind.PAGE))
        redirects = source.redirects + 1 if hop is Hop.REDIRECT else 0
        fresh = await self._io.frontier.unseen(urls, depth, hop)
        return await self._gate.judge(_candidates(fresh, hop, kind, depth, source.url, redirects))

    def _now(self) -> float:
        return self._io.clock.now()


def _candidates(
    urls: Iterable[str], hop: Hop, kind: Kind, depth: int, referrer: str, redirects: int
) -> Iterable[Candidate]:
    return (Candidate(url, hop, kind, depth, referrer, 0.0, redirects) for url in urls)


def _only_sends_on(digest: PageDigest) -> bool:
    return len(digest.markdown or "") < REFRESH_PAGE_CHARACTERS


def _loop(target: str) -> Verdict:
    return Verdict(Outcome.REDIRECT_LOOP, f"redirects in a circle by way of {target}")


def _bare_facts(response: Response | None, location: str | None) -> PageFacts:
    if response is None:
        return PageFacts()
    return PageFacts(
        status=response.status,
        content_type=response.header("content-type"),
        location=location,
        body_bytes=len(response.body),
        latency_ms=round(response.timing.latency * 1000),
        fetched_at=response.timing.finished,
    )
