"""A scope takes what its rules describe, names the rule that refused the rest, and cannot be evaded."""

import pickle

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sumi.errors import UsageError
from sumi.model import Candidate, Kind
from sumi.outcomes import Outcome
from sumi.policy import Preset
from sumi.scope import Scope, build_scope, default_hosts_for
from sumi.urls import normalize


def outcome(scope: Scope, url: str, depth: int = 0, kind: Kind = Kind.PAGE) -> Outcome | None:
    verdict = scope.judge(Candidate(url=url, depth=depth, kind=kind))
    return None if verdict is None else verdict.outcome


def rule(scope: Scope, url: str, depth: int = 0) -> str | None:
    verdict = scope.judge(Candidate(url=url, depth=depth))
    return None if verdict is None else verdict.rule


def test_an_empty_scope_takes_everything() -> None:
    assert outcome(Scope(), "http://any.example:81/where?x", depth=99) is None


@pytest.mark.parametrize(
    ("path", "strict", "loose"),
    [
        ("/financial-apis", True, True),
        ("/financial-apis/", True, True),
        ("/financial-apis/overview", True, True),
        ("/financial-apis-blog", False, True),
        ("/financial-api", False, False),
        ("/x/financial-apis", False, False),
        ("/%66inancial-apis/a", True, True),
        ("//financial-apis", False, False),
    ],
)
@pytest.mark.parametrize("prefix", ["/financial-apis", "/financial-apis/", "/./financial%2Dapis"])
def test_path_prefixes_are_of_whole_segments_unless_loose(
    prefix: str, path: str, strict: bool, loose: bool
) -> None:
    url = "https://e.com" + path
    for loosely, taken in ((False, strict), (True, loose)):
        scope = build_scope(paths=[prefix], loose_paths=loosely)
        assert outcome(scope, url) is (None if taken else Outcome.OUT_OF_SCOPE)


def test_the_root_prefix_is_the_whole_site() -> None:
    for loosely in (False, True):
        scope = build_scope(paths=["/"], loose_paths=loosely)
        assert outcome(scope, "https://e.com/") is None
        assert outcome(scope, "https://e.com/a/b") is None


STRICT = {
    "hosts": ["e.com"],
    "paths": ["/docs"],
    "exclude": ["/docs/old/**", "re:\\.zip$"],
    "include": ["**/*.html", "/docs"],
    "deny": ["[?&]print="],
    "allow": ["^https:"],
    "max_depth": 2,
}


@pytest.mark.parametrize(
    ("url", "depth", "expected", "named"),
    [
        ("https://e.com/docs/a.html", 2, None, None),
        ("https://o.com/blog/a.zip?print=1", 9, Outcome.OUT_OF_SCOPE, "host is not one of e.com"),
        ("https://e.com/blog/a.zip?print=1", 9, Outcome.OUT_OF_SCOPE, "path is not under /docs"),
        ("https://e.com/docs/old/a.zip?print=1", 9, Outcome.EXCLUDED, "excluded by /docs/old/**"),
        ("https://e.com/docs/a.zip?print=1", 9, Outcome.EXCLUDED, "excluded by re:\\.zip$"),
        (
            "https://e.com/docs/a?print=1",
            9,
            Outcome.EXCLUDED,
            "path matches no include pattern: **/*.html, /docs",
        ),
        ("http://e.com/docs/a.html?print=1", 9, Outcome.EXCLUDED, "denied by [?&]print="),
        ("http://e.com/docs/a.html", 9, Outcome.EXCLUDED, "URL matches no allow pattern: ^https:"),
        ("https://e.com/docs/a.html", 3, Outcome.TOO_DEEP, "deeper than 2"),
    ],
)
def test_the_first_rule_in_order_decides_and_is_named(
    url: str, depth: int, expected: Outcome | None, named: str | None
) -> None:
    scope = build_scope(**STRICT)  # type: ignore[arg-type]
    assert outcome(scope, url, depth) is expected
    assert rule(scope, url, depth) == named


def test_a_sitemap_is_bound_by_what_is_unwanted_only() -> None:
    scope = build_scope(
        hosts=["e.com"], paths=["/docs"], include=["*.html"], exclude=["/news-*"], max_depth=1
    )
    assert outcome(scope, "https://e.com/sitemap.xml", kind=Kind.SITEMAP) is None
    assert outcome(scope, "https://o.com/sitemap.xml", kind=Kind.SITEMAP) is Outcome.OUT_OF_SCOPE
    assert outcome(scope, "https://e.com/news-map.xml", kind=Kind.SITEMAP) is Outcome.EXCLUDED
    assert outcome(scope, "https://e.com/sitemap.xml", depth=2, kind=Kind.SITEMAP) is Outcome.TOO_DEEP


def test_rules_stay_short_however_many_patterns_there_are() -> None:
    scope = build_scope(hosts=[f"h{number}.com" for number in range(1000)], deny=["x" * 1000])
    assert rule(scope, "http://e.com/") == "host is not one of h0.com, h1.com, h2.com and 997 more"
    assert len(rule(scope, "http://h1.com/" + "x" * 1000) or "") < 100


