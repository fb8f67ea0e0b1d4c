"""The one gate that every URL passes, in one order: form, scope, traps, quotas, robots.txt, listing.

Seeds, links, redirect targets, canonicals, sitemap entries and sitemaps all pass it; there is no flag to
bypass it.
"""

import asyncio
from collections.abc import Iterable
from itertools import islice

import msgspec

from sumi.engine.io import Io
from sumi.engine.limits import BaseQuota, LimitsInForce
from sumi.engine.robots_cache import RobotsCache
from sumi.frontier.novelty import SessionWatch, TemplateWatch
from sumi.model import LISTED, Candidate, Hop, Kind, PageFacts
from sumi.outcomes import MEANINGS, Ending, Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.policy import FollowLinks, RobotsPolicy, TrapPolicy
from sumi.ports import Judged, Ledger, RobotsRecord
from sumi.recipe import Recipe
from sumi.robots import Ruling, parse_robots, product_token, robots_verdict
from sumi.scope import Scope
from sumi.scope.caps import NOT_ASKED_FOR, CapLedger
from sumi.scope.traps import trap_shape
from sumi.urls import host_key, normalize_with, origin

UNLISTED = Verdict(Outcome.UNLISTED, "the sitemap does not list it")
NOT_FOLLOWED = Verdict(Outcome.UNLISTED, "links are not followed")
ONLY_LISTED = Verdict(Outcome.LISTED, "this run lists pages and fetches none")
PLENTY_LISTED = Verdict(Outcome.OVER_CAP, "the sitemaps before it list more pages than the page limit allows")
LINKED = frozenset({Hop.LINK, Hop.CANONICAL})
# Judging one URL takes about ten microseconds, so a batch holds up the event loop for 20 ms.
BATCH = 2000
LISTED_HOSTS_NOTE = "hosts whose sitemaps list pages"


