"""One function per rule of a scope: None, or the verdict that names the rule.

Verdicts are made once, not per URL: a crawl refuses most of the links it meets.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from sumi.outcomes import Outcome, Verdict
from sumi.scope.bases import BaseUrls
from sumi.scope.hosts import DomainClass, DomainClasses, HostMatcher
from sumi.scope.patterns import Pattern
from sumi.scope.profiles import ProfileName, shapes_of
from sumi.urls import DEFAULT_PORTS


class Subject(NamedTuple):
    """A candidate as the rules see it."""

    url: str
    host: str
    port: int
    path: str
    depth: int


Check: TypeAlias = Callable[[Subject], Verdict | None]

_LISTED: Final = 3
_LISTED_LENGTH: Final = 80


def host_check(patterns: Sequence[str]) -> Check:
    matcher = HostMatcher(patterns)
    refusal = Verdict(Outcome.OUT_OF_SCOPE, f"host is not one of {_listed(patterns)}")

    def check(subject: Subject) -> Verdict | None:
        return None if matcher.matches(subject.host, subject.port) else refusal

    return check


def denied_host_check(patterns: Sequence[str]) -> Check:
    """A pattern takes the name and all below it and, unless it has a port of its own, on every port."""
    below = [pattern if pattern.startswith("*.") else f"*.{pattern}" for pattern in patterns]
    matcher = HostMatcher(below)
    refusal = Verdict(Outcome.OUT_OF_SCOPE, f"host is one of the denied {_listed(patterns)}")

    def check(subject: Subject) -> Verdict | None:
        # A pattern without a port takes the web's own two, and no other pattern does.
        everywhere = all(matcher.matches(subject.host, port) for port in DEFAULT_PORTS.values())
        return refusal if everywhere or matcher.matches(subject.host, subject.port) else None

    return check


def domain_check(blacklist: Sequence[str], stub: Sequence[str]) -> Check:
    classes = DomainClasses((), blacklist, stub)
    refusals = {
        DomainClass.BLACKLISTED: Verdict(Outcome.BLACKLISTED, "its domain is on the blacklist"),
        DomainClass.STUBBED: Verdict(Outcome.STUBBED, "its domain is on the stub list"),
    }

    def check(subject: Subject) -> Verdict | None:
        return refusals.get(classes.classify(subject.host))

    return check


def prefix_check(prefixes: Sequence[str], loose: bool) -> Check:
    """Strict: the prefix itself, or something below it. Loose: any path that begins so."""
    bare = [prefix.rstrip("/") for prefix in prefixes]
    exact = frozenset() if loose else frozenset(bare)
    starts = tuple(bare if loose else (prefix + "/" for prefix in bare))
    refusal = Verdict(Outcome.OUT_OF_SCOPE, f"path is not under {_listed(prefixes)}")

    def check(subject: Subject) -> Verdict | None:
        return None if subject.path.startswith(starts) or subject.path in exact else refusal

    return check


def base_check(bases: BaseUrls, named: Sequence[str], hops: int) -> Check:
    """Under a base, or close enough by links. Too far by links is no property of the URL: a shorter way to it
    may be found."""
    outside = Verdict(Outcome.OUT_OF_SCOPE, f"not under {_listed(named)}")
    too_far = Verdict(Outcome.TOO_DEEP, f"more than {hops} links away from {_listed(named)}")

    def check(subject: Subject) -> Verdict | None:
        if bases.of(subject.url) is not None:
            return None
        if not hops:
            return outside
        return too_far if subject.depth > hops else None

    return check


def base_site_check(bases: BaseUrls, named: Sequence[str]) -> Check:
    refusal = Verdict(Outcome.OUT_OF_SCOPE, f"not on a site of {_listed(named)}")

    def check(subject: Subject) -> Verdict | None:
        return None if bases.has_site_of(subject.url) else refusal

    return check


def path_refused_by(pattern: Pattern, text: str) -> Check:
    refusal = Verdict(Outcome.EXCLUDED, f"excluded by {_shortened(text)}")

    def check(subject: Subject) -> Verdict | None:
        return refusal if pattern.matches(subject.path) else None

    return check


def url_refused_by(pattern: Pattern, text: str) -> Check:
    refusal = Verdict(Outcome.EXCLUDED, f"denied by {_shortened(text)}")

    def check(subject: Subject) -> Verdict | None:
        return refusal if pattern.matches(subject.url) else None

    return check


def path_among(patterns: Sequence[Pattern], texts: Sequence[str]) -> Check:
    refusal = Verdict(Outcome.EXCLUDED, f"path matches no include pattern: {_listed(texts)}")

    def check(subject: Subject) -> Verdict | None:
        return None if any(pattern.matches(subject.path) for pattern in patterns) else refusal

    return check


def url_among(patterns: Sequence[Pattern], texts: Sequence[str]) -> Check:
    refusal = Verdict(Outcome.EXCLUDED, f"URL matches no allow pattern: {_listed(texts)}")

    def check(subject: Subject) -> Verdict | None:
        return None if any(pattern.matches(subject.url) for pattern in patterns) else refusal

    return check


def page_type_check(profile: ProfileName) -> Check:
    shapes = shapes_of(profile)
    names = ", ".join(shapes.page_types)
    refusal = Verdict(Outcome.EXCLUDED, f"none of the pages of the {profile} profile: {names}")

    def check(subject: Subject) -> Verdict | None:
        return refusal if shapes.page_type(subject.path) is None else None

    return check


def depth_check(limit: int) -> Check:
    refusal = Verdict(Outcome.TOO_DEEP, f"deeper than {limit}")

    def check(subject: Subject) -> Verdict | None:
        return refusal if subject.depth > limit else None

    return check


def _listed(texts: Sequence[str]) -> str:
    """A few of them: the rule is stored with every URL it refuses."""
    named = ", ".join(_shortened(text) for text in texts[:_LISTED])
    return named if len(texts) <= _LISTED else f"{named} and {len(texts) - _LISTED} more"


def _shortened(text: str) -> str:
    return text if len(text) <= _LISTED_LENGTH else text[: _LISTED_LENGTH - 1] + "…"
