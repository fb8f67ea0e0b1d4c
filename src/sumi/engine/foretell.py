"""What the gate would say of a URL that nobody has found, as far as stored knowledge goes."""

import msgspec

from sumi.model import Candidate, Hop
from sumi.outcomes import Outcome, Verdict
from sumi.policy import RobotsPolicy
from sumi.ports import Ledger, RobotsRecord
from sumi.recipe import Recipe
from sumi.robots import RobotsAccess, parse_robots, product_token, robots_verdict
from sumi.urls import origin, split


class Prospect(msgspec.Struct, frozen=True):
    refusal: Verdict | None  # None: it would be taken, if it were found
    caveat: str = ""  # what could not be told


async def foretell(url: str, recipe: Recipe, ledger: Ledger) -> Prospect:
    """For a link on a page of the first depth: the usual way to be found."""
    refusal = recipe.scope.judge(Candidate(url, Hop.LINK, depth=1))
    if refusal is not None or not recipe.robots.respect:
        return Prospect(refusal)
    record = await ledger.get_robots(origin(url))
    if record is None:
        return Prospect(None, f"robots.txt of {origin(url)} has not been read")
    return Prospect(_robots_refusal(url, record, recipe.robots, recipe.user_agent))


def _robots_refusal(url: str, record: RobotsRecord, policy: RobotsPolicy, agent: str) -> Verdict | None:
    verdict = robots_verdict(record.status, policy)
    if verdict.access is RobotsAccess.ALLOW_ALL:
        return None
    if verdict.access is RobotsAccess.DENY_ALL:
        return Verdict(Outcome.ROBOTS_DENIED, verdict.meaning)
    parts = split(url)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    decision = parse_robots(record.body, policy.max_bytes).rules_for(product_token(agent)).decide(path)
    return None if decision.allowed else Verdict(Outcome.ROBOTS_DENIED, f"robots.txt: {decision.rule}")
