"""The scope of a job: which URLs it covers, as plain data, and the rule that refuses a URL."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

import msgspec

from sumi.errors import UsageError
from sumi.model import Candidate, Kind
from sumi.outcomes import Outcome, Verdict
from sumi.policy import Preset
from sumi.scope.bases import BaseUrls
from sumi.scope.hosts import DomainClass, DomainClasses, HostMatcher, canonical_host_pattern, is_address
from sumi.scope.patterns import Pattern, path_pattern, url_pattern
from sumi.scope.profiles import ProfileName, shapes_of
from sumi.urls import DEFAULT_PORTS, host_key, normalize, split
from sumi.urls.identity import tidy_escapes, tidy_path


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


class Scope(msgspec.Struct, frozen=True, dict=True):
    """What a job covers. Empty means no restriction. ``build_scope`` makes one from what a user wrote.

    Paths are compared percent-encoded, without unnecessary escapes: ``/%61`` is ``/a``.
    """

    hosts: tuple[str, ...] = ()  # see sumi.scope.hosts
    paths: tuple[str, ...] = ()  # prefixes, of whole segments: /docs takes /docs/a, not /docs-old
    loose_paths: bool = False  # prefixes of characters: /docs takes /docs-old too
    any_port: bool = False  # a host without a port is meant on every port
    include: tuple[str, ...] = ()  # for the path: a glob, or "re:" and a regular expression; one must match
    exclude: tuple[str, ...] = ()  # likewise; none may match
    allow: tuple[str, ...] = ()  # regular expressions for the whole URL; one must match
    deny: tuple[str, ...] = ()  # likewise; none may match
    max_depth: int | None = None
    denied_hosts: tuple[str, ...] = ()  # like hosts, with all names below each; they win over hosts
    profile: ProfileName | None = None  # only page types of this profile
    blacklist: tuple[str, ...] = ()  # domain patterns, see sumi.scope.hosts: counted, never visited
    stub: tuple[str, ...] = ()  # likewise: recorded by address, never visited
    # Base URLs, see sumi.scope.bases: only what is under one of them, or a few links away. Not the same as
    # hosts and paths, which combine every path with every host.
    bases: tuple[str, ...] = ()
    external_hops: int = 0  # links from what is under a base

    def judge(self, candidate: Candidate) -> Verdict | None:
        """None if the candidate is accepted, otherwise the rule that refused it.

        A sitemap may be anywhere on its site, so rules that say which pages are wanted (path prefixes,
        include, allow) do not apply to it; the others do. An image belongs to the page that shows it,
        wherever it is: only rules that exclude apply to it.
        """
        parts = split(candidate.url)
        path = tidy_escapes(parts.path)
        subject = Subject(candidate.url, parts.host, parts.port, path, candidate.depth)
        for check in self._checks_of(candidate.kind):
            verdict = check(subject)
            if verdict is not None:
                return verdict
        return None

    def allowed_by(self, url: str) -> str | None:
        """The allow pattern that accepts a URL, for a report; None if none does."""
        return next((text for text in self.allow if url_pattern(text).matches(url)), None)

    def _checks_of(self, kind: Kind) -> tuple[Check, ...]:
        if kind is Kind.IMAGE:
            return self._image_checks
        return self._page_checks if kind in (Kind.PAGE, Kind.FILE) else self._sitemap_checks

    @cached_property
    def base_urls(self) -> BaseUrls:
        return BaseUrls(self.bases, loose=self.loose_paths)

    def wants_sitemaps_of(self, site: str) -> bool:
        """Not those of sites that are only linked to."""
        return not self.bases or self.base_urls.has_site_of(site)

    # Kept with the instance and not in a cache keyed by it: hashing hundreds of patterns costs more than
    # judging a URL. These are not fields, so comparing, copying and encoding ignore them.
    @cached_property
    def _page_checks(self) -> tuple[Check, ...]:
        return tuple(_in_order(self, Kind.PAGE))

    @cached_property
    def _sitemap_checks(self) -> tuple[Check, ...]:
        return tuple(_in_order(self, Kind.SITEMAP))

    @cached_property
    def _image_checks(self) -> tuple[Check, ...]:
        return tuple(_in_order(msgspec.structs.replace(self, hosts=(), max_depth=None), Kind.IMAGE))


def _in_order(scope: Scope, kind: Kind) -> Iterator[Check]:
    """Depth is last, so that a URL is called too deep only if a shorter path would make it acceptable."""
    wanted = kind is Kind.PAGE
    if scope.blacklist or scope.stub:
        yield _domain_check(scope.blacklist, scope.stub)
    yield from _of_hosts(scope)
    yield from _of_paths(scope, wanted)
    yield from _of_urls(scope, wanted)
    if scope.bases and wanted:
        yield _base_check(scope.base_urls, scope.bases, scope.external_hops)
    if scope.bases and kind is Kind.SITEMAP:
        yield _base_site_check(scope.base_urls, scope.bases)
    if scope.max_depth is not None:
        yield _depth_check(scope.max_depth)


def _of_hosts(scope: Scope) -> Iterator[Check]:
    if scope.denied_hosts:
        yield _denied_host_check(scope.denied_hosts)
    if scope.hosts:
        yield _host_check(scope.hosts, any_port=scope.any_port)


def _of_paths(scope: Scope, wanted: bool) -> Iterator[Check]:
    if scope.paths and wanted:
        yield _prefix_check(scope.paths, scope.loose_paths)
    for text in scope.exclude:
        yield _path_refused_by(path_pattern(text), text)
    if scope.include and wanted:
        yield _path_among([path_pattern(text) for text in scope.include], scope.include)


def _of_urls(scope: Scope, wanted: bool) -> Iterator[Check]:
    for text in scope.deny:
        yield _url_refused_by(url_pattern(text), text)
    if scope.allow and wanted:
        yield _url_among([url_pattern(text) for text in scope.allow], scope.allow)
    if scope.profile is not None and wanted:
        yield _page_type_check(scope.profile)


_WWW: Final = "www."


def build_scope(
    *,
    hosts: Iterable[str] = (),
    paths: Iterable[str] = (),
    loose_paths: bool = False,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    allow: Iterable[str] = (),
    deny: Iterable[str] = (),
    max_depth: int | None = None,
    denied_hosts: Iterable[str] = (),
    profile: ProfileName | None = None,
    any_port: bool = False,
) -> Scope:
    """A scope with valid patterns only; UsageError names the first invalid one."""
    if max_depth is not None and max_depth < 0:
        raise UsageError(f"The depth limit must not be negative, but is {max_depth}.")
    return Scope(
        hosts=tuple(canonical_host_pattern(host) for host in hosts),
        paths=tuple(_canonical_prefix(path) for path in paths),
        loose_paths=loose_paths,
        any_port=any_port,
        include=_path_patterns(include),
        exclude=_path_patterns(exclude),
        allow=_url_patterns(allow),
        deny=_url_patterns(deny),
        max_depth=max_depth,
        denied_hosts=tuple(canonical_host_pattern(host) for host in denied_hosts),
        profile=profile,
    )


def default_hosts_for(seed_url: str) -> tuple[str, ...]:
    """The seed's host, with its port if that is not the default, and its twin with or without www."""
    url = normalize(seed_url, Preset.MIRROR)
    if url is None:
        raise UsageError(f"{seed_url!r} is not an http or https URL.")
    own = host_key(url)
    twin = own.removeprefix(_WWW) if own.startswith(_WWW) else _WWW + own
    return (own, twin) if _may_have_twin(split(url).host) else (own,)


