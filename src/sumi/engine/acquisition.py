"""From a lease to an answer: robots.txt, one exchange, classification. Web trouble is a value here."""

from typing import TypeAlias

import msgspec

from sumi.engine.answers import REDIRECTS, host_report, location_of, verdict_on
from sumi.engine.gate import Gate
from sumi.engine.io import Io
from sumi.engine.native_markdown import FULL_TEXT, HTML, NativeMarkdown, Way
from sumi.engine.revisit import Revisits
from sumi.engine.robots_cache import RobotsCache, Turn
from sumi.frontier.freshness import is_conditional
from sumi.model import ASSETS, Kind, Lease, Request, Response
from sumi.outcomes import UNREACHABLE, Outcome, Trouble, Verdict
from sumi.parse.page.media_type import Form, form_of, is_unspecific
from sumi.policy import SITEMAP_BYTES
from sumi.ports import HostReport

PLAIN = ASSETS | {Kind.SITEMAP, Kind.NAVIGATION}
NO_LOCATION = Verdict(Outcome.BAD_HTTP, "a redirect without a Location")
# Nobody is there, and another method will not change that.
NOBODY = UNREACHABLE | {Outcome.BAD_URL}
# Answers that are about the page or about us, and not about the method.
CONCLUSIVE = REDIRECTS | {404, 410, 429}


class Fetched(msgspec.Struct, frozen=True):
    """Content came."""

    response: Response
    report: HostReport | None
    way: Way | None = None  # by which the site's own Markdown was asked for; None: the page itself was


class Redirected(msgspec.Struct, frozen=True):
    response: Response
    location: str
    report: HostReport | None
    way: Way | None = None


class Ended(msgspec.Struct, frozen=True):
    """No content: refused, or no real answer. May be tried again if the trouble is a passing one."""

    verdict: Verdict
    report: HostReport | None
    response: Response | None = None
    way: Way | None = None


class Crowded(msgspec.Struct, frozen=True):
    """Its base has as many pages in flight as it may still have: nothing was asked for."""

    report: HostReport | None = None


Acquired: TypeAlias = Fetched | Redirected | Ended | Turn | Crowded


class Heads:
    """A page's type asked for with HEAD before its content, each request on a polite turn of its own.

    HEAD only ever saves a download: servers that refuse it, or break over it, are asked for the page itself.
    Who was asked is kept in memory, and by the store of a map: a page that waits for its second turn is not
    in flight, and a kill must not cost more requests than there are pages in flight.
    """

    def __init__(self, *, active: bool, pause: float = 0.0) -> None:
        """``pause``: seconds until a page is asked for whose type could not be had."""
        self._active = active
        self._pause = pause
        self._asked: set[str] = set()

    def due(self, lease: Lease) -> bool:
        asked = lease.head_answered or lease.url in self._asked
        return self._active and lease.candidate.kind is Kind.PAGE and not asked

    def answered(self, lease: Lease) -> None:
        """Next time, and at every retry, it is the page's turn."""
        self._asked.add(lease.url)

    def pause_after(self, answer: Response | Trouble) -> float:
        """None after an answer to HEAD, be it that there is no HEAD. A server in trouble is not asked for the
        page itself a moment later."""
        is_answer = isinstance(answer, Response) and answer.status < 500
        return 0.0 if is_answer else self._pause

    def settled(self, url: str) -> None:
        self._asked.discard(url)


def concludes(answer: Response | Trouble) -> bool:
    """Whether an answer to HEAD spares us the page."""
    if isinstance(answer, Trouble):
        return answer.verdict.outcome in NOBODY
    return answer.status in CONCLUSIVE or wrong_type(answer) is not None


def wrong_type(answer: Response) -> Verdict | None:
    """The verdict on content that is certainly no page; a type that says nothing is no reason."""
    declared = answer.header("content-type") or ""
    if not 200 <= answer.status < 300 or is_unspecific(declared):
        return None
    form, words = form_of(declared, b"")
    return Verdict(Outcome.NOT_HTML, f"HEAD: {words}") if form is Form.OTHER else None


