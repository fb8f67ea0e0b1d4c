"""Each site's robots.txt: cached, and fetched when a visit needs one that is not there.

No visit waits while it holds a URL: one that finds no fresh robots.txt spends its turn with the host on that
request and hands its page back. So the request is paced like any other.

Redirects of robots.txt are followed one turn at a time. The turn belongs to the site whose robots.txt it is;
if a redirect leads to another host, that host is held first, until it has had its own delay.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable

import msgspec

from sumi.engine.answers import REDIRECTS, TOO_MANY, host_report, location_of
from sumi.engine.io import Io
from sumi.engine.limits import LimitsInForce
from sumi.engine.shared_turns import SharedTurns
from sumi.events import RobotsRead, Warned
from sumi.frontier.pacing import BORROWED, INFINITY, ROBOTS_ELSEWHERE, ROBOTS_USED_BY_ANOTHER
from sumi.frontier.retry import retry_delay
from sumi.model import Candidate, Hop, Kind, Request, Response
from sumi.outcomes import UNREACHABLE, Outcome, Trouble, Verdict
from sumi.parse.sitemap.reader import usual_places
from sumi.policy import Preset
from sumi.ports import Frontier, HostReport, RobotsRecord
from sumi.recipe import Recipe
from sumi.robots import Ruling, is_web_page, parse_robots, product_token, robots_verdict
from sumi.urls import host_key, normalize, origin

# How long an unreachable robots.txt denies everything before it is requested again.
DENIAL_SECONDS = 300.0
# A server may want its robots.txt to be read more often than once a day, but not more often than this: a page
# has to get its turn in between, which may be the longest Crawl-delay away, slowed down tenfold.
SHORTEST_LIFETIME = 3600.0
LONG_CRAWL_DELAY = 10.0
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?([0-9]{1,9})", re.IGNORECASE)


class Turn(msgspec.Struct, frozen=True):
    """A lease's turn went to robots.txt, or to HEAD. Without a report nothing was sent: another visit was
    already fetching it."""

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
        self._fetching: dict[str, asyncio.Event] = {}
        self._attempts: dict[str, int] = {}
        self._rested: set[str] = set()  # sites whose robots.txt may be requested right after a page
        self._unused_denials: set[str] = set()  # sites whose denial no page was judged by yet
        self._crawl_delays: dict[str, float] = {}  # by host
        self.in_use = HostsInUse()
        self._redirects = RobotsRedirects(io.frontier, self.in_use, self.host_delay)
        self.turns = SharedTurns(io, self.host_delay)

    def known_refusal(self, url: str) -> Verdict | None:
        """By what is known so far; a robots.txt that was not read yet refuses nothing."""
        if not self._policy.respect:
            return None
        ruling = self._rulings.get(origin(url))
        if ruling is None or not ruling.reachable:
            return None  # decided when the page is leased: the host may be back by then
        return ruling.refusal(url)

    def permission(self, url: str) -> tuple[str, tuple[str, ...]]:
        """Why a page may be fetched, and the Content-Signal lines that apply to it."""
        ruling = self._rulings.get(origin(url))
        if ruling is None:
            return "not asked", ()
        return ruling.allowance(url), ruling.rules.content_signals

    def crawl_delay(self, url: str) -> float | None:
        ruling = self._rulings.get(origin(url))
        return ruling.rules.crawl_delay if ruling and self._policy.respect else None

    def host_delay(self, host: str) -> float:
        """Seconds between requests to a host, by our own rules and its Crawl-delay."""
        pacing = self._limits.pacing
        return max(pacing.delay, min(self._crawl_delays.get(host, 0.0), pacing.max_crawl_delay))

    def page_delay(self, host: str) -> float:
        """Seconds between two pages of a host."""
        return self._recipe.requests_per_page * self.host_delay(host)

    async def consult(self, url: str, host: str) -> Verdict | Turn | None:
        """None: fetch the page. A verdict: refused. A turn with ``host`` was spent: come back later."""
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
        if ruling is not None and site in self._unused_denials:
            # The host's own pause may outlast a denial. A denial starts to age when it meets the first page,
            # or pages would request robots.txt again and again and never end.
            self._unused_denials.discard(site)
            ruling = self._rulings[site] = msgspec.structs.replace(ruling, expires=now + DENIAL_SECONDS)
        return ruling if ruling is not None and now < ruling.expires else None

    async def _spend_turn(self, site: str, host: str) -> Turn:
        if site in self._fetching:
            await self._fetching[site].wait()
            return Turn(not_before=self._io.clock.now())
        done = self._fetching[site] = asyncio.Event()
        try:
            return await self._stored(site) or await self._ask(site, host)
        finally:
            del self._fetching[site]
            done.set()

    async def _stored(self, site: str) -> Turn | None:
        """An earlier run's copy, if it is still fresh. Its sitemaps are reported again: that run may have
        been killed after storing robots.txt and before storing the sitemaps."""
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
        current = self._redirects.current(site)
        turn = await self.turns.claim(host_key(current), current)
        if isinstance(turn, float):
            await self._redirects.unused(site, host, self._io.clock.now())
            return Turn(turn)
        # One byte more than the limit, so that the parser can tell a truncated file from a whole one.
        request = Request(current, max_bytes=self._policy.max_bytes + 1, plain=True)
        answer = await self.turns.fetch(turn, request)
        await self._redirects.requested(site, host, answer.timing.reached, self._io.clock.now())
        if isinstance(answer, Response) and answer.status in REDIRECTS:
            return await self._follow(site, answer)
        if isinstance(answer, Trouble) or not _reached(answer.status):
            return await self._try_again(site, answer)
        report, age = self._report(site, answer), _max_age(answer)
        # An error page is not a robots.txt, even with status 200.
        is_file = 200 <= answer.status < 300 and not is_web_page(answer.body)
        return await self._conclude(site, answer.status, answer.body if is_file else b"", report, age=age)

    def _rest_of(self, site: str) -> float | None:
        """Until when to wait, where robots.txt has a longer delay than the page whose turn this is."""
        pacing = self._limits.pacing
        was_requested = host_key(site) in self._crawl_delays
        if pacing.sitemap_delay <= pacing.delay or not was_requested or site in self._rested:
            return None
        self._rested.add(site)
        return self._io.clock.now() + pacing.sitemap_delay

    async def _follow(self, site: str, answer: Response) -> Turn:
        # By the rules for requests: the job's rules for the identity of pages do not apply here.
        target = normalize(location_of(answer), Preset.MIRROR, self._redirects.current(site))
        if not self._redirects.follow(site, target, self._policy.max_redirects):
            # RFC 9309: beyond the limit the file counts as unavailable, which allows everything.
            return await self._conclude(site, 404, b"", self._report(site, answer))
        return Turn(not_before=self._io.clock.now(), report=self._report(site, answer))

    def _report(self, site: str, answer: Response | Trouble) -> HostReport:
        return msgspec.structs.replace(host_report(answer), asked_for=f"{site}/robots.txt")

    async def _try_again(self, site: str, answer: Response | Trouble) -> Turn:
        attempt = self._attempts.get(site, 0)
        self._attempts[site] = attempt + 1
        cause = outcome = self._cause(answer)
        if isinstance(answer, Trouble) and self._recipe.retry.only:  # it lists outcomes one by one
            outcome = answer.verdict.outcome
        delay = retry_delay(outcome, attempt, self._recipe.retry, self._io.jitter())
        if delay is not None:
            return Turn(not_before=self._io.clock.now() + delay, report=self._report(site, answer))
        if isinstance(answer, Response):
            return await self._conclude(site, answer.status, b"", self._report(site, answer))
        outcome, words = answer.verdict.outcome, answer.verdict.rule
        # Named, so that failures can be counted by it.
        turn = await self._conclude(site, 0, b"", self._report(site, answer), f"{outcome.value}: {words}")
        ruling = self._rulings[site]
        if cause in UNREACHABLE and not ruling.reachable:
            self._rulings[site] = msgspec.structs.replace(ruling, denies_as=cause, words=words)
        return turn

    def _cause(self, answer: Response | Trouble) -> Outcome:
        """Why there is no robots.txt: a cause that holds for the whole host becomes that of its pages."""
        if isinstance(answer, Response):
            return self._unreachable_as(answer.status)
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
        old = None if _reached(status) else await self._io.ledger.get_robots(site)
        if old is not None and 200 <= old.status < 300:
            record = msgspec.structs.replace(old, fetched_at=now)  # unreachable: the last copy stays in force
        await self._io.ledger.put_robots(record)
        ruling = self._rule(record, age)
        if not ruling.reachable:
            self._unused_denials.add(site)
        self._warn_of_long_delay(site, ruling)
        found = self._named_sitemaps(record, ruling)
        named = sum(candidate.hop is Hop.ROBOTS for candidate in found)  # without the usual places
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
        denies_as = Outcome.ROBOTS_DENIED if reachable else self._unreachable_as(record.status)
        ruling = Ruling(verdict.access, words, record.fetched_at + lifetime, rules, reachable, denies_as)
        self._rulings[record.origin] = ruling
        return ruling

    def _unreachable_as(self, status: int) -> Outcome:
        """A job that does not retry after a 429 does not retry its robots.txt either."""
        only = self._recipe.retry.only
        is_final = status == TOO_MANY and bool(only) and Outcome.RATE_LIMITED not in only
        return Outcome.RATE_LIMITED if is_final else Outcome.ROBOTS_UNREACHABLE

    def _sitemaps(self, site: str, record: RobotsRecord) -> tuple[Candidate, ...]:
        """The sitemaps that robots.txt names; if it names none, the usual places."""
        named = parse_robots(record.body, self._policy.max_bytes).sitemaps
        places = [(url, Hop.ROBOTS) for url in named] or [(url, Hop.GUESS) for url in usual_places(site)]
        robots_url = f"{site}/robots.txt"
        if self._recipe.scope.judge(Candidate(robots_url, kind=Kind.SITEMAP)) is not None:
            return ()  # no page of this host is in scope, only images that other pages embed
        candidates = []
        for place, hop in places:
            # Sitemaps may differ only in a query that the job's rules would drop.
            url = normalize(place, Preset.MIRROR, robots_url)
            if url is not None:
                candidates.append(Candidate(url, hop, Kind.SITEMAP, referrer=robots_url))
        return tuple(candidates)


def _reached(status: int) -> bool:
    """Whether the server answered for robots.txt, even if there is none."""
    return 0 < status < 500 and status != TOO_MANY


def _max_age(answer: Response) -> float | None:
    """How many seconds the server wants its response to be used."""
    match = _MAX_AGE.search(answer.header("cache-control") or "")
    return None if match is None else max(float(match[1]), SHORTEST_LIFETIME)


# Two hosts whose robots.txt redirect to each other wait for each other. After this, as long as any exchange
# may take, one goes ahead.
_PATIENCE_SECONDS = 120.0
_LONGEST_WINDOW = 2**6  # delays


class HostsInUse:
    """Which hosts have a request in flight right now; for requests outside of a host's own turns."""

    def __init__(self) -> None:
        self._busy: Counter[str] = Counter()
        self._idle_since: dict[str, float] = {}  # only for hosts that ``idle_since`` was called for

    def enter(self, host: str) -> None:
        self._busy[host] += 1

    def leave(self, host: str, now: float) -> None:
        self._busy[host] -= 1
        if not self._busy[host]:
            del self._busy[host]
        if host in self._idle_since:
            self._idle_since[host] = now

    def idle_since(self, host: str, now: float) -> float | None:
        """None while it is in use. The first call for a host does not know, and returns ``now``."""
        since = self._idle_since.setdefault(host, now)
        return None if host in self._busy else since