def _may_have_twin(host: str) -> bool:
    """Names of a registered domain do; addresses, ``localhost`` and ``www.com`` do not."""
    return "." in host.removeprefix(_WWW) and not is_address(host)


def _canonical_prefix(text: str) -> str:
    url = normalize("http://host" + text, Preset.MIRROR) if text.startswith("/") else None
    if url is None or "?" in text or "#" in text:
        raise UsageError(f"Path prefix {text!r} is not a path such as /docs.")
    return tidy_path(url)


def _path_patterns(texts: Iterable[str]) -> tuple[str, ...]:
    checked = tuple(texts)
    for text in checked:
        path_pattern(text)
    return checked


def _url_patterns(texts: Iterable[str]) -> tuple[str, ...]:
    checked = tuple(texts)
    for text in checked:
        url_pattern(text)
    return checked


# ── one function per rule: it returns None, or the verdict that names the rule ──────────────────────────────
# A verdict is made once and not per URL: a crawl refuses most of the links it finds.


def _host_check(patterns: Sequence[str], *, any_port: bool) -> Check:
    """``any_port``: a pattern without a port matches every port, not only the usual ones."""
    matcher = HostMatcher(patterns)
    refusal = Verdict(Outcome.OUT_OF_SCOPE, f"host is not one of {_listed(patterns)}")

    def check(subject: Subject) -> Verdict | None:
        if matcher.matches(subject.host, subject.port):
            return None
        if not _matches_usual_ports(matcher, subject):
            return refusal
        words = f"port {subject.port} of {subject.host} is not one of {_listed(patterns)}"
        return None if any_port else Verdict(Outcome.OUT_OF_SCOPE, words)

    return check


def _matches_usual_ports(matcher: HostMatcher, subject: Subject) -> bool:
    """A pattern without a port matches both usual ports, and no other pattern does."""
    return all(matcher.matches(subject.host, port) for port in DEFAULT_PORTS.values())


