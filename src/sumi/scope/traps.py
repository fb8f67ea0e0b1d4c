"""URLs that look like a trap by their form alone: paths that repeat themselves, queries that grow, escapes of
escapes. Nothing has to be fetched for this."""

import re
from collections import Counter
from typing import Final

from sumi.model import Candidate, Kind
from sumi.outcomes import Outcome, Verdict
from sumi.policy import TrapPolicy
from sumi.urls import split

# What broken scripts leave in links.
_ARTEFACTS: Final = (
    # Twice is an address within an address. Three times is a page that escapes its own links repeatedly.
    ("repeated escapes", re.compile(r"%(?:25){3}", re.ASCII)),
    ("ampersands escaped again and again", re.compile(r"amp(?:;|%3b)amp(?:;|%3b)", re.IGNORECASE)),
    ("a quotation mark from a script", re.compile(r"%5C%22|/%22(?:/|$)|\\\"", re.IGNORECASE)),
    ("a parent folder in disguise", re.compile(r"/\.\.(?:;|%3b)", re.IGNORECASE)),
)
# Every artefact contains one of these, and searching for them is cheap.
_HINTS: Final = ("%25", "amp", "AMP", "%22", "..")
# "/2024/01/01/01" is an hour, not a loop.
_NUMBER_REPEATS: Final = 4


def trap_shape(candidate: Candidate, policy: TrapPolicy) -> Verdict | None:
    """None, or the verdict that names the rule. Sitemaps are exempt."""
    if candidate.kind is not Kind.PAGE:
        return None
    url = candidate.url
    parts = split(url)
    words = (
        _endless_path(parts.path, policy)
        or (_endless_query(parts.query, policy) if parts.query else "")
        or (_artefact(url) if any(hint in url for hint in _HINTS) else "")
    )
    return Verdict(Outcome.TRAP, words) if words else _far_away(candidate.depth, policy)


def _endless_path(path: str, policy: TrapPolicy) -> str:
    segments = path.split("/")[1:]
    if policy.segments and len(segments) - (segments[-1] == "") > policy.segments:
        return f"a path with more than {policy.segments} segments"
    if not policy.repeats or len(set(segments)) + policy.repeats > len(segments):
        return ""
    for segment, times in Counter(segments).items():
        allowed = max(policy.repeats, _NUMBER_REPEATS) if segment.isdecimal() else policy.repeats
        if segment and times > allowed:
            return f"/{segment[:80]}/ more than {allowed} times in one path"
    return ""


def _endless_query(query: str, policy: TrapPolicy) -> str:
    pairs = query.split("&")
    if policy.parameters and len(pairs) > policy.parameters:
        return f"a query with more than {policy.parameters} parameters"
    if not policy.repeats or len(set(pairs)) == len(pairs):
        return ""
    for pair, times in Counter(pairs).items():
        if times > 1 and pair:
            return f"the parameter {pair[:80]} {times} times in one query"
    return ""


def _artefact(url: str) -> str:
    for words, pattern in _ARTEFACTS:
        if pattern.search(url):
            return words
    return ""


def _far_away(depth: int, policy: TrapPolicy) -> Verdict | None:
    """A matter of the path to the URL, not of its form: a shorter path lifts this verdict."""
    if not policy.hops or depth <= policy.hops:
        return None
    return Verdict(Outcome.TOO_DEEP, f"more than {policy.hops} links away from the start")
