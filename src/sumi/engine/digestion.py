"""From a response to a settlement: parse, write the outputs, collect and judge what was found.

Outputs come first and are idempotent. Nothing here changes the state of a page in the frontier, so a crash in
the middle only repeats the page.
"""

from typing import Final

import msgspec

from sumi.engine.acquisition import Acquired, Crowded, Ended, Fetched, Redirected
from sumi.engine.answers import bare_facts
from sumi.engine.contents import Assets, Contents
from sumi.engine.endings import Endings, Redirects, is_only_a_redirect
from sumi.engine.found_links import FoundLinks, Sitemaps
from sumi.engine.gate import Gate
from sumi.engine.io import Io
from sumi.engine.native_markdown import NativeMarkdown, as_markdown, is_markdown
from sumi.engine.revisit import Revisits
from sumi.engine.robots_cache import Turn
from sumi.engine.soft_errors import SoftErrors
from sumi.engine.visit import HTML, Sample, Visit
from sumi.events import PageDeferred, Warned
from sumi.frontier.retry import retry_delay
from sumi.model import ASSETS, Hop, Kind, Response
from sumi.outcomes import KEPT, UP_TO_DATE, Outcome, Verdict
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.ports import Deferral, Settlement
from sumi.recipe import Recipe
from sumi.urls import Rules, rules_for
from sumi.urls.alternatives import other_name, other_path

# A path that robots.txt denies may be allowed without the parameters that the identity leaves out.
_ELSEWHERE: Final = {
    Outcome.NOT_FOUND: other_path,
    Outcome.ROBOTS_DENIED: other_path,
    Outcome.DNS_FAILED: other_name,
}