class _Trail(msgspec.Struct):
    urls: list[str]
    window: int = 1  # how many delays the other host is held for
    waiting_since: float | None = None


class RobotsRedirects:
    def __init__(self, frontier: Frontier, in_use: HostsInUse, delay_of: Callable[[str], float]) -> None:
        self._frontier = frontier
        self._in_use = in_use
        self._delay_of = delay_of
        self._trails: dict[str, _Trail] = {}

    def current(self, site: str) -> str:
        """The URL to request for the site's robots.txt, after the redirects so far."""
        return self._trail(site).urls[-1]

    def follow(self, site: str, target: str | None, limit: int) -> bool:
        """False for a redirect that is malformed, leads in a circle, or is one too many."""
        urls = self._trail(site).urls
        if target is None or target in urls or len(urls) > limit:
            return False
        self._trails[site] = _Trail([*urls, target])
        return True

    def forget(self, site: str) -> None:
        self._trails.pop(site, None)

    async def wait_for(self, site: str, own: str, now: float) -> float | None:
        """None if the current URL may be requested now, which the caller must then do; else when to return.

        ``own`` is the host whose turn is spent; where a page is known without its ``www.``, it is not the
        site's own.
        """
        host = self._other_host(site, own)
        if host is None:
            return None
        delay = self._delay_of(host)
        since = self._in_use.idle_since(host, now)
        opens_at = (now if since is None else since) + delay
        if (since is None or now < opens_at) and self._is_patient(site, now):
            await self._hold_both(site, own, host, opens_at, delay)
            return opens_at
        self._in_use.enter(host)
        await self._frontier.hold_host(host, INFINITY, BORROWED)
        return None

    async def requested(self, site: str, own: str, reached: float, now: float) -> None:
        """The current URL was requested: if it is on another host, that one gets its delay from then on."""
        host = self._other_host(site, own)
        if host is not None:
            self._in_use.leave(host, now)
            await self._frontier.hold_host(host, reached + self._delay_of(host), BORROWED)

    async def unused(self, site: str, own: str, now: float) -> None:
        """The current URL was not requested after all."""
        host = self._other_host(site, own)
        if host is not None:
            self._in_use.leave(host, now)
            await self._frontier.hold_host(host, now, BORROWED)

    async def _hold_both(self, site: str, own: str, host: str, opens_at: float, delay: float) -> None:
        """Keep a window free of other requests; if it is missed, the next one is longer."""
        trail = self._trail(site)
        await self._frontier.hold_host(host, opens_at + delay * trail.window, ROBOTS_USED_BY_ANOTHER)
        trail.window = min(2 * trail.window, _LONGEST_WINDOW)
        await self._frontier.hold_host(own, opens_at, ROBOTS_ELSEWHERE)

    def _is_patient(self, site: str, now: float) -> bool:
        trail = self._trail(site)
        if trail.waiting_since is None:
            trail.waiting_since = now
        return now - trail.waiting_since < _PATIENCE_SECONDS

    def _other_host(self, site: str, own: str) -> str | None:
        host = host_key(self.current(site))
        return None if host in (own, host_key(site)) else host

    def _trail(self, site: str) -> _Trail:
        return self._trails.setdefault(site, _Trail([f"{site}/robots.txt"]))