def _denied_host_check(patterns: Sequence[str]) -> Check:
    """A pattern matches the name and all names below it, on every port unless it names one."""
    below = [pattern if pattern.startswith("*.") else f"*.{pattern}" for pattern in patterns]
    matcher = HostMatcher(below)
    refusal = Verdict(Outcome.OUT_OF_SCOPE, f"host is one of the denied {_listed(patterns)}")

    def check(subject: Subject) -> Verdict | None:
        everywhere = _matches_usual_ports(matcher, subject)
        return refusal if everywhere or matcher.matches(subject.host, subject.port) else None

    return check


def _domain_check(blacklist: Sequence[str], stub: Sequence[str]) -> Check:
    classes = DomainClasses((), blacklist, stub)
    refusals = {
        DomainClass.BLACKLISTED: Verdict(Outcome.BLACKLISTED, "its domain is on the blacklist"),
        DomainClass.STUBBED: Verdict(Outcome.STUBBED, "its domain is on the stub list"),
    }

    def check(subject: Subject) -> Verdict | None:
        return refusals.get(classes.classify(subject.host))

    return check


def _prefix_check(prefixes: Sequence[str], loose: bool) -> Check:
    """Strict: the prefix itself, or something below it. Loose: any path that begins so."""
    bare = [prefix.rstrip("/") for prefix in prefixes]
    exact = frozenset() if loose else frozenset(bare)
    starts = tuple(bare if loose else (prefix + "/" for prefix in bare))
    refusal = Verdict(Outcome.OUT_OF_SCOPE, f"path is not under {_listed(prefixes)}")

    def check(subject: Subject) -> Verdict | None:
        return None if subject.path.startswith(starts) or subject.path in exact else refusal

    return check


def _base_check(bases: BaseUrls, named: Sequence[str], hops: int) -> Check:
    """Under a base, or few enough links away. Too many links is not a property of the URL: a shorter path to
    it may be found."""
    outside = Verdict(Outcome.OUT_OF_SCOPE, f"not under {_listed(named)}")
    too_far = Verdict(Outcome.TOO_DEEP, f"more than {hops} links away from {_listed(named)}")

    def check(subject: Subject) -> Verdict | None:
        if bases.of(subject.url) is not None:
            return None
        if not hops:
            return outside
        return too_far if subject.depth > hops else None

    return check


def _base_site_check(bases: BaseUrls, named: Sequence[str]) -> Check:
    refusal = Verdict(Outcome.OUT_OF_SCOPE, f"not on a site of {_listed(named)}")

    def check(subject: Subject) -> Verdict | None:
        return None if bases.has_site_of(subject.url) else refusal

    return check


def _path_refused_by(pattern: Pattern, text: str) -> Check:
    refusal = Verdict(Outcome.EXCLUDED, f"excluded by {_shortened(text)}")

    def check(subject: Subject) -> Verdict | None:
        return refusal if pattern.matches(subject.path) else None

    return check


def _url_refused_by(pattern: Pattern, text: str) -> Check:
    refusal = Verdict(Outcome.EXCLUDED, f"denied by {_shortened(text)}")

    def check(subject: Subject) -> Verdict | None:
        return refusal if pattern.matches(subject.url) else None

    return check


def _path_among(patterns: Sequence[Pattern], texts: Sequence[str]) -> Check:
    refusal = Verdict(Outcome.EXCLUDED, f"path matches no include pattern: {_listed(texts)}")

    def check(subject: Subject) -> Verdict | None:
        return None if any(pattern.matches(subject.path) for pattern in patterns) else refusal

    return check


def _url_among(patterns: Sequence[Pattern], texts: Sequence[str]) -> Check:
    refusal = Verdict(Outcome.EXCLUDED, f"URL matches no allow pattern: {_listed(texts)}")

    def check(subject: Subject) -> Verdict | None:
        return None if any(pattern.matches(subject.url) for pattern in patterns) else refusal

    return check


def _page_type_check(profile: ProfileName) -> Check:
    shapes = shapes_of(profile)
    names = ", ".join(shapes.page_types)
    refusal = Verdict(Outcome.EXCLUDED, f"none of the pages of the {profile} profile: {names}")

    def check(subject: Subject) -> Verdict | None:
        return refusal if shapes.page_type(subject.path) is None else None

    return check


def _depth_check(limit: int) -> Check:
    refusal = Verdict(Outcome.TOO_DEEP, f"deeper than {limit}")

    def check(subject: Subject) -> Verdict | None:
        return refusal if subject.depth > limit else None

    return check


def _listed(texts: Sequence[str]) -> str:
    """Only a few, because the rule is stored with every URL that it refuses."""
    named = ", ".join(_shortened(text) for text in texts[:_LISTED])
    return named if len(texts) <= _LISTED else f"{named} and {len(texts) - _LISTED} more"


def _shortened(text: str) -> str:
    return text if len(text) <= _LISTED_LENGTH else text[: _LISTED_LENGTH - 1] + "…"
