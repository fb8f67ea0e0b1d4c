"""From a lease to a response: robots.txt, one exchange, classification. Trouble with the web is a value."""

from typing import TypeAlias

import msgspec

from sumi.engine.answers import REDIRECTS, host_report, location_of, verdict_on
from sumi.engine.gate import Gate
from sumi.engine.io import Io
from sumi.engine.native_markdown import FULL_TEXT, NativeMarkdown
from sumi.engine.revisit import Revisits, validators
from sumi.engine.robots_cache import RobotsCache, Turn
from sumi.engine.visit import HTML, Visit
from sumi.frontier.freshness import is_conditional
from sumi.model import ASSETS, Kind, Request, Response
from sumi.outcomes import UNREACHABLE, Outcome, Trouble, Verdict
from sumi.parse.page.media_type import Form, form_of, is_unspecific
from sumi.policy import SITEMAP_BYTES
from sumi.recipe import Recipe

PLAIN = ASSETS | {Kind.SITEMAP, Kind.NAVIGATION}
NO_LOCATION = Verdict(Outcome.BAD_HTTP, "a redirect without a Location")
# No server is there, whatever the method.
NO_SERVER = UNREACHABLE | {Outcome.BAD_URL}
# Responses to HEAD that GET would get too.
CONCLUSIVE = REDIRECTS | {404, 410, 429}


class Fetched(msgspec.Struct, frozen=True):
    """Content came."""

    response: Response


class Redirected(msgspec.Struct, frozen=True):
    response: Response
    location: str


class Ended(msgspec.Struct, frozen=True):
    """No content: refused, an error, or no response. May be retried if the trouble is transient."""

    verdict: Verdict
    response: Response | None = None


class Crowded(msgspec.Struct, frozen=True):
    """The quota of its base is taken by pages in flight: nothing was requested."""


Acquired: TypeAlias = Fetched | Redirected | Ended | Turn | Crowded


class Acquisition:
    """The first half of a visit. What it learns about the host goes to ``visit.report``."""

    def __init__(
        self,
        recipe: Recipe,
        io: Io,
        gate: Gate,
        robots: RobotsCache,
        revisits: Revisits,
        native: NativeMarkdown,
    ) -> None:
        self._recipe = recipe
        self._io = io
        self._gate = gate
        self._robots = robots
        self._revisits = revisits
        self._native = native
        self._turns = robots.turns

    async def acquire(self, visit: Visit) -> Acquired:
        visit.before = await self._revisits.before(visit.lease)
        if not self._native.active:
            return await self._acquire(visit)
        async with self._native.turn(visit):
            visit.variant = self._native.variant(visit)
            acquired = await self._acquire(visit)
            if visit.variant.name == FULL_TEXT and visit.variant.at_hand is None:
                acquired = await self._part_of_full_text(visit, acquired)
        return acquired

    async def _part_of_full_text(self, visit: Visit, acquired: Acquired) -> Acquired:
        """The page's part of the site's full text; ``acquired`` itself if nothing was requested."""
        if isinstance(acquired, Turn | Crowded) or visit.report is None:
            return acquired
        part = await self._native.taken(visit, acquired.response if isinstance(acquired, Fetched) else None)
        return acquired if part is None else classify(Request(visit.lease.target), part)

    async def _acquire(self, visit: Visit) -> Acquired:
        """The gate again, the quota of its base, a response at hand, robots.txt, the date in its sitemap: if
        none of them decides, the page is requested."""
        candidate, target = visit.candidate, visit.variant.target
        refusal = self._gate.refuses_now(candidate)
        if not self._gate.quota.claim(visit) and refusal is None:
            return Crowded()
        held = visit.variant.at_hand or self._io.source.at_hand(visit.lease)
        if held is not None and refusal is None:
            return classify(Request(visit.lease.target, validators(visit.before)), held)
        answer = refusal or await self._robots.consult(target, visit.lease.host)
        if isinstance(answer, Turn):
            visit.report = answer.report
            return answer
        refusal = answer or await self._gate.superfluous_sitemap(candidate)
        if refusal is not None:
            return Ended(refusal)
        if fresh := self._revisits.known_fresh(visit):
            return Ended(fresh)
        return await self._ask(visit)

    async def _ask(self, visit: Visit) -> Acquired:
        """The one exchange of a visit."""
        kind, variant = visit.candidate.kind, visit.variant
        turn = await self._turns.claim(visit.lease.host, variant.target)
        if isinstance(turn, float):
            return Turn(turn)
        only_head = self._type_comes_first(visit)
        request = Request(
            variant.target,
            (*validators(visit.before), *variant.headers),
            # One byte more shows that a sitemap was truncated.
            SITEMAP_BYTES + 1 if kind is Kind.SITEMAP else None,
            method="HEAD" if only_head else "GET",
            plain=kind in PLAIN or variant.name != HTML,
        )
        answer = await self._turns.fetch(turn, request)
        visit.report = host_report(answer, self._robots.crawl_delay(variant.target))
        if only_head and not concludes(answer):
            visit.tried.head = True
            return Turn(self._io.clock.now() + self._pause_after_head(answer), head_answered=True)
        if isinstance(answer, Trouble):
            return Ended(answer.verdict)
        visit.response = answer
        if only_head and (refusal := wrong_type(answer)):
            return Ended(refusal, answer)
        return classify(request, answer)

    def _type_comes_first(self, visit: Visit) -> bool:
        """Whether to send HEAD before GET, on a turn of its own.

        HEAD only ever saves a download: if a server refuses it or breaks on it, the page itself is requested.
        The store of a map remembers which pages had their HEAD: a page that waits for its second turn is not
        in flight, and a kill must not cost more requests than there are pages in flight.
        """
        if not self._recipe.head_first or visit.candidate.kind is not Kind.PAGE:
            return False
        sent = visit.lease.head_answered or visit.tried.head
        return not sent and visit.before is None  # otherwise its type is known

    def _pause_after_head(self, answer: Response | Trouble) -> float:
        """None if the server answered, even that it knows no HEAD. A server in trouble gets a pause before
        GET."""
        is_answer = isinstance(answer, Response) and answer.status < 500
        return 0.0 if is_answer else self._recipe.retry.first_delay


def concludes(answer: Response | Trouble) -> bool:
    """Whether the response to HEAD makes GET unnecessary."""
    if isinstance(answer, Trouble):
        return answer.verdict.outcome in NO_SERVER
    return answer.status in CONCLUSIVE or wrong_type(answer) is not None


def wrong_type(answer: Response) -> Verdict | None:
    """The verdict on content that is certainly not a page; an unspecific type is not."""
    declared = answer.header("content-type") or ""
    if not 200 <= answer.status < 300 or is_unspecific(declared):
        return None
    form, words = form_of(declared, b"")
    return Verdict(Outcome.NOT_HTML, f"HEAD: {words}") if form is Form.OTHER else None


def classify(request: Request, response: Response) -> Acquired:
    if response.status in REDIRECTS:
        location = location_of(response)
        if not location:
            return Ended(NO_LOCATION, response)
        return Redirected(response, location)
    verdict = verdict_on(response.status, conditional=is_conditional(request.headers))
    if verdict is not None:
        return Ended(verdict, response)
    return Fetched(response)
