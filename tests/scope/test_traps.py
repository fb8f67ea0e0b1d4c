"""URLs that only a trap makes are known by their form; the URLs of ordinary sites are not among them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.model import Candidate, Hop, Kind
from sumi.outcomes import Outcome
from sumi.policy import Preset, TrapPolicy
from sumi.scope.traps import trap_shape
from sumi.urls import normalize
from tests.site.truth import site

POLICY = TrapPolicy()
SITE = "https://e.org"


def outcome(path: str, policy: TrapPolicy = POLICY, depth: int = 1) -> Outcome | None:
    url = normalize(SITE + path, Preset.MIRROR)
    assert url is not None
    verdict = trap_shape(Candidate(url, depth=depth), policy)
    return None if verdict is None else verdict.outcome


@pytest.mark.parametrize(
    "path",
    [
        "/a" * 3,
        "/a/b/a/b/a/b",
        "/css/css/css/",
        "/x/a/y/a/z/a",
        "/" + "/".join(f"s{i}" for i in range(21)),
        "/1/1/1/1/1/",
        "/?" + "&".join(f"p{i}=1" for i in range(33)),
        "/?x=1&x=1",
        "/list?red=1&new=1&red=1",
        "/a%252525",
        "/?next=%2525252Fa",
        "/?a=1&amp;amp;b=2",
        "/?a=1&amp%3Bamp%3Bb=2",
        "/%22/docs/%22",
        "/docs/%5C%22/docs/%5C%22",
        "/docs/..;/admin",
    ],
)
def test_traps(path: str) -> None:
    assert outcome(path) is Outcome.TRAP


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/3/library/asyncio-task.html",
        "/3.12/library/os.path.html",
        "/ja/3/tutorial/index.html",
        "/javase/8/docs/api/java/lang/reflect/InvocationHandler.html",
        "/en/java/javase/21/docs/api/java.base/java/util/concurrent/atomic/AtomicInteger.html",
        "/apidocs/org/apache/commons/lang3/package-summary.html",
        "/apidocs/com/example/example/Example.html",
        "/2024/01/01/01/",
        "/page/150/",
        "/docs/v1/docs/v2/",
        "/pool/main/a/a/",
        "/search?tag=a&tag=b&tag=c",
        "/search?ids%5B%5D=1&ids%5B%5D=2",
        "/login?next=https%3A%2F%2Fe.org%2Fa%2520b",
        "/wiki/%22Heroes%22",
        "/wiki/AMP%2Bamp",
        "/a/../b",
        "/q?a=1&b=1",
    ],
)
def test_ordinary_urls_pass(path: str) -> None:
    assert outcome(path) is None


@pytest.mark.parametrize(("seed", "pages"), [(1, 30), (2, 500), (3, 2000)])
def test_no_page_of_a_generated_site_looks_like_a_trap(seed: int, pages: int) -> None:
    truth = site(seed, pages)
    paths = [*truth.pages, *truth.redirects, *truth.dead]
    assert [path for path in paths if outcome(path) is not None] == []


def test_too_many_links_is_a_property_of_the_path_not_of_the_url() -> None:
    assert outcome("/page/150", depth=150) is None
    assert outcome("/page/300", depth=300) is Outcome.TOO_DEEP


def test_zero_turns_a_rule_off() -> None:
    off = TrapPolicy(segments=0, repeats=0, parameters=0, hops=0)
    paths = ["/a" * 100, "/?" + "&".join(f"p{i}=1" for i in range(99)), "/?x=1&x=1"]
    assert [outcome(path, off, depth=10_000) for path in paths] == [None] * 3


def test_sitemaps_lie_where_they_lie() -> None:
    deep = Candidate(SITE + "/a/a/a/a/sitemap.xml", Hop.ROBOTS, Kind.SITEMAP)
    assert trap_shape(deep, POLICY) is None


@given(st.lists(st.sampled_from("abcde"), min_size=1, max_size=30))
def test_a_path_is_a_trap_exactly_if_it_is_long_or_repeats_itself(segments: list[str]) -> None:
    trapped = len(segments) > POLICY.segments or any(segments.count(s) > POLICY.repeats for s in segments)
    assert (outcome("/" + "/".join(segments)) is Outcome.TRAP) == trapped


@given(st.text(max_size=300))
def test_nothing_is_too_strange_to_be_judged(text: str) -> None:
    url = normalize(SITE + "/" + text, Preset.MIRROR)
    if url is not None:
        trap_shape(Candidate(url), POLICY)