class Digestion:
    """The second half of a visit."""

    def __init__(
        self, recipe: Recipe, io: Io, gate: Gate, revisits: Revisits, native: NativeMarkdown
    ) -> None:
        self._recipe = recipe
        self._io = io
        self._gate = gate
        self._revisits = revisits
        self._soft_errors = SoftErrors(io, gate)
        self._contents = Contents(recipe, io, gate)
        self._assets = Assets(recipe, io, gate)
        self._endings = Endings(io, self._assets)
        self._links = FoundLinks(recipe, io, gate, self._assets)
        self._redirects = Redirects(recipe, io, self._endings, self._links)
        self._sitemaps = Sitemaps(io, gate, self._links, revisits)
        self._native = native
        self._rules = rules_for(recipe.preset, recipe.keep_params)

    async def load(self) -> None:
        """Load what earlier runs learnt about traps, contents and Markdown."""
        await self._contents.load()
        await self._native.load()

    def settled(self, visit: Visit, unit: Settlement | Deferral, accepted: bool) -> None:
        """The unit that ``conclude`` returned was written, or refused."""
        kept = unit if accepted and isinstance(unit, Settlement) and unit.verdict.outcome in KEPT else None
        self._gate.quota.settled(visit, kept=kept is not None)
        self._contents.settled(visit, kept=kept is not None)
        if kept is not None and kept.verdict.outcome is Outcome.UNCHANGED and kept.facts.content_key:
            self._contents.confirmed(visit.url, kept.facts.content_key)

    async def conclude(self, visit: Visit, acquired: Acquired) -> Settlement | Deferral:
        unit = await self._concluded(visit, acquired)
        response = acquired.response if isinstance(acquired, Fetched | Ended) else None
        if response is None or not isinstance(unit, Settlement) or unit.verdict.outcome not in UP_TO_DATE:
            return unit
        return self._revisits.dated(unit, response.timing.started)

    async def _concluded(self, visit: Visit, acquired: Acquired) -> Settlement | Deferral:
        if visit.variant.name != HTML and isinstance(acquired, Ended | Redirected | Fetched):
            return await self._own_markdown(visit, acquired)
        match acquired:
            case Turn():
                found = await self._gate.judge(acquired.found)
                return Deferral(
                    visit.lease,
                    self._now(),
                    acquired.not_before,
                    found=found,
                    head_answered=acquired.head_answered,
                )
            case Crowded():
                await self._gate.quota.wait(visit.candidate)
                return Deferral(visit.lease, self._now(), self._now())
            case Ended():
                return await self._ended(visit, acquired)
            case Redirected():
                return await self._redirects.redirected(visit, acquired)
            case Fetched():
                return await self._fetched(visit, acquired.response)

    # ── no content ─────────────────────────────────────────────────────────────────────────────────────

    async def _ended(self, visit: Visit, ended: Ended) -> Settlement | Deferral:
        outcome = ended.verdict.outcome
        challenge = await self._soft_errors.of_error(visit, ended.response) if ended.response else None
        if challenge is not None:
            return await self._endings.without_content(visit, challenge, ended.response)
        other = _other_spelling(visit, outcome, self._rules)
        if other is not None:
            return Deferral(visit.lease, self._now(), self._now(), address=other)
        delay = None
        if visit.report is not None:
            delay = retry_delay(outcome, visit.lease.attempt, self._recipe.retry, self._io.jitter())
        if delay is None:
            return await self._endings.without_content(visit, ended.verdict, ended.response)
        not_before = self._now() + delay
        self._io.tell(PageDeferred(visit.url, ended.verdict.rule, not_before))
        return Deferral(visit.lease, self._now(), not_before, why=ended.verdict)

    # ── the site's own Markdown ────────────────────────────────────────────────────────────────────────

    async def _own_markdown(
        self, visit: Visit, acquired: Ended | Redirected | Fetched
    ) -> Settlement | Deferral:
        """Keep it if it is the page and as good; otherwise request the page itself next."""
        if isinstance(acquired, Ended) and acquired.verdict.outcome is Outcome.UNCHANGED:
            return await self._ended(visit, acquired)
        response = acquired.response if isinstance(acquired, Fetched) else None
        if visit.tried.sample is not None:
            better = await self._native.compared(visit, visit.tried.sample, response)
            if better is None:
                return self._once_more(visit)
            if isinstance(better, Sample):
                return await self._fetched(visit, better.response)
            return await self._kept_markdown(visit, better, compared=True)
        if response is not None and is_markdown(response):
            return await self._kept_markdown(visit, response, compared=False)
        return await self._missed(visit)

    async def _kept_markdown(
        self, visit: Visit, response: Response, *, compared: bool
    ) -> Settlement | Deferral:
        request = msgspec.structs.replace(self._request(visit, response), content_type=as_markdown(response))
        digest = await self._io.digester.digest(request)
        if isinstance(digest, Undigested) or not (compared or self._native.believes(visit, response, digest)):
            return await self._missed(visit)
        settlement = await self._page(visit, response, digest)
        if isinstance(settlement, Deferral) or settlement.facts.path is None:
            return settlement
        source = visit.variant.target if visit.variant.target != visit.url else visit.variant.name
        facts = msgspec.structs.replace(settlement.facts, source=source)
        return msgspec.structs.replace(settlement, facts=facts)

    async def _missed(self, visit: Visit) -> Deferral:
        await self._native.missed(visit)
        return self._once_more(visit)

    def _once_more(self, visit: Visit) -> Deferral:
        return Deferral(visit.lease, self._now(), self._now())

    # ── content ────────────────────────────────────────────────────────────────────────────────────────

    async def _fetched(self, visit: Visit, response: Response) -> Settlement | Deferral:
        if visit.candidate.kind in ASSETS:
            return await self._asset(visit, response)
        request = self._request(visit, response)
        digest = await self._io.digester.digest(request)
        if isinstance(digest, Undigested):
            return await self._undigested(visit, response, digest.verdict)
        if digest.problem:
            self._io.tell(Warned(f"{visit.url}: {digest.problem}"))
        if digest.links_dropped:
            taken = f"the first {len(digest.links):,} links were taken"
            self._io.tell(Warned(f"{visit.url}: {taken}, {digest.links_dropped:,} more were left out"))
        if visit.candidate.kind is Kind.SITEMAP:
            return await self._sitemaps.read(visit, response, digest)
        if visit.candidate.kind is Kind.NAVIGATION:
            return await self._navigation(visit, response, digest)
        if visit.candidate.kind is Kind.PROBE:
            return self._endings.probed(visit, response, digest)
        sample = Sample(request, response, digest)
        if self._native.active and await self._native.wants_markdown_of(visit, sample):
            return self._once_more(visit)
        return await self._page(visit, response, digest)

    async def _page(self, visit: Visit, response: Response, digest: PageDigest) -> Settlement | Deferral:
        objection = await self._soft_errors.of_page(visit, response, digest)
        if isinstance(objection, Deferral):
            return objection
        if objection is not None:
            return await self._endings.without_content(visit, objection, response)
        if digest.refresh is not None and not self._recipe.record_links and is_only_a_redirect(digest):
            address = digest.addresses.get(digest.refresh, "")
            return await self._redirects.refreshed(visit, response, digest.refresh, address)
        verdict, facts = await self._contents.keep(visit, response, digest)
        found = await self._links.links(visit, digest)
        links = self._links.recorded((*digest.links, *digest.navigation, digest.refresh, digest.canonical))
        return Settlement(visit.lease, verdict, self._now(), facts, found, links)

    async def _navigation(self, visit: Visit, response: Response, digest: PageDigest) -> Settlement:
        more = await self._links.navigation(visit, digest)
        pages = await self._links.judged(digest.links, visit, Hop.LINK, spelled=digest.addresses)
        rule = f"{len(digest.links)} pages, {len(digest.navigation)} files with more"
        verdict = Verdict(Outcome.SITEMAP_CUT if digest.cut else Outcome.READ, rule)
        links = self._links.recorded((*digest.links, *digest.navigation))
        return Settlement(visit.lease, verdict, self._now(), bare_facts(response, None), more + pages, links)

    async def _undigested(self, visit: Visit, response: Response, verdict: Verdict) -> Settlement:
        if self._assets.takes(verdict):
            return await self._asset(visit, response)
        return await self._endings.without_content(visit, verdict, response)

    async def _asset(self, visit: Visit, response: Response) -> Settlement:
        kept = await self._assets.keep(visit, response)
        if isinstance(kept, Verdict):
            return await self._endings.without_content(visit, kept, response)
        verdict, facts = kept
        return Settlement(visit.lease, verdict, self._now(), facts)

    def _request(self, visit: Visit, response: Response) -> DigestRequest:
        recipe = self._recipe
        return DigestRequest(
            url=response.url,
            body=response.body,
            content_type=response.header("content-type") or "",
            kind=Kind.PAGE if visit.candidate.kind is Kind.PROBE else visit.candidate.kind,
            preset=recipe.preset,
            keep_params=recipe.keep_params,
            markdown=recipe.markdown,
            anchors=recipe.anchors,
            max_links=recipe.urls.links_per_page,
            max_depth=recipe.parse.depth,
            max_nodes=recipe.parse.nodes,
            raw=recipe.keep_raw and visit.candidate.kind is Kind.PAGE,
            dates=self._revisits.wants_dates,
            vocabulary=self._gate.traps.watches(visit.url),
            assets=bool(recipe.asset_bytes),
            documents=recipe.documents,
            alternate=self._native.active,
            navigation=recipe.take_links,
        )

    def _now(self) -> float:
        return self._io.clock.now()


def _other_spelling(visit: Visit, outcome: Outcome, rules: Rules) -> str | None:
    """Another spelling to request for a page that is not there, once; None if there is none.

    Some servers know only ``/guide/`` and some only ``/guide``; a site may exist only with ``www.``. To the
    job both are one page. The other spelling is a request like any other, on a turn of its own.
    """
    find = _ELSEWHERE.get(outcome)
    candidate = visit.candidate
    if find is None or candidate.kind is not Kind.PAGE or candidate.hop is Hop.GUESS:
        return None
    if outcome is Outcome.ROBOTS_DENIED and not candidate.address:
        return None  # the spelling is not used to get around robots.txt
    other = None if visit.tried.other_spelling else find(candidate.target, candidate.url, rules)
    if other is not None:
        visit.tried.other_spelling = True
    return other
