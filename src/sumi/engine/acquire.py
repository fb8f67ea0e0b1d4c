"""From a lease to an answer: robots.txt, one exchange, classification. Never raises for web trouble."""

from typing import TypeAlias

import msgspec

from sumi.engine.io import Io
from sumi.engine.robots_desk import RobotsDesk, Turn
from sumi.engine.verdicts import REDIRECTS, host_report, verdict_on
from sumi.model import Lease, Request, Response
from sumi.outcomes import Outcome, Trouble, Verdict
from sumi.ports import HostReport

NO_LOCATION = Verdict(Outcome.BAD_HTTP, "a redirect without a Location")


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


async def acquire(lease: Lease, desk: RobotsDesk, io: Io) -> Acquired:
    refusal = await desk.consult(lease.target)
    if isinstance(refusal, Turn):
        return refusal
    if refusal is not None:
        return Ended(refusal, report=None)
    answer = await io.fetcher.fetch(Request(lease.target))
    report = host_report(answer, desk.crawl_delay(lease.target))
    if isinstance(answer, Trouble):
        return Ended(answer.verdict, report)
    return _classify(answer, report)


def _classify(response: Response, report: HostReport) -> Acquired:
    if response.status in REDIRECTS:
        location = response.header("location")
        if location:
            return Redirected(response, location, report)
        return Ended(NO_LOCATION, report, response)
    verdict = verdict_on(response.status)
    if verdict is not None:
        return Ended(verdict, report, response)
    return Fetched(response, report)