class Gate:
    def __init__(self, recipe: Recipe, io: Io, robots: RobotsCache, limits: LimitsInForce) -> None:
        self._recipe = recipe
        self.limits = limits
        self._frontier = io.frontier
        self._ledger = io.ledger
        self._robots = robots
        self.traps = TrapWatch(recipe.traps)
        self._caps = CapLedger(recipe.caps)
        self.quota = BaseQuota(recipe, limits)
        self._listings = Listings(recipe, io)
        # Rules about which pages are wanted do not apply to a seed, from which the others are found, nor to
        # where it redirects on its host: the user asked for that.
        self._denying = Scope(deny=recipe.scope.deny)
        self._seed_scope = msgspec.structs.replace(recipe.scope, paths=(), include=())

    async def load(self) -> None:
        """Load what earlier runs learnt and counted."""
        await self._listings.load()
        await self._load_caps()

    async def _load_caps(self) -> None:
        """Count what earlier runs requested; pending pages get the places that are left, in order."""
        if not self._recipe.caps.limits_anything:
            return
        waiting = []
        async for record in self._ledger.records():
            if record.kind is not Kind.PAGE or record.outcome in NOT_ASKED_FOR:
                continue
            if record.outcome is Outcome.PENDING:
                waiting.append(record.url)
            else:
                self._caps.load(record.url)
        for url in waiting:
            self._caps.admits(url)

    async def judge(self, candidates: Iterable[Candidate]) -> tuple[Judged, ...]:
        judged: list[Judged] = []
        waiting = iter(candidates)
        while batch := [Judged(c, self._refusal(c)) for c in islice(waiting, BATCH)]:
            judged += batch
            if len(batch) == BATCH:
                await asyncio.sleep(0)  # a sitemap of 50,000 entries must not block the others
        await self._listings.note()
        return tuple(judged)

    def refuses_now(self, candidate: Candidate) -> Verdict | None:
        """Judge again what was accepted before, perhaps by an earlier run: it may now be outside the scope or
        the caps, or have turned out to be a trap."""
        return (
            self._malformed(candidate)
            or self._outside(candidate)
            or self.traps.refusal(candidate)
            or self.quota.refusal(candidate)
            or (self._caps.refusal(candidate.url) if candidate.kind is Kind.PAGE else None)
        )

    async def superfluous_sitemap(self, candidate: Candidate) -> Verdict | None:
        """Refuse a sitemap if those read before list far more pages than are wanted."""
        plenty, most = self._recipe.plenty, self.limits.max_pages
        if candidate.kind is not Kind.SITEMAP or not plenty or not most:
            return None
        stats = await self._frontier.stats()
        wanted = most - stats.captured
        return PLENTY_LISTED if stats.pending > max(plenty, 2 * wanted) else None

    def permission(self, url: str) -> tuple[str, tuple[str, ...]]:
        """Why robots.txt lets a page be fetched, and its Content-Signal lines."""
        return self._robots.permission(url)

    def _refusal(self, candidate: Candidate) -> Verdict | None:
        refusal = self._rule_against(candidate)
        if refusal is None:
            self._listings.accepted(candidate)
        return refusal

    def _rule_against(self, candidate: Candidate) -> Verdict | None:
        return (
            self.refuses_now(candidate)
            or self._denied(candidate)
            or self._unlisted(candidate)
            or (ONLY_LISTED if self._recipe.list_only and candidate.kind is Kind.PAGE else None)
            # Last, because it takes a place.
            or (self._caps.admits(candidate.url) if candidate.kind is Kind.PAGE else None)
        )

    def _malformed(self, candidate: Candidate) -> Verdict | None:
        limits = self._recipe.urls
        if len(candidate.url) > limits.length:
            return Verdict(Outcome.BAD_URL, f"longer than {limits.length} characters")
        if candidate.redirects > limits.redirects:
            return Verdict(Outcome.TOO_MANY_REDIRECTS, f"more than {limits.redirects} redirects in a row")
        return None

    def _outside(self, candidate: Candidate) -> Verdict | None:
        if candidate.kind is Kind.SITEMAP and (candidate.hop is Hop.ROBOTS or _same_host(candidate)):
            return None  # the site itself named it; what it lists must still be in scope
        is_seed = candidate.hop is Hop.SEED or (candidate.hop is Hop.REDIRECT and candidate.depth == 0)
        return self._judged_by(self._seed_scope if is_seed else self._recipe.scope, candidate)

    def _judged_by(self, scope: Scope, candidate: Candidate) -> Verdict | None:
        """A denied URL is denied in either spelling."""
        form = self._recipe.scope_rules
        if form is None:
            return scope.judge(candidate)
        shaped = normalize_with(candidate.url, form) or candidate.url
        refusal = scope.judge(msgspec.structs.replace(candidate, url=shaped))
        return refusal or (self._denying.judge(candidate) if shaped != candidate.url else None)

    def _denied(self, candidate: Candidate) -> Verdict | None:
        """By robots.txt, which is about the requested URL: in this spelling and in the other one."""
        refusal = self._robots.known_refusal(candidate.target)
        if refusal is None or not candidate.address:
            return refusal
        return self._robots.known_refusal(candidate.url)

    def _unlisted(self, candidate: Candidate) -> Verdict | None:
        if candidate.hop not in LINKED or self._recipe.follow_links is FollowLinks.ALWAYS:
            return None
        if candidate.kind is Kind.FILE:
            return None  # sitemaps list pages
        if self._recipe.follow_links is FollowLinks.NEVER:
            return NOT_FOLLOWED
        return UNLISTED if self._listings.covers(candidate.url) else None


def _same_host(candidate: Candidate) -> bool:
    return candidate.referrer is not None and host_key(candidate.referrer) == host_key(candidate.url)


