"""Knows each site's robots.txt, and fetches it when a lease needs one that is not there.

Nobody waits holding a URL: whoever finds no fresh robots.txt spends its own turn with the host on that one
request and hands its page back. So the request is paced like any other, redirects of robots.txt included.
"""

import asyncio

import msgspec

from sumi.engine.io import Io
from sumi.engine.verdicts import REDIRECTS, host_report
from sumi.events import RobotsRead
from sumi.frontier.retry import retry_delay
from sumi.model import Candidate, Hop, Kind, Request, Response
from sumi.outcomes import Outcome, Trouble, Verdict
from sumi.parse.sitemap import usual_places
from sumi.ports import HostReport, RobotsRecord
from sumi.recipe import Recipe
from sumi.robots import RobotsAccess, RobotsRules, parse_robots, product_token, robots_verdict
from sumi.urls import host_key, normalize, origin, split

# How long "could not be had" stands before it is asked for again.
DENIAL_SECONDS = 300.0


class Ruling(msgspec.Struct, frozen=True):
    """What one origin's robots.txt means for us."""

    access: RobotsAccess
    words: str
    expires: float
    rules: RobotsRules
    reachable: bool = True

    def refusal(self, url: str) -> Verdict | None:
        if self.access is RobotsAccess.ALLOW_ALL:
            return None
        if self.access is RobotsAccess.DENY_ALL:
            return Verdict(
                Outcome.ROBOTS_DENIED if self.reachable else Outcome.ROBOTS_UNREACHABLE, self.words
            )
        parts = split(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        decision = self.rules.decide(path)
        return None if decision.allowed else Verdict(Outcome.ROBOTS_DENIED, f"robots.txt: {decision.rule}")


class Turn(msgspec.Struct, frozen=True):
    """A lease's turn went to robots.txt. No report: somebody else was already asking, nothing was sent."""

    not_before: float
    report: HostReport | None = None
    found: tuple[Candidate, ...] = ()


class RobotsDesk:
    def __init__(self, recipe: Recipe, io: Io) -> None:
        self._recipe = recipe
        self._policy = recipe.robots
        self._io = io
        self._product = product_token(recipe.user_agent)
        self._rulings: dict[str, Ruling] = {}
        self._asking: dict[str, asyncio.Event] = {}
        self._hops: dict[str, list[str]] = {}  # redirects followed so far
        self._attempts: dict[str, int] = {}

    def known_refusal(self, url: str) -> Verdict | None:
        """What is already known to be forbidden; unknown is not a refusal."""
        if not self._policy.respect:
            return None
        ruling = self._rulings.get(origin(url))
        if ruling is None or not ruling.reachable:
            return None  # decided when its turn comes: the host may be back by then
        return ruling.refusal(url)

    def crawl_delay(self, url: str) -> float | None:
        ruling = self._rulings.get(origin(url))
        return ruling.rules.crawl_delay if ruling and self._policy.respect else None

    async def consult(self, url: str) -> Verdict | Turn | None:
        """None: go ahead. A verdict: refused. A turn: spent, come back later."""
        if not self._policy.respect and not self._recipe.find_sitemaps:
            return None
        site = origin(url)
        ruling = await self._fresh_ruling(site)
        if ruling is None:
            return await self._spend_turn(site)
        return ruling.refusal(url) if self._policy.respect else None

    async def _fresh_ruling(self, site: str) -> Ruling | None:
        now = self._io.clock.now()
        ruling = self._rulings.get(site)
        if ruling is None:
            record = await self._io.ledger.get_robots(site)
            if record is not None and now < record.fetched_at + self._policy.max_age:
                ruling = self._rule(record)
        return ruling if ruling is not None and now < ruling.expires else None

    async def _spend_turn(self, site: str) -> Turn:
        if site in self._asking:
            await self._asking[site].wait()
            return Turn(not_before=self._io.clock.now())
        done = self._asking[site] = asyncio.Event()
        try:
            return await self._ask(site)
        finally:
            del self._asking[site]
            done.set()

    async def _ask(self, site: str) -> Turn:
        hops = self._hops.setdefault(site, [f"{site}/robots.txt"])
        # One byte more than may be read, so that the parser can tell a cut file from a whole one.
        answer = await self._io.fetcher.fetch(Request(hops[-1], max_bytes=self._policy.max_bytes + 1))
        if isinstance(answer, Response) and answer.status in REDIRECTS:
            return await self._follow(site, answer)
        if isinstance(answer, Trouble) or answer.status == 429 or answer.status >= 500:
            return await self._try_again(site, answer)
        return await self._conclude(site, answer.status, answer.body, host_report(answer))

    async def _follow(self, site: str, answer: Response) -> Turn:
        hops = self._hops[site]
        target = normalize(answer.header("location") or "", self._recipe.preset, hops[-1])
        if target is None or target in hops or len(hops) > self._policy.max_redirects:
            # Beyond the limit the file counts as unavailable, which allows.
            return await self._conclude(site, 404, b"", host_report(answer))
        hops.append(target)
        now = self._io.clock.now()
        if host_key(target) != host_key(site):
            await self._io.frontier.hold_host(
                host_key(target), now + self._recipe.pacing.delay, "robots.txt of another host led there"
            )
        return Turn(not_before=now, report=host_report(answer))

    async def _try_again(self, site: str, answer: Response | Trouble) -> Turn:
        attempt = self._attempts.get(site, 0)
        self._attempts[site] = attempt + 1
        delay = retry_delay(Outcome.ROBOTS_UNREACHABLE, attempt, self._recipe.retry, self._io.jitter())
        if delay is not None:
            return Turn(not_before=self._io.clock.now() + delay, report=host_report(answer))
        words = answer.verdict.rule if isinstance(answer, Trouble) else ""
        status = 0 if isinstance(answer, Trouble) else answer.status
        return await self._conclude(site, status, b"", host_report(answer), words)

    async def _conclude(
        self, site: str, status: int, body: bytes, report: HostReport, trouble: str = ""
    ) -> Turn:
        self._hops.pop(site, None)
        self._attempts.pop(site, None)
        now = self._io.clock.now()
        record = RobotsRecord(site, status, body, now, trouble)
        old = await self._io.ledger.get_robots(site)
        if (status == 0 or status >= 500 or status == 429) and old is not None and 200 <= old.status < 300:
            record = msgspec.structs.replace(old, fetched_at=now)  # unreachable: the last copy stands
        await self._io.ledger.put_robots(record)
        ruling = self._rule(record)
        found = self._sitemaps(site, record) if self._recipe.find_sitemaps and ruling.reachable else ()
        self._io.tell(RobotsRead(site, status, ruling.words, ruling.rules.crawl_delay, len(found)))
        return Turn(now, msgspec.structs.replace(report, crawl_delay=self.crawl_delay(site)), found)

    def _rule(self, record: RobotsRecord) -> Ruling:
        reachable = record.status != 0 and record.status < 500 and record.status != 429
        verdict = robots_verdict(record.status, self._policy)
        words = f"{verdict.meaning}: {record.trouble}" if record.trouble else verdict.meaning
        rules = parse_robots(record.body, self._policy.max_bytes).rules_for(self._product)
        lifetime = self._policy.max_age if reachable else DENIAL_SECONDS
        ruling = Ruling(verdict.access, words, record.fetched_at + lifetime, rules, reachable)
        self._rulings[record.origin] = ruling
        return ruling

    def _sitemaps(self, site: str, record: RobotsRecord) -> tuple[Candidate, ...]:
        """The sitemaps that robots.txt names; the usual places where it names none."""
        named = parse_robots(record.body, self._policy.max_bytes).sitemaps
        places = [(url, Hop.ROBOTS) for url in named] or [(url, Hop.GUESS) for url in usual_places(site)]
        robots_url = f"{site}/robots.txt"
        candidates = []
        for place, hop in places:
            url = normalize(place, self._recipe.preset, robots_url)
            if url is not None:
                candidates.append(Candidate(url, hop, Kind.SITEMAP, referrer=robots_url))
        return tuple(candidates)
