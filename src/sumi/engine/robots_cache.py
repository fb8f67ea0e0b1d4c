"""Knows each site's robots.txt, and fetches it when a lease needs one that is not there.

No visit waits holding a URL: one that finds no fresh robots.txt spends its turn with the host on that one
request and hands its page back. So the request is paced like any other, redirects of robots.txt included.
"""

import asyncio
import re

import msgspec

from sumi.engine.answers import REDIRECTS, host_report, location_of
from sumi.engine.io import Io
from sumi.engine.limits import LimitsInForce
from sumi.engine.robots_redirects import HostsInUse, RobotsRedirects
from sumi.events import RobotsRead, Warned
from sumi.frontier.retry import retry_delay
from sumi.model import Candidate, Hop, Kind, Request, Response
from sumi.outcomes import UNREACHABLE, Outcome, Trouble, Verdict
from sumi.parse.sitemap.reader import usual_places
from sumi.policy import Preset
from sumi.ports import HostReport, RobotsRecord
from sumi.recipe import Recipe
from sumi.robots import (
    RobotsAccess,
    RobotsRules,
    is_web_page,
    parse_robots,
    product_token,
    robots_verdict,
)
from sumi.urls import host_key, normalize, origin, split

# How long "could not be had" stands before it is asked for again.
DENIAL_SECONDS = 300.0
# A server may ask for its robots.txt to be read more often than once a day. Not more often than this: a page
# has to get its turn in between, which may be the longest Crawl-delay away, slowed down tenfold.
SHORTEST_LIFETIME = 3600.0
LONG_CRAWL_DELAY = 10.0
TOO_MANY = 429
# What is true of the host as a whole: its pages end by that cause, and are not said to lack a robots.txt.
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?([0-9]{1,9})", re.IGNORECASE)


