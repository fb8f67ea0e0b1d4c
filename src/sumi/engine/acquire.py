"""From a lease to an answer: robots.txt, one exchange, classification. Web trouble is a value here."""

from typing import TypeAlias

import msgspec

from sumi.engine.gate import Gate
from sumi.engine.io import Io
from sumi.engine.robots_desk import RobotsDesk, Turn
from sumi.engine.verdicts import REDIRECTS, host_report, verdict_on
from sumi.frontier.conditional import is_conditional
from sumi.model import Lease, Request, Response
from sumi.outcomes import Outcome, Trouble, Verdict
from sumi.policy import Preset
from sumi.ports import HostReport
from sumi.urls import normalize

NO_LOCATION = Verdict(Outcome.BAD_HTTP, "a redirect without a Location")
# A passing failure, so that it is tried again at the pace of its host; without cookies it leads in a circle.
COME_AGAIN = Verdict(Outcome.BAD_HTTP, "it redirects to itself, and set a cookie")
COOKIE_WALL_ATTEMPTS = 2


class Fetched(msgspec.Struct, frozen=True):
    """Content came."""

    response: Response
    report: HostReport | None


class Redirected(msgspec.Struct, frozen=True):
    response: Response
    location: str
    report: HostReport | None


class Ended(msgspec.Struct, frozen=True):
    """No content: refused, or no real answer. May be tried again if the trouble is a passing one."""

    verdict: Verdict
    report: HostReport | None
    response: Response | None = None


Acquired: TypeAlias = Fetched | Redirected | Ended | Turn


async def acquire(lease: Lease, gate: Gate, desk: RobotsDesk, io: Io) -> Acquired:
    refusal = gate.refuses_now(lease.candidate) or await desk.consult(lease.target)
    if isinstance(refusal, Turn):
        return refusal
    if refusal is not None:
        return Ended(refusal, report=None)
    request = Request(lease.target)
    answer = await io.fetcher.fetch(request)
    report = host_report(answer, desk.crawl_delay(lease.target))
    if isinstance(answer, Trouble):
        return Ended(answer.verdict, report)
    return classify(lease, request, answer, report)


def classify(lease: Lease, request: Request, response: Response, report: HostReport) -> Acquired:
    if response.status in REDIRECTS:
        location = _as_meant(response.header("location") or "")
        if not location:
            return Ended(NO_LOCATION, report, response)
        if _is_cookie_wall(lease, response, location):
            return Ended(COME_AGAIN, report, response)
        return Redirected(response, location, report)
    verdict = verdict_on(response.status, conditional=is_conditional(request.headers))
    if verdict is not None:
        return Ended(verdict, report, response)
    return Fetched(response, report)


def _as_meant(location: str) -> str:
    """Headers are read byte for byte; what is not ASCII in a Location is nearly always UTF-8."""
    try:
        return location.encode("latin-1").decode()
    except UnicodeError:
        return location


def _is_cookie_wall(lease: Lease, response: Response, location: str) -> bool:
    """It asks for itself again and gave us a cookie to come back with."""
    if response.header("set-cookie") is None or lease.attempt >= COOKIE_WALL_ATTEMPTS:
        return False
    return normalize(location, Preset.MIRROR, lease.target) == lease.target
