"""Which URLs a crawl takes, by which rule, and what type of page each is; its scope, caps and banner."""

from collections.abc import Callable
from typing import Final

import msgspec

from sumi.jobs.pipeline.config import CrawlConfig
from sumi.model import Candidate
from sumi.scope import Scope, build_scope
from sumi.scope.caps import CapPolicy
from sumi.scope.profiles import ProfileName, shapes_of
from sumi.settings.kinds import split_path_budget
from sumi.settings.shared import ways_out_of
from sumi.urls import crawl_rules, normalize_with
from sumi.urls.identity import tidy_path

OTHER = "other"  # the type of a page for which the profile has no name
_GITHUB_TERMS: Final = (
    "https://github.com/robots.txt",
    "https://docs.github.com/site-policy/acceptable-use-policies/github-acceptable-use-policies",
    "https://docs.github.com/site-policy/github-terms/github-terms-of-service",
)


class PolicyVerdict(msgspec.Struct, frozen=True):
    ok: bool
    reason: str  # the rule that refused, or why nothing did
    page_type: str


class Profile:
    """A scope, and the page types of its site. URLs must be normalized."""

    def __init__(self, name: ProfileName, scope: Scope) -> None:
        self.name = name
        self._scope = scope
        self._shapes = shapes_of(name)

    def gate(self, url: str) -> PolicyVerdict:
        """Checks the host, then deny patterns, then allow patterns or page types; not robots.txt."""
        page_type = self.page_type(url)
        refusal = self._scope.judge(Candidate(url))
        if refusal is not None:
            return PolicyVerdict(False, f"{refusal.outcome}: {refusal.rule}", page_type)
        return PolicyVerdict(True, self._why_taken(url, page_type), page_type)

    def page_type(self, url: str) -> str:
        return self._shapes.page_type(tidy_path(url)) or OTHER

    def group_of(self, url: str) -> str | None:
        """The repository as ``owner/repo``; None if the page does not belong to one."""
        return self._shapes.group_of(tidy_path(url))

    def _why_taken(self, url: str, page_type: str) -> str:
        allowed_by = self._scope.allowed_by(url)
        if allowed_by is not None:
            return f"allowed by {allowed_by}"
        return f"page type {page_type}" if self._scope.profile else "no rule refuses it"


# ── from a configuration ─────────────────────────────────────────────────────────────────────────────────


def crawl_scope(config: CrawlConfig) -> Scope:
    """The user's allow patterns replace the profile's page types."""
    named = config.profile if config.profile is ProfileName.GITHUB else None
    return build_scope(
        hosts=config.scope.allowed_hosts,
        denied_hosts=config.scope.denied_subdomains,
        allow=config.scope.allow_patterns,
        deny=config.scope.deny_patterns,
        exclude=ways_out_of(config.network.cookie_file, config.network.login),
        max_depth=config.scope.max_depth,
        profile=None if config.scope.allow_patterns else named,
        any_port=named is None,
    )


def crawl_caps(config: CrawlConfig) -> CapPolicy:
    caps = config.caps
    by_type = (("issues", caps.per_repo_max_issues), ("pull", caps.per_repo_max_prs))
    under = tuple(map(split_path_budget, caps.max_pages_under))
    return CapPolicy(config.profile, caps.per_repo_max_pages, by_type, under)


def caps_on(config: CrawlConfig, page_type: str, group: str | None) -> tuple[tuple[str, int], ...]:
    """The caps, by key, that a page of this type in this repository counts toward."""
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
    """A function that returns the page type of any URL, normalized or not."""
    profile, rules = crawl_profile(config), crawl_rules(config.scope.keep_query)
    return lambda url: profile.page_type(normalize_with(url, rules) or url)


def compliance_banner(config: CrawlConfig) -> tuple[str, ...]:
    """Shown before the first request: who crawls what under which rules."""
    hosts = ", ".join(config.scope.allowed_hosts) or "any"
    robots = (
        f"obeyed; if it cannot be fetched: {config.robots.on_error}"
        if config.robots.respect
        else "NOT obeyed"
    )
    limits = config.limits
    lines = (
        f"user agent  {config.user_agent}",
        f"profile     {config.profile}; hosts: {hosts}",
        f"robots.txt  {robots}",
        f"pace        {limits.req_per_sec:g} requests/s per host, {limits.global_concurrency} at once",
    )
    terms = _GITHUB_TERMS if config.profile is ProfileName.GITHUB else ()
    return (*lines, *(f"please read {url}" for url in terms))