class Ruling(msgspec.Struct, frozen=True):
    """What one origin's robots.txt means for us."""

    access: RobotsAccess
    words: str
    expires: float
    rules: RobotsRules
    reachable: bool = True
    denies_as: Outcome = Outcome.ROBOTS_DENIED  # all of it

    def refusal(self, url: str) -> Verdict | None:
        if self.access is RobotsAccess.ALLOW_ALL:
            return None
        if self.access is RobotsAccess.DENY_ALL:
            return Verdict(self.denies_as, self.words)
        parts = split(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        decision = self.rules.decide(path)
        return None if decision.allowed else Verdict(Outcome.ROBOTS_DENIED, f"robots.txt: {decision.rule}")

    def allowance(self, url: str) -> str:
        """Why a page may be fetched: the line that says so, or that there is none."""
        if self.access is not RobotsAccess.RULES:
            return self.words
        parts = split(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        return self.rules.decide(path).rule or "no rule applies"


class Turn(msgspec.Struct, frozen=True):
    """A lease's turn went to robots.txt, or to HEAD. No report: another visit was asking already, and nothing
    was sent."""

    not_before: float
    report: HostReport | None = None
    found: tuple[Candidate, ...] = ()
    head_answered: bool = False


class RobotsCache:
    def __init__(self, recipe: Recipe, io: Io, limits: LimitsInForce) -> None:
        self._recipe = recipe
        self._policy = recipe.robots
        self._limits = limits
        self._io = io
        self._product = product_token(recipe.user_agent)
        self._rulings: dict[str, Ruling] = {}
        self._asking: dict[str, asyncio.Event] = {}
        self._attempts: dict[str, int] = {}
        self._rested: set[str] = set()  # sites whose robots.txt may be asked for right after a page
        self._unheard: set[str] = set()  # sites whose denial no page has been told yet
        self._crawl_delays: dict[str, float] = {}  # by host
        self.in_use = HostsInUse()
        self._redirects = RobotsRedirects(io.frontier, self.in_use, self.host_delay)

    def known_refusal(self, url: str) -> Verdict | None:
        """What is already known to be forbidden; unknown is not a refusal."""
        if not self._policy.respect:
            return None
        ruling = self._rulings.get(origin(url))
        if ruling is None or not ruling.reachable:
            return None  # decided when its turn comes: the host may be back by then
        return ruling.refusal(url)

    def permission(self, url: str) -> tuple[str, tuple[str, ...]]:
        """What is said to a page that may be fetched, and the Content-Signal lines that hold for it."""
        ruling = self._rulings.get(origin(url))
        if ruling is None:
            return "not asked", ()
        return ruling.allowance(url), ruling.rules.content_signals

    def crawl_delay(self, url: str) -> float | None:
        ruling = self._rulings.get(origin(url))
        return ruling.rules.crawl_delay if ruling and self._policy.respect else None

    def host_delay(self, host: str) -> float:
        """Seconds between requests to a host, by our own rules and its own."""
        pacing = self._limits.pacing
        return max(pacing.delay, min(self._crawl_delays.get(host, 0.0), pacing.max_crawl_delay))

    def page_delay(self, host: str) -> float:
        """Seconds between two pages of a host."""
        return self._recipe.requests_per_page * self.host_delay(host)

    async def consult(self, url: str, host: str) -> Verdict | Turn | None:
        """None: go ahead. A verdict: refused. A turn, which is ``host``'s: spent, come back later."""
        if not self._policy.respect and not self._recipe.find_sitemaps:
            return None
        site = origin(url)
        ruling = self._fresh_ruling(site)
        if ruling is None:
            return await self._spend_turn(site, host)
        return ruling.refusal(url) if self._policy.respect else None

    def _fresh_ruling(self, site: str) -> Ruling | None:
        now = self._io.clock.now()
        ruling = self._rulings.get(site)
        if ruling is not None and site in self._unheard:
            # The host's own pause may outlast a denial. It begins to age when the first page hears of it, or
            # pages would ask for robots.txt for ever and never end.
            self._unheard.discard(site)
            ruling = self._rulings[site] = msgspec.structs.replace(ruling, expires=now + DENIAL_SECONDS)
        return ruling if ruling is not None and now < ruling.expires else None

    async def _spend_turn(self, site: str, host: str) -> Turn:
        if site in self._asking:
            await self._asking[site].wait()
            return Turn(not_before=self._io.clock.now())
        done = self._asking[site] = asyncio.Event()
        try:
            return await self._stored(site) or await self._ask(site, host)
        finally:
            del self._asking[site]
            done.set()

    async def _stored(self, site: str) -> Turn | None:
        """What an earlier run wrote down still stands. Its sitemaps are handed on again: that run may have
        been killed between writing down robots.txt and writing down what it named."""
        record = None if site in self._rulings else await self._io.ledger.get_robots(site)
        now = self._io.clock.now()
        if record is None or not _reached(record.status):
            return None
        if not 0 <= now - record.fetched_at < self._policy.max_age:
            return None  # too old, or from a clock that was set back since
        return Turn(now, found=self._named_sitemaps(record, self._rule(record)))

    def _named_sitemaps(self, record: RobotsRecord, ruling: Ruling) -> tuple[Candidate, ...]:
        wanted = (
            self._recipe.find_sitemaps
            and ruling.reachable
            and self._recipe.scope.wants_sitemaps_of(record.origin)
        )
        return self._sitemaps(record.origin, record) if wanted else ()

    async def _ask(self, site: str, host: str) -> Turn:
        until = self._rest_of(site) or await self._redirects.wait_for(site, host, self._io.clock.now())
        if until is not None:
            return Turn(until)
        # One byte more than may be read, so that the parser can tell a cut file from a whole one.
        request = Request(self._redirects.current(site), max_bytes=self._policy.max_bytes + 1, plain=True)
        answer = await self._io.fetcher.fetch(request)
        await self._redirects.asked(site, host, answer.timing.reached, self._io.clock.now())
        if isinstance(answer, Response) and answer.status in REDIRECTS:
            return await self._follow(site, answer)
        if isinstance(answer, Trouble) or not _reached(answer.status):
            return await self._try_again(site, answer)
        report, age = self._report(site, answer), _max_age(answer)
        # An error page is no robots.txt, whatever it says and whichever status it comes with.
        is_file = 200 <= answer.status < 300 and not is_web_page(answer.body)
        return await self._conclude(site, answer.status, answer.body if is_file else b"", report, age=age)

    def _rest_of(self, site: str) -> float | None:
        """The turn is a page's, and pages may follow each other sooner than a robots.txt may follow one."""
        pacing = self._limits.pacing
        was_asked = host_key(site) in self._crawl_delays
        if pacing.manifest_delay <= pacing.delay or not was_asked or site in self._rested:
            return None
        self._rested.add(site)
        return self._io.clock.now() + pacing.manifest_delay

    async def _follow(self, site: str, answer: Response) -> Turn:
        # To be requested, not to be told from others: the job's idea of what makes a page is of no concern.
        target = normalize(location_of(answer), Preset.MIRROR, self._redirects.current(site))
        if not self._redirects.follow(site, target, self._policy.max_redirects):
            # Beyond the limit the file counts as unavailable, which allows.
            return await self._conclude(site, 404, b"", self._report(site, answer))
        return Turn(not_before=self._io.clock.now(), report=self._report(site, answer))

    def _report(self, site: str, answer: Response | Trouble) -> HostReport:
        return msgspec.structs.replace(host_report(answer), asked_for=f"{site}/robots.txt")

    async def _try_again(self, site: str, answer: Response | Trouble) -> Turn:
        attempt = self._attempts.get(site, 0)
        self._attempts[site] = attempt + 1
        cause = outcome = self._cause(answer)
        if isinstance(answer, Trouble) and self._recipe.retry.only:  # which names what it means
            outcome = answer.verdict.outcome
        delay = retry_delay(outcome, attempt, self._recipe.retry, self._io.jitter())
        if delay is not None:
            return Turn(not_before=self._io.clock.now() + delay, report=self._report(site, answer))
        words = answer.verdict.rule if isinstance(answer, Trouble) else ""
        status = 0 if isinstance(answer, Trouble) else answer.status
        turn = await self._conclude(site, status, b"", self._report(site, answer), words)
        ruling = self._rulings[site]
        if cause in UNREACHABLE and not ruling.reachable:
            self._rulings[site] = msgspec.structs.replace(ruling, denies_as=cause, words=words)
        return turn

    def _cause(self, answer: Response | Trouble) -> Outcome:
        """Why there is no robots.txt, as far as that says something about the pages of its host."""
        if isinstance(answer, Response):
            return self._silence_of(answer.status)
        cause = answer.verdict.outcome
        return cause if cause in UNREACHABLE else Outcome.ROBOTS_UNREACHABLE

    async def _conclude(
        self,
        site: str,
        status: int,
        body: bytes,
        report: HostReport,
        trouble: str = "",
        age: float | None = None,
    ) -> Turn:
        self._redirects.forget(site)
        self._attempts.pop(site, None)
        self._rested.discard(site)
        now = self._io.clock.now()
        record = RobotsRecord(site, status, body, now, trouble)
        old = await self._io.ledger.get_robots(site)
        if not _reached(status) and old is not None and 200 <= old.status < 300:
            record = msgspec.structs.replace(old, fetched_at=now)  # unreachable: the last copy stands
        await self._io.ledger.put_robots(record)
        ruling = self._rule(record, age)
        if not ruling.reachable:
            self._unheard.add(site)
        self._warn_of_long_delay(site, ruling)
        found = self._named_sitemaps(record, ruling)
        named = sum(candidate.hop is Hop.ROBOTS for candidate in found)  # and not the usual places
        self._io.tell(RobotsRead(site, status, ruling.words, ruling.rules.crawl_delay, named))
        return Turn(now, msgspec.structs.replace(report, crawl_delay=self.crawl_delay(site)), found)

    def _warn_of_long_delay(self, site: str, ruling: Ruling) -> None:
        delay, longest = ruling.rules.crawl_delay or 0.0, self._limits.pacing.max_crawl_delay
        if delay > LONG_CRAWL_DELAY and self._policy.respect:
            clamped = f"; {longest:g} s are kept" if delay > longest else ""
            self._io.tell(Warned(f"robots.txt of {site} asks for {delay:g} s between requests{clamped}"))

    def _rule(self, record: RobotsRecord, age: float | None = None) -> Ruling:
        reachable = _reached(record.status)
        verdict = robots_verdict(record.status, self._policy)
        words = f"{verdict.meaning}: {record.trouble}" if record.trouble else verdict.meaning
        rules = parse_robots(record.body, self._policy.max_bytes).rules_for(self._product)
        lifetime = DENIAL_SECONDS
        if reachable:
            lifetime = min(self._policy.max_age if age is None else age, self._policy.max_age)
        if self._policy.respect:
            self._crawl_delays[host_key(record.origin)] = rules.crawl_delay or 0.0
        denies_as = Outcome.ROBOTS_DENIED if reachable else self._silence_of(record.status)
        ruling = Ruling(verdict.access, words, record.fetched_at + lifetime, rules, reachable, denies_as)
        self._rulings[record.origin] = ruling
        return ruling

    def _silence_of(self, status: int) -> Outcome:
        """A job that takes "too many requests" for an answer does so here too."""
        only = self._recipe.retry.only
        takes_it = status == TOO_MANY and bool(only) and Outcome.RATE_LIMITED not in only
        return Outcome.RATE_LIMITED if takes_it else Outcome.ROBOTS_UNREACHABLE

    def _sitemaps(self, site: str, record: RobotsRecord) -> tuple[Candidate, ...]:
        """The sitemaps that robots.txt names; the usual places where it names none."""
        named = parse_robots(record.body, self._policy.max_bytes).sitemaps
        places = [(url, Hop.ROBOTS) for url in named] or [(url, Hop.GUESS) for url in usual_places(site)]
        robots_url = f"{site}/robots.txt"
        if self._recipe.scope.judge(Candidate(robots_url, kind=Kind.SITEMAP)) is not None:
            return ()  # no page of this host is wanted, only images that others show
        candidates = []
        for place, hop in places:
            # As files of an index, which may differ in a query that the job's pages are told apart without.
            url = normalize(place, Preset.MIRROR, robots_url)
            if url is not None:
                candidates.append(Candidate(url, hop, Kind.SITEMAP, referrer=robots_url))
        return tuple(candidates)


def _reached(status: int) -> bool:
    """Whether the server said something about robots.txt, be it that there is none."""
    return 0 < status < 500 and status != TOO_MANY


def _max_age(answer: Response) -> float | None:
    """How long the server wants its answer to be used, in seconds."""
    match = _MAX_AGE.search(answer.header("cache-control") or "")
    return None if match is None else max(float(match[1]), SHORTEST_LIFETIME)