@pytest.mark.parametrize(
    "href",
    [
        "https://e.com.evil/docs/",
        "https://evil-e.com/docs/",
        "https://e.com@evil.com/docs/",
        "//evil.com/docs/",
        "https://evil.com\\@e.com/docs/",
        "https://evil.com#@e.com/docs/",
        "https://e.com:8443/docs/",
        "https://e.com/docs/../private",
        "https://e.com/docs/%2e%2e/private",
        "/docs-old",
        "..\\private",
        "https://e.com./private",
        "https://e。com/private",
        "http:\\\\evil.com/docs",
    ],
)
def test_no_spelling_leads_out_of_scope(href: str) -> None:
    scope = build_scope(hosts=["*.e.com"], paths=["/docs"])
    for preset in Preset:
        url = normalize(href, preset, base="https://e.com/docs/page")
        assert url is not None
        assert outcome(scope, url) is Outcome.OUT_OF_SCOPE


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"hosts": ["a b"]}, "Host pattern 'a b'"),
        ({"paths": ["docs"]}, "Path prefix 'docs'"),
        ({"paths": ["/a?b"]}, "Path prefix"),
        ({"paths": ["/\ud800"]}, "Path prefix"),
        ({"include": [""]}, "must not be empty"),
        ({"exclude": ["/\ud800"]}, "no URL can contain"),
        ({"include": ["re:("]}, "Regular expression '\\('"),
        ({"include": ["re:"]}, "must not be empty"),
        ({"exclude": ["/" + "a" * 1000]}, "longer than 1,000"),
        ({"allow": ["*"]}, "Regular expression '\\*'"),
        ({"deny": ["a" * 1001]}, "longer than 1,000"),
        ({"deny": ["a{1001}"]}, "Regular expression"),
        ({"exclude": ["re:/(?!docs)"]}, "combine --include and --exclude"),
        ({"deny": [r"(a)\1"]}, "Look-around and back-references are not supported"),
        ({"deny": ["\ud800"]}, "Regular expression"),
        ({"max_depth": -1}, "depth limit"),
    ],
)
def test_a_users_mistake_is_reported_in_one_sentence(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        build_scope(**arguments)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@given(st.text(max_size=12) | st.text("()[]{}*+?|\\^$.,1a:re", max_size=12))
@example("(" * 500 + ")" * 500)
def test_any_text_is_a_pattern_or_a_usage_error(text: str) -> None:
    for arguments in ({"deny": [text]}, {"exclude": [text]}, {"paths": [text]}):
        try:
            scope = build_scope(**arguments)  # type: ignore[arg-type]
        except UsageError:
            continue
        outcome(scope, "https://e.com/a/b?c")


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)+$", "(.*a){20}$", "(a?){200}a{200}$"])
def test_no_pair_of_pattern_and_url_blocks_a_crawl(pattern: str) -> None:
    # An engine that backtracks needs longer for each of these than the universe has.
    scope = build_scope(exclude=[f"re:^/{pattern}"], deny=[pattern])
    assert outcome(scope, "https://e.com/" + "a" * 8000 + "b") is None


@pytest.mark.parametrize(
    ("seed", "hosts"),
    [
        ("https://example.com/docs/a?b", ("example.com", "www.example.com")),
        ("http://www.Example.com/", ("www.example.com", "example.com")),
        ("https://docs.example.com/", ("docs.example.com", "www.docs.example.com")),
        ("http://example.com:8080/", ("example.com:8080", "www.example.com:8080")),
        ("http://localhost:8000/", ("localhost:8000",)),
        ("http://127.0.0.1/", ("127.0.0.1",)),
        ("http://[::1]:81/", ("[::1]:81",)),
        ("http://www.com/", ("www.com",)),
    ],
)
def test_the_default_scope_is_the_site_of_the_seed(seed: str, hosts: tuple[str, ...]) -> None:
    assert default_hosts_for(seed) == hosts
    scope = build_scope(hosts=default_hosts_for(seed), max_depth=3)
    assert scope.hosts == hosts
    assert scope.max_depth == 3
    url = normalize(seed, Preset.MIRROR)
    assert url is not None
    assert outcome(scope, url) is None
    assert outcome(scope, "http://elsewhere.example/") is Outcome.OUT_OF_SCOPE


def test_a_seed_that_is_not_a_url_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"'example\.com' is not an http or https URL\."):
        default_hosts_for("example.com")


def test_a_scope_is_data() -> None:
    scope = build_scope(**STRICT)  # type: ignore[arg-type]
    outcome(scope, "https://e.com/docs/a.html")
    again = msgspec.json.decode(msgspec.json.encode(scope), type=Scope)
    assert again == scope
    assert hash(again) == hash(scope)
    carried = pickle.loads(pickle.dumps(scope))
    assert carried == scope
    assert outcome(carried, "https://o.com/") is Outcome.OUT_OF_SCOPE
    wider = msgspec.structs.replace(scope, hosts=())
    assert outcome(wider, "https://o.com/docs/a.html") is None


@given(st.text(max_size=30), st.integers(0, 5))
def test_judging_never_raises(url: str, depth: int) -> None:
    scope = build_scope(**STRICT)  # type: ignore[arg-type]
    verdict = scope.judge(Candidate(url=url, depth=depth))
    assert verdict is None or verdict.rule
