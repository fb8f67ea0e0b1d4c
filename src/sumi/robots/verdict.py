"""What the answer to a request for robots.txt means before a line of it is read."""

from enum import StrEnum

import msgspec

from sumi.policy import RobotsOnError, RobotsPolicy


class RobotsAccess(StrEnum):
    RULES = "rules"  # read the body and obey it
    ALLOW_ALL = "allow all"
    DENY_ALL = "deny all"  # for now: ask again later


class RobotsVerdict(msgspec.Struct, frozen=True):
    access: RobotsAccess
    meaning: str  # for people: "everything allowed (404)"


def robots_verdict(status: int, policy: RobotsPolicy) -> RobotsVerdict:
    """Judge a final answer; ``status`` 0 is no answer, 3xx a redirect that was not followed any further.

    RFC 9309 calls a client error "unavailable", which allows, and a server error or silence "unreachable",
    which denies. 429 is a client error by number only: the server is there and asks for less.
    """
    if not policy.respect:
        return RobotsVerdict(RobotsAccess.ALLOW_ALL, "everything allowed (robots.txt is not respected)")
    if 200 <= status < 300:
        return RobotsVerdict(RobotsAccess.RULES, "rules apply")
    if _denies(status, policy.on_error):
        return RobotsVerdict(RobotsAccess.DENY_ALL, f"nothing allowed ({_named(status)})")
    return RobotsVerdict(RobotsAccess.ALLOW_ALL, f"everything allowed ({_named(status)})")


def _denies(status: int, on_error: RobotsOnError) -> bool:
    if on_error is RobotsOnError.RFC9309:
        return status == 429 or not 300 <= status < 500
    return on_error is RobotsOnError.DENY


def _named(status: int) -> str:
    if status == 0:
        return "no answer"
    return f"{status}, redirected too often" if 300 <= status < 400 else str(status)