class TrapWatch:
    """What the run has learnt about traps. All of it can be rebuilt from the ledger after a restart."""

    def __init__(self, policy: TrapPolicy) -> None:
        self._policy = policy
        self._templates = TemplateWatch(policy.fruitless)
        self._sessions = SessionWatch()

    def refusal(self, candidate: Candidate) -> Verdict | None:
        """By the form of the URL, or by what similar URLs brought."""
        if candidate.kind is not Kind.PAGE or candidate.hop is Hop.SEED:
            return None
        shape = trap_shape(candidate, self._policy)
        # The site itself lists what is in its sitemap: only the form of the URL counts.
        return shape if shape or candidate.hop in LISTED else self._learnt(candidate.url)

    def _learnt(self, url: str) -> Verdict | None:
        name = self._sessions.repeated(url)
        if name is not None:
            return Verdict(Outcome.TRAP, f"session id {name}: the page is here under another session")
        template = self._templates.cut(url)
        if template is not None:
            limit = self._policy.fruitless
            return Verdict(Outcome.TRAP, f"{template}: {limit} similar pages brought nothing new")
        return None

    def watches(self, url: str) -> bool:
        return self._templates.watches(url)

    def observe(self, url: str, digest: PageDigest, *, known_content: bool) -> int:
        self._sessions.observe(url, digest.simhash)
        return self._templates.observe(url, digest.vocabulary, known_content=known_content)

    def restore(self, url: str, at: float, facts: PageFacts) -> None:
        self._sessions.observe(url, int(facts.simhash, 16) if facts.simhash else None)
        self._templates.load(url, at, facts.fruitless)


class Listings:
    """Which hosts have sitemaps that list pages: links to unlisted pages of those are not followed."""

    def __init__(self, recipe: Recipe, io: Io) -> None:
        self._matters = recipe.follow_links is FollowLinks.UNLESS_SITEMAP
        self._frontier = io.frontier
        self._ledger = io.ledger
        self._hosts: set[str] = set()
        self._noted = 0

    async def load(self) -> None:
        if not self._matters:
            return
        noted = await self._ledger.get_note(LISTED_HOSTS_NOTE)
        if noted is not None:
            self._hosts.update(noted.split())
        elif (await self._frontier.stats()).listed:  # earlier versions stored only their number
            async for record in self._ledger.records():
                is_listed = record.hop in LISTED and record.kind is Kind.PAGE
                if is_listed and MEANINGS[record.outcome].ending is not Ending.PASSED_OVER:
                    self._hosts.add(host_key(record.url))
        self._noted = len(self._hosts)

    def covers(self, url: str) -> bool:
        """Whether a sitemap decides which pages of this host there are."""
        return bool(self._hosts) and host_key(url) in self._hosts

    def accepted(self, candidate: Candidate) -> None:
        if self._matters and candidate.hop in LISTED and candidate.kind is Kind.PAGE:
            self._hosts.add(host_key(candidate.url))

    async def note(self) -> None:
        """Store what was learnt since. After a crash before the pages are stored, their sitemap is read
        again."""
        if len(self._hosts) > self._noted:
            self._noted = len(self._hosts)
            await self._ledger.put_note(LISTED_HOSTS_NOTE, " ".join(sorted(self._hosts)))


class Prediction(msgspec.Struct, frozen=True):
    """What the gate would say about a URL that was not found, by what is stored."""

    refusal: Verdict | None  # None: it would be accepted
    caveat: str = ""  # what is unknown


async def predict(url: str, recipe: Recipe, ledger: Ledger) -> Prediction:
    """As for a link on a seed, the usual way to be found."""
    refusal = recipe.scope.judge(Candidate(url, Hop.LINK, depth=1))
    if refusal is not None or not recipe.robots.respect:
        return Prediction(refusal)
    record = await ledger.get_robots(origin(url))
    if record is None:
        return Prediction(None, f"robots.txt of {origin(url)} has not been read")
    return Prediction(_robots_refusal(url, record, recipe.robots, recipe.user_agent))


def _robots_refusal(url: str, record: RobotsRecord, policy: RobotsPolicy, agent: str) -> Verdict | None:
    verdict = robots_verdict(record.status, policy)
    rules = parse_robots(record.body, policy.max_bytes).rules_for(product_token(agent))
    return Ruling(verdict.access, verdict.meaning, record.fetched_at, rules).refusal(url)