async def acquire(
    lease: Lease,
    gate: Gate,
    robots: RobotsCache,
    revisits: Revisits,
    heads: Heads,
    native: NativeMarkdown,
    io: Io,
) -> Acquired:
    if not native.active:
        return await _acquire(lease, Way(lease.target), gate, robots, revisits, heads, io)
    async with native.turn(lease):
        way = native.way(lease, await revisits.before(lease))
        acquired = await _acquire(lease, way, gate, robots, revisits, heads, io)
        if way.rung == FULL_TEXT and way.at_hand is None:
            acquired = await _part_of_full_text(lease, acquired, native)
    if way.rung != HTML and isinstance(acquired, Fetched | Redirected | Ended):
        return msgspec.structs.replace(acquired, way=way)
    return acquired


async def _part_of_full_text(lease: Lease, acquired: Acquired, native: NativeMarkdown) -> Acquired:
    """Nothing, if nothing was asked for: it was not this page's turn, or the page is known to be fresh."""
    if not isinstance(acquired, Fetched | Redirected | Ended) or acquired.report is None:
        return acquired
    part = await native.taken(lease, acquired.response if isinstance(acquired, Fetched) else None)
    return acquired if part is None else classify(Request(lease.target), part, acquired.report)


async def _acquire(
    lease: Lease, way: Way, gate: Gate, robots: RobotsCache, revisits: Revisits, heads: Heads, io: Io
) -> Acquired:
    if not gate.quota.claim(lease.candidate) and gate.refuses_now(lease.candidate) is None:
        return Crowded()
    held = way.at_hand or io.source.at_hand(lease)
    if held is not None and gate.refuses_now(lease.candidate) is None:
        return classify(Request(lease.target, await revisits.validators(lease)), held, None)
    refusal = gate.refuses_now(lease.candidate) or await robots.consult(way.target, lease.host)
    if isinstance(refusal, Turn):
        return refusal
    refusal = refusal or await gate.needless_now(lease.candidate)
    if refusal is not None:
        return Ended(refusal, report=None)
    if fresh := await revisits.known_fresh(lease):
        return Ended(fresh, report=None)
    validators = await revisits.validators(lease)
    # Of a page that is here the type is known.
    only_head = heads.due(lease) and await revisits.before(lease) is None
    method = "HEAD" if only_head else "GET"
    plain = lease.candidate.kind in PLAIN or way.rung != HTML
    # One byte more tells that a sitemap was cut.
    most = SITEMAP_BYTES + 1 if lease.candidate.kind is Kind.SITEMAP else None
    request = Request(way.target, (*validators, *way.headers), most, method=method, plain=plain)
    answer = await io.fetcher.fetch(request)
    report = host_report(answer, robots.crawl_delay(way.target))
    if only_head and not concludes(answer):
        heads.answered(lease)
        return Turn(io.clock.now() + heads.pause_after(answer), report, head_answered=True)
    if isinstance(answer, Trouble):
        return Ended(answer.verdict, report)
    if only_head and (refusal := wrong_type(answer)):
        return Ended(refusal, report, answer)
    return classify(request, answer, report)


def classify(request: Request, response: Response, report: HostReport | None) -> Acquired:
    if response.status in REDIRECTS:
        location = location_of(response)
        if not location:
            return Ended(NO_LOCATION, report, response)
        return Redirected(response, location, report)
    verdict = verdict_on(response.status, conditional=is_conditional(request.headers))
    if verdict is not None:
        return Ended(verdict, report, response)
    return Fetched(response, report)


def let_go(acquired: Acquired) -> None:
    """Its body is not in flight any more, whoever may go on holding it."""
    if isinstance(acquired, Fetched | Redirected | Ended) and acquired.response is not None:
        hold = acquired.response.hold
        if hold is not None:
            hold.release()
