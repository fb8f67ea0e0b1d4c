"""What the values of a crawl configuration mean together."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from sumi.jobs.pipeline.config import CrawlConfig, PackingDictionary
from sumi.jobs.pipeline.policy import Profile
from sumi.scope import Scope, build_scope
from sumi.scope.caps import CapPolicy
from sumi.scope.profiles import ProfileName
from sumi.urls import crawl_rules, normalize_with
from sumi.urls.parts import split_authority

_GITHUB: Final = "github.com"
_PER_REPO: Final = ("caps.per_repo_max_pages", "caps.per_repo_max_issues", "caps.per_repo_max_prs")
_GITHUB_TERMS: Final = (
    "https://github.com/robots.txt",
    "https://docs.github.com/site-policy/acceptable-use-policies/github-acceptable-use-policies",
    "https://docs.github.com/site-policy/github-terms/github-terms-of-service",
)


def contradictions(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Between values, by dotted key, that are each valid by themselves: the key and what to do about it."""
    if values["profile"] is ProfileName.GITHUB:
        yield from _foreign_hosts(values)
    else:
        yield from _repository_caps(values)
    base, cap = values.get("limits.backoff_base_ms"), values.get("limits.backoff_cap_ms")
    if base is not None and cap is not None and base > cap:
        yield (
            "limits.backoff_base_ms",
            f"limits.backoff_base_ms is more than limits.backoff_cap_ms, which is {cap}",
        )
    if values.get("store.dictionary") is PackingDictionary.AUTO and not values.get("store.compress"):
        yield (
            "store.dictionary",
            "store.dictionary is for compressed pages; add store.compress: true, or take it out",
        )
    yield from _shared_paths(values)


def _foreign_hosts(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for host in values["scope.allowed_hosts"]:
        if split_authority(host)[0] != _GITHUB:
            words = f"scope.allowed_hosts has {host}, but the profile github allows {_GITHUB} only"
            yield "scope.allowed_hosts", f"{words}; take it out, or choose profile: generic"


def _repository_caps(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in _PER_REPO:
        if values.get(key):
            yield key, f"{key} is for profile: github; other sites have no repositories to count"


def _shared_paths(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    users: dict[Path, list[str]] = defaultdict(list)
    for key, value in values.items():
        if isinstance(value, Path) and key != "workspace":
            users[value].append(key)
    for place, keys in users.items():
        if len(keys) > 1:
            yield keys[-1], f"{' and '.join(keys)} are both {place}; give each its own"


def crawl_scope(config: CrawlConfig) -> Scope:
    """What the job covers. The user's own allow patterns stand in for the profile's page types."""
    named = config.profile if config.profile is ProfileName.GITHUB else None
    return build_scope(
        hosts=config.scope.allowed_hosts,
        denied_hosts=config.scope.denied_subdomains,
        allow=config.scope.allow_patterns,
        deny=config.scope.deny_patterns,
        max_depth=config.scope.max_depth,
        profile=None if config.scope.allow_patterns else named,
    )


def crawl_caps(config: CrawlConfig) -> CapPolicy:
    caps = config.caps
    by_type = (("issues", caps.per_repo_max_issues), ("pull", caps.per_repo_max_prs))
    return CapPolicy(config.profile, caps.per_repo_max_pages, by_type)


def caps_on(config: CrawlConfig, page_type: str, group: str | None) -> tuple[tuple[str, int], ...]:
    """The caps, by their keys, among whose pages one of this type in this repository would count."""
    caps = config.caps
    of_all = ("caps.max_pages", caps.max_pages)
    of_group = {
        "": ("caps.per_repo_max_pages", caps.per_repo_max_pages),
        "issues": ("caps.per_repo_max_issues", caps.per_repo_max_issues),
        "pull": ("caps.per_repo_max_prs", caps.per_repo_max_prs),
    }
    own = [of_group[kind] for kind in ("", page_type) if kind in of_group] if group is not None else []
    return tuple((key, most) for key, most in (*own, of_all) if most)


def crawl_profile(config: CrawlConfig) -> Profile:
    return Profile(config.profile, crawl_scope(config))


def page_type_of(config: CrawlConfig) -> Callable[[str], str]:
    """What the profile calls a page, however its URL is spelled."""
    profile, rules = crawl_profile(config), crawl_rules(config.scope.keep_query)
    return lambda url: profile.page_type(normalize_with(url, rules) or url)


def compliance_banner(config: CrawlConfig) -> tuple[str, ...]:
    """Who crawls what under which rules: shown before the first request."""
    hosts = ", ".join(config.scope.allowed_hosts) or "any"
    robots = (
        f"obeyed; if it cannot be had: {config.robots.on_error}" if config.robots.respect else "NOT obeyed"
    )
    limits = config.limits
    lines = (
        f"user agent  {config.user_agent}",
        f"profile     {config.profile}; hosts: {hosts}",
        f"robots.txt  {robots}",
        f"pace        {limits.req_per_sec:g} requests/s and host, {limits.global_concurrency} at once",
    )
    terms = _GITHUB_TERMS if config.profile is ProfileName.GITHUB else ()
    return (*lines, *(f"please read {url}" for url in terms))
