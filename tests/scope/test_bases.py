"""Base URLs take what lies below them, place external pages by links, and share limits exactly."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.engine.limits import BaseQuota, LimitsInForce
from sumi.engine.visit import Visit
from sumi.model import LISTED, Candidate, Hop, Kind, Lease
from sumi.outcomes import Outcome
from sumi.policy import Preset
from sumi.recipe import Recipe
from sumi.scope import Scope
from sumi.scope.bases import BaseUrls

segments = st.lists(st.sampled_from(["a", "ab", "a-b", "b"]), max_size=4)


@pytest.mark.parametrize(
    ("base", "url", "strict", "loose"),
    [
        ("https://d.org/api", "https://d.org/api", True, True),
        ("https://d.org/api", "https://d.org/api/users", True, True),
        ("https://d.org/api", "http://www.d.org/api/users?x=1", True, True),
        ("https://d.org/api", "https://d.org/api-blog", False, True),
        ("https://d.org/api", "https://d.org/ap", False, False),
        ("https://d.org/api", "https://x.d.org/api", False, False),
        ("https://d.org/api", "https://d.org.evil.org/api", False, False),
        ("https://d.org/api", "https://d.org:8443/api", False, False),
        ("https://d.org/", "https://d.org/anything", True, True),
        ("https://d.org/guide/intro.html", "https://d.org/guide/next.html", True, True),
        ("https://d.org/guide/intro.html", "https://d.org/guides", False, True),
        ("https://d.org/docs/v1.2", "https://d.org/docs/v1.3", False, False),
        ("https://d.org/%61", "https://d.org/a/b", True, True),
    ],
)
def test_what_is_under_a_base(base: str, url: str, strict: bool, loose: bool) -> None:
    assert (BaseUrls([base], loose=False).of(url) is not None) is strict
    assert (BaseUrls([base], loose=True).of(url) is not None) is loose


@given(st.lists(segments, min_size=1, max_size=4), segments, st.booleans())
def test_the_most_specific_base_has_a_page(bases: list[list[str]], path: list[str], loose: bool) -> None:
    texts = ["/".join(["", *parts]) for parts in bases]
    page = "/".join(["", *path]) or "/"
    found = BaseUrls([f"https://d.org{text or '/'}" for text in texts], loose=loose).of(
        f"https://d.org{page}"
    )
    fitting = [
        text
        for text in texts
        if (page.startswith(text) if loose else page == (text or "/") or page.startswith(f"{text}/"))
    ]
    assert (found is None) is (not fitting)
    if found is not None:
        assert len(texts[found]) == max(map(len, fitting))


@given(st.integers(0, 9), st.sampled_from(Hop), st.integers(1, 5))
def test_depth_is_counted_from_the_bases(depth: int, hop: Hop, hops: int) -> None:
    bases = BaseUrls(["https://d.org/api"], loose=False)
    scope = Scope(bases=("https://d.org/api",), external_hops=hops)
    inside = bases.placed(Candidate("https://d.org/api/x", hop, depth=depth), hops)
    assert inside.depth == 0
    assert scope.judge(inside) is None
    outside = bases.placed(Candidate("https://other.org/x", hop, depth=depth), hops)
    assert outside.depth >= 1
    refusal = scope.judge(outside)
    reachable = hop not in LISTED and max(depth, 1) <= hops
    assert (refusal is None) is reachable
    assert refusal is None or refusal.outcome is Outcome.TOO_DEEP


def test_without_hops_everything_external_is_out_of_scope() -> None:
    refusal = Scope(bases=("https://d.org/api",)).judge(Candidate("https://d.org/blog", depth=1))
    assert refusal is not None
    assert refusal.outcome is Outcome.OUT_OF_SCOPE


def test_only_sitemaps_of_the_bases_sites_are_read() -> None:
    scope = Scope(bases=("https://d.org/api",), external_hops=3)
    assert scope.wants_sitemaps_of("https://d.org")
    assert not scope.wants_sitemaps_of("https://other.org")
    assert scope.judge(Candidate("https://d.org/sitemap.xml", Hop.GUESS, Kind.SITEMAP)) is None
    assert scope.judge(Candidate("https://other.org/sitemap.xml", Hop.GUESS, Kind.SITEMAP)) is not None


def _quota(limit: int) -> BaseQuota:
    bases = ("https://d.org/a", "https://d.org/b")
    recipe = Recipe("capture", (), Preset.CAPTURE, Scope(bases=bases), "sumi", pages_per_base=limit)
    return BaseQuota(recipe, LimitsInForce(recipe))


def _visit(url: str) -> Visit:
    return Visit(Lease(Candidate(url), "d.org", token=0, deadline=0.0))


@given(
    st.integers(1, 4),
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 9), st.sampled_from(["kept", "not"]))),
)
def test_no_base_ever_has_more_pages_and_claims_than_its_limit(
    limit: int, steps: list[tuple[str, int, str]]
) -> None:
    """Each step claims a place for a page, or ends the page that holds one."""
    quota = _quota(limit)
    held: dict[str, str] = {}
    visits: dict[str, Visit] = {}
    kept: dict[str, str] = {}
    for base, number, ending in steps:
        url = f"https://d.org/{base}/{number}"
        if url in held:
            quota.settled(visits[url], kept=ending == "kept")
            del held[url]
            if ending == "kept":
                kept[url] = base
        elif url not in kept:
            full = sum(one == base for one in kept.values()) >= limit
            assert (quota.refusal(Candidate(url)) is not None) is full
            free = sum(one == base for one in (*held.values(), *kept.values())) < limit
            visits[url] = _visit(url)
            assert quota.claim(visits[url]) is free
            if free:
                held[url] = base
        for one in "ab":
            assert sum(each == one for each in (*held.values(), *kept.values())) <= limit


def test_a_page_without_a_slot_waits_until_another_one_ends() -> None:
    async def main() -> None:
        quota = _quota(1)
        first, second = _visit("https://d.org/a/1"), _visit("https://d.org/a/2")
        assert quota.claim(first)
        assert not quota.claim(second)
        waiting = asyncio.create_task(quota.wait(second.candidate))
        await asyncio.sleep(0)
        assert not waiting.done()
        quota.settled(first, kept=False)
        await waiting
        assert quota.claim(second), "a duplicate gives its place back"
        await quota.wait(Candidate("https://d.org/b/1"))

    asyncio.run(main())


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("https://d.org/guide/x", 2),
        ("https://d.org/api/x", 1),
        ("https://d.org/blog", 1),  # the first of its site
        ("https://e.org/", 0),  # the first of all
    ],
)
def test_whose_limit_a_page_counts_against(url: str, base: int) -> None:
    bases = BaseUrls(["https://x.org/", "https://d.org/api", "https://d.org/guide"], loose=False)
    assert bases.charged(url) == base


def test_an_external_page_counts_against_the_base_that_led_to_it() -> None:
    bases = BaseUrls(["https://d.org/api", "https://e.org/"], loose=False)
    found = [
        ("https://x.org/1", "https://e.org/a", 1),
        ("https://x.org/2", "https://x.org/1", 1),
        ("https://y.org/", "https://d.org/api/b", 0),
        ("https://x.org/1", "https://d.org/api/b", 1),  # found again
        ("https://d.org/blog", "https://e.org/a", 0),  # on the site of a base
    ]
    for url, referrer, base in found:
        assert bases.charged(url, referrer) == base
        assert bases.charged(url) == base
