"""Where a page leads: links, images, files, redirects, sitemap entries. All of it passes the gate.

Most links are known already; only new ones become candidates."""

from collections.abc import Iterable, Mapping

import msgspec

from sumi.engine.answers import bare_facts
from sumi.engine.contents import Assets
from sumi.engine.gate import Gate
from sumi.engine.io import Io
from sumi.engine.revisit import Revisits
from sumi.engine.visit import Visit
from sumi.model import Candidate, Hop, Kind, Response
from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.ports import Judged, Settlement
from sumi.recipe import Recipe
from sumi.scope.hosts import DomainClasses
from sumi.urls import split

NO_ADDRESSES: Mapping[str, str] = {}
# Sitemap indexes within indexes. The format allows none; real sites have been seen with two or three.
SITEMAP_NESTING = 5
NESTED_TOO_DEEPLY = Verdict(Outcome.TOO_DEEP, f"it is nested in more than {SITEMAP_NESTING} sitemap indexes")


class FoundLinks:
    def __init__(self, recipe: Recipe, io: Io, gate: Gate, assets: Assets) -> None:
        self._recipe = recipe
        self._frontier = io.frontier
        self._gate = gate
        self._assets = assets
        self._homes = DomainClasses(recipe.origins, recipe.scope.blacklist, recipe.scope.stub)
        self._has_homes = bool(recipe.origins or recipe.scope.bases)

    async def links(self, visit: Visit, digest: PageDigest) -> tuple[Judged, ...]:
        if not self._recipe.take_links:
            return ()
        spelled = digest.addresses
        found = await self.judged(digest.links, visit, Hop.LINK, spelled=spelled)
        if self._recipe.asset_bytes:
            wanted = self._assets.wanted_of(digest, found)
            files = await self.judged(wanted, visit, Hop.LINK, Kind.FILE, spelled)
            images = await self.judged(digest.images, visit, Hop.EMBED, Kind.IMAGE, spelled)
            # Before the links: the first finding of a URL counts, and as links these were refused.
            found = images + files + found
        if digest.navigation:
            found = await self.navigation(visit, digest) + found
        if digest.refresh is not None:
            found += await self.judged([digest.refresh], visit, Hop.REDIRECT, spelled=spelled)
        if digest.canonical is not None and digest.canonical != visit.url:
            found += await self.judged([digest.canonical], visit, Hop.CANONICAL, spelled=spelled)
        return found

    async def navigation(self, visit: Visit, digest: PageDigest) -> tuple[Judged, ...]:
        return await self.judged(digest.navigation, visit, Hop.LINK, Kind.NAVIGATION, digest.addresses)

    def recorded(self, links: Iterable[str | None]) -> tuple[str, ...] | None:
        """The links to record in the settlement: each once, in order."""
        return tuple(dict.fromkeys(filter(None, links))) if self._recipe.record_links else None

    async def judged(
        self,
        urls: list[str],
        visit: Visit,
        hop: Hop,
        kind: Kind = Kind.PAGE,
        spelled: Mapping[str, str] = NO_ADDRESSES,
    ) -> tuple[Judged, ...]:
        """The verdicts on those URLs that are new, or for which this finding could matter."""
        source = visit.candidate
        # A step from a sitemap to a page counts, also by a redirect: only seeds are at depth 0.
        listed = source.kind is Kind.SITEMAP and kind is Kind.PAGE
        # The data of a page's menu is part of the page.
        step = hop is Hop.LINK and kind is not Kind.NAVIGATION
        depth = source.depth + (step or listed or self._recipe.record_links)
        redirects = source.redirects + 1 if hop is Hop.REDIRECT else 0
        fresh = await self._frontier.unseen(urls, depth, hop)
        address = spelled.get
        found = (
            Candidate(url, hop, kind, depth, source.url, 0.0, redirects, address(url, "")) for url in fresh
        )
        return await self._gate.judge(map(self._at_home, found) if self._has_homes else found)

    def _at_home(self, candidate: Candidate) -> Candidate:
        """Pages of an origin, or under a base, are at depth 0 wherever they were found."""
        scope = self._recipe.scope
        if scope.bases:
            return scope.base_urls.placed(candidate, scope.external_hops)
        if self._homes.origin_of(split(candidate.url).host) is None:
            return candidate
        return msgspec.structs.replace(candidate, depth=0)


class Sitemaps:
    """A sitemap that was read: its pages, and the sitemaps that an index names."""

    def __init__(self, io: Io, gate: Gate, links: FoundLinks, revisits: Revisits) -> None:
        self._io = io
        self._gate = gate
        self._links = links
        self._revisits = revisits

    async def read(self, visit: Visit, response: Response, digest: PageDigest) -> Settlement:
        # Again: without a rate limit many are in flight before the first has been read.
        superfluous = await self._gate.superfluous_sitemap(visit.candidate)
        if superfluous is not None:
            return Settlement(visit.lease, superfluous, self._io.clock.now(), bare_facts(response, None))
        self._revisits.listed(digest.modified)
        pages = await self._links.judged(digest.links, visit, Hop.MANIFEST, spelled=digest.addresses)
        files = await self._links.judged(digest.sitemaps, visit, Hop.MANIFEST, Kind.SITEMAP)
        if files and await self._indexes_above(visit.candidate) >= SITEMAP_NESTING:
            files = tuple(Judged(each.candidate, each.refusal or NESTED_TOO_DEEPLY) for each in files)
        taken = f"{len(digest.links)} pages, {len(digest.sitemaps)} sitemaps"
        verdict = Verdict(Outcome.READ, taken)
        if digest.cut:
            verdict = Verdict(Outcome.SITEMAP_CUT, f"{taken}, and then {digest.problem}")
        return Settlement(
            visit.lease, verdict, self._io.clock.now(), bare_facts(response, None), files + pages
        )

    async def _indexes_above(self, candidate: Candidate) -> int:
        """How many indexes led to this sitemap."""
        indexes = 0
        while candidate.hop in (Hop.MANIFEST, Hop.REDIRECT) and indexes < SITEMAP_NESTING:
            indexes += candidate.hop is Hop.MANIFEST
            above = None if candidate.referrer is None else await self._io.ledger.record(candidate.referrer)
            if above is None:
                break
            candidate = Candidate(above.url, above.hop, above.kind, above.depth, above.referrer)
        return indexes
