"""A profile knows its site's pages by their URLs, names the rule that refused one, and no cap is passed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.jobs.pipeline.policy import Profile
from sumi.model import Candidate, Kind
from sumi.outcomes import Outcome
from sumi.policy import Preset
from sumi.scope import build_scope
from sumi.scope.caps import CapLedger, CapPolicy
from sumi.scope.profiles import ProfileName, shapes_of
from sumi.urls import normalize
from tests.site.github import GithubWorld

GITHUB = Profile(ProfileName.GITHUB, build_scope(hosts=["github.com"], profile=ProfileName.GITHUB))
GENERIC = Profile(ProfileName.GENERIC, build_scope(hosts=["*.example.org"]))

# The forms of the page types as whole expressions, to be compared with the code that takes paths apart.
FORMS = {
    "topic": r"/topics(/[^/]+)?",
    "trending": r"/trending",
    "repo_root": r"/[^/]+/[^/]+",
    "blob": r"/[^/]+/[^/]+/blob/.+",
    "issues": r"/[^/]+/[^/]+/issues(/[0-9]+)?",
    "pull": r"/[^/]+/[^/]+/pull(/[0-9]+)?",
}

TAKEN = {
    "/topics": "topic",
    "/topics/machine-learning": "topic",
    "/trending": "trending",
    "/owner/repo": "repo_root",
    "/Owner-1/re.po_x-2": "repo_root",
    "/octocat_acme/repo": "repo_root",
    "/owner/repo/blob/main/README.md": "blob",
    "/owner/repo/blob/main": "blob",
    "/owner/repo/blob/feature/x/y/z/deep/er/a%20b.py": "blob",
    "/owner/repo/issues": "issues",
    "/owner/repo/issues/1": "issues",
    "/owner/repo/issues/1234567890": "issues",
    "/owner/repo/pull": "pull",
    "/owner/repo/pull/77": "pull",
}

REFUSED = (
    "/",
    "/owner",
    "/topics/a/b",
    "/trending/python",
    "/trending/developers",
    "/owner/repo/blob",
    "/owner/repo/tree/main",
    "/owner/repo/issues/new",
    "/owner/repo/issues/1/edit",
    "/owner/repo/issues/1x",
    "/owner/repo/issues/٣",
    "/owner/repo/pulls",
    "/owner/repo/pull/77/files",
    "/owner/repo/commits/main",
    "/owner/repo/raw/main/README.md",
    "/-owner/repo",
    "/own.er/repo",
    "/owner/re%20po",
    # Not accounts, though they look like /<owner>/<repo>.
    "/features/actions",
    "/settings/profile",
    "/orgs/github",
    "/marketplace/actions",
    "/sponsors/octocat",
    "/login/oauth",
    "/search/advanced",
)


def url_of(path: str, host: str = "github.com") -> str:
    url = normalize(f"https://{host}{path}", Preset.CRAWL)
    assert url is not None
    return url


@pytest.mark.parametrize(("path", "page_type"), TAKEN.items())
def test_the_six_page_types_are_taken_and_named(path: str, page_type: str) -> None:
    verdict = GITHUB.gate(url_of(path))
    assert (verdict.ok, verdict.page_type, verdict.reason) == (True, page_type, f"page type {page_type}")
    assert re.fullmatch(FORMS[page_type], path)


def test_a_repository_is_the_same_by_its_clone_address() -> None:
    assert GITHUB.group_of(url_of("/o1/r1.git")) == GITHUB.group_of(url_of("/O1/R1")) == "o1/r1"
    caps = CapLedger(CapPolicy(ProfileName.GITHUB, pages=1))
    assert caps.admits(url_of("/o1/r1")) is None
    refusal = caps.admits(url_of("/o1/r1.git"))
    assert refusal is not None
    assert refusal.outcome is Outcome.OVER_QUOTA


@pytest.mark.parametrize("path", REFUSED)
def test_everything_else_on_github_is_refused_by_a_rule_with_a_name(path: str) -> None:
    verdict = GITHUB.gate(url_of(path))
    assert not verdict.ok
    assert verdict.reason.startswith("excluded: none of the pages of the github profile: topic, trending")


@pytest.mark.parametrize(
    "host",
    [
        "gist.github.com",
        "www.github.com",
        "github.com.evil.test",
        "notgithub.com",
        "github.com:8443",
        "api.github.com",
    ],
)
def test_no_host_but_github_itself(host: str) -> None:
    verdict = GITHUB.gate(url_of("/owner/repo", host))
    what = "port 8443 of github.com" if host == "github.com:8443" else "host"
    assert (verdict.ok, verdict.reason) == (False, f"out_of_scope: {what} is not one of github.com")


@given(
    st.lists(
        st.sampled_from(["a", "b-1", "topics", "blob", "issues", "pull", "7", "trending", ""]), max_size=7
    )
)
def test_a_page_type_has_the_form_that_is_documented(segments: list[str]) -> None:
    path = "/" + "/".join(segments)
    found = shapes_of(ProfileName.GITHUB).page_type(path)
    assert found is None or re.fullmatch(FORMS[found], path)


@given(st.text(max_size=60))
def test_nothing_that_a_site_writes_breaks_it(text: str) -> None:
    shapes = shapes_of(ProfileName.GITHUB)
    group, found = shapes.group_of("/" + text), shapes.page_type("/" + text)
    assert group is None or group.count("/") == 1
    assert found not in ("repo_root", "blob", "issues", "pull") or group is not None


def test_pages_of_a_repository_are_counted_together_however_it_is_spelled() -> None:
    for path in ("/Own/Repo", "/own/repo/issues/3", "/OWN/REPO/blob/main/x", "/own/%72epo/pull/1"):
        assert GITHUB.group_of(url_of(path)) == "own/repo"
    for path in ("/topics/x", "/trending", "/own", "/settings/profile"):
        assert GITHUB.group_of(url_of(path)) is None


def test_a_users_own_patterns_replace_the_page_types() -> None:
    scope = build_scope(hosts=["github.com"], allow=[r"/releases$"], deny=[r"/secret/"])
    profile = Profile(ProfileName.GITHUB, scope)
    taken = profile.gate("https://github.com/o/r/releases")
    assert (taken.ok, taken.page_type, taken.reason) == (True, "other", "allowed by /releases$")
    assert (
        profile.gate("https://github.com/o/r").reason == "excluded: URL matches no allow pattern: /releases$"
    )
    assert profile.gate("https://github.com/secret/r/releases").reason == "excluded: denied by /secret/"


def test_any_site_has_pages_and_no_repositories() -> None:
    url = "https://docs.example.org/owner/repo/issues/1"
    verdict = GENERIC.gate(url)
    assert (verdict.ok, verdict.page_type, verdict.reason) == (True, "page", "no rule refuses it")
    assert GENERIC.group_of(url) is None
    assert not GENERIC.gate("https://example.com/").ok


@pytest.mark.parametrize(
    ("host", "denied"),
    [
        ("private.example.org", True),
        ("a.private.example.org", True),
        ("private.example.org:8443", True),
        ("notprivate.example.org", False),
        ("example.org", False),
        ("old.example.org", False),
        ("old.example.org:81", True),
    ],
)
def test_denied_hosts_win_with_all_below_them_and_on_every_port(host: str, denied: bool) -> None:
    allowed = ["*.example.org", "*.example.org:8443", "*.example.org:81"]
    scope = build_scope(hosts=allowed, denied_hosts=["private.example.org", "old.example.org:81"])
    verdict = scope.judge(Candidate(f"https://{host}/"))
    assert (verdict is not None) == denied
    if verdict is not None:
        assert verdict.outcome is Outcome.OUT_OF_SCOPE
        assert "denied private.example.org" in verdict.rule


def test_page_types_do_not_bind_a_sitemap() -> None:
    scope = build_scope(hosts=["github.com"], profile=ProfileName.GITHUB)
    assert scope.judge(Candidate("https://github.com/sitemap.xml", kind=Kind.SITEMAP)) is None
    assert scope.judge(Candidate("https://github.com/sitemap.xml")) is not None


# ── caps ───────────────────────────────────────────────────────────────────────────────────────────────────

CAPS = CapPolicy(ProfileName.GITHUB, pages=6, by_type=(("issues", 3), ("pull", 0)))
WORLD_PAGES = [(f"https://github.com{path}", kind) for path, kind in GithubWorld(3).pages()]


@given(
    st.lists(st.sampled_from(WORLD_PAGES), max_size=120),
    st.integers(0, 8),
    st.integers(0, 4),
    st.integers(0, 3),
)
def test_whatever_comes_in_whatever_order_no_repository_has_more_than_its_caps(
    found: list[tuple[str, str]], pages: int, issues: int, pulls: int
) -> None:
    policy = CapPolicy(ProfileName.GITHUB, pages, (("issues", issues), ("pull", pulls)))
    ledger = CapLedger(policy)
    admitted: dict[str, set[tuple[str, str]]] = {}
    for url, kind in found:
        expected = ledger.refusal(url)
        verdict = ledger.admits(url)
        assert verdict == expected
        group = GITHUB.group_of(url)
        if group is None:
            assert verdict is None
            continue
        members = admitted.setdefault(group, set())
        of_type = sum(each == kind for _, each in members)
        limit = {"issues": issues, "pull": pulls}.get(kind, 0)
        full = (0 < pages <= len(members)) or (0 < limit <= of_type)
        assert (verdict is not None) == (full and (url, kind) not in members)
        if verdict is None:
            members.add((url, kind))


def test_a_refusal_names_the_repository_and_the_cap() -> None:
    ledger = CapLedger(CAPS)
    for number in range(1, 4):
        assert ledger.admits(f"https://github.com/O/R/issues/{number}") is None
    refusal = ledger.admits("https://github.com/o/r/issues/4")
    assert refusal is not None
    assert (refusal.outcome, refusal.rule) == (Outcome.OVER_QUOTA, "o/r has its 3 pages of type issues")
    for number in range(3):
        assert ledger.admits(f"https://github.com/o/r/blob/main/{number}") is None
    refusal = ledger.admits("https://github.com/o/r")
    assert refusal is not None
    assert refusal.rule == "o/r has its 6 pages"
    assert ledger.admits("https://github.com/o/other") is None


def test_urls_of_an_earlier_run_stay_admitted_under_lower_caps() -> None:
    ledger = CapLedger(CAPS)
    for number in range(9):
        ledger.load(f"https://github.com/o/r/issues/{number}")
    assert ledger.admits("https://github.com/o/r/issues/0") is None
    assert ledger.admits("https://github.com/o/r/issues/9") is not None


def test_without_caps_nothing_is_kept_and_nothing_refused() -> None:
    ledger = CapLedger(CapPolicy())
    assert all(ledger.admits(url) is None for url, _ in WORLD_PAGES)
