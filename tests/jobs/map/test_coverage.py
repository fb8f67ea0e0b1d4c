"""A domain is explored only if every URL of it has a final answer."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.jobs.map.coverage import MOST_NAMED, Coverage, coverage_notes, read_coverage
from sumi.jobs.map.database import open_database
from sumi.jobs.map.graph import domain_graph
from tests.made_maps import Page, make_map

HOME = Page("https://good.test/", depth=0)
MISSING = ("waiting", "limited", "rate_limited", "denied", "passed_over", "failed", "unreachable")


def page(state: str, outcome: str, path: str = "x") -> Page:
    return Page(f"https://good.test/{path}", state, depth=0, outcome=outcome)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (page("Processed", "redirected"), "explored, 1 page"),
        (page("DeadLink", "not_found"), "explored, 1 page"),
        (page("ContentMismatch", "not_html"), "explored, 1 page"),
        (page("Failed", "bad_url"), "explored, 1 page"),
        (page("Processed", "unchanged"), "explored, 2 pages"),
        (page("Queued", "pending"), "1 of 2 pages, 1 waiting"),
        (page("RequestLimitHit", "pending"), "1 of 2 pages, limit of 0 requests reached"),
        (page("RateLimited", "rate_limited"), "1 of 2 pages, it answered 429"),
        (page("Failed", "robots_denied"), "1 of 2 pages, 1 denied by robots.txt"),
        (page("Failed", "trap"), "1 of 2 pages, 1 passed over"),
        (page("Failed", "server_error"), "1 of 2 pages, 1 failed"),
        (page("Failed", "forbidden"), "1 of 2 pages, 1 failed"),
        (page("Unreachable", "connect_failed"), "1 of 2 pages, 1 unreachable"),
    ],
)
def test_one_page_in_each_state_next_to_one_that_was_read(other: Page, words: str, tmp_path: Path) -> None:
    coverage = read_coverage(make_map(tmp_path / "map.db", [HOME, other], [(0, 1)]))
    assert {domain: one.description for domain, one in coverage.items()} == {"good.test": words}


ALONE = {"good.test": "1 page, without a followed link"}


@pytest.mark.parametrize(
    ("others", "links"),
    [
        ([], []),
        ([], [(0, 0)]),
        ([page("Processed", "redirected")], [(1, 0)]),
        ([Page("https://ads.test/", "Blacklisted", outcome="blacklisted")], [(0, 1)]),
        ([Page("https://far.test/", "DepthExceeded", outcome="too_deep")], [(0, 1)]),
    ],
    ids=["no link", "to itself", "a redirect to it", "blacklisted", "too deep"],
)
def test_one_page_without_a_followed_link_is_not_explored(
    others: list[Page], links: list[tuple[int, int]], tmp_path: Path
) -> None:
    coverage = read_coverage(make_map(tmp_path / "map.db", [HOME, *others], links))
    assert {domain: one.description for domain, one in coverage.items()} == ALONE
    assert not coverage["good.test"].explored


def test_one_page_with_a_followed_link_to_another_domain_is_explored(tmp_path: Path) -> None:
    near = Page("https://near.test/", depth=1)
    coverage = read_coverage(make_map(tmp_path / "map.db", [HOME, near], [(0, 1)]))
    assert coverage["good.test"].description == "explored, 1 page"


@given(st.builds(Coverage, *(st.integers(0, 3) for _ in range(9))))
def test_explored_and_dead_agree_with_the_counts(coverage: Coverage) -> None:
    missing = sum(getattr(coverage, name) for name in MISSING)
    assert coverage.explored == (coverage.read > 0 and missing == 0)
    assert coverage.description.startswith("explored") == coverage.explored
    answered = coverage.read + coverage.no_page + missing - coverage.unreachable
    assert coverage.description.startswith("dead") == (coverage.unreachable > 0 and answered == 0)


def test_of_many_domains_only_unexplored_ones_are_named() -> None:
    many = {f"{n}.test": Coverage(read=1, waiting=n % 2) for n in range(MOST_NAMED + 2)}
    assert coverage_notes(many) == (
        *(f"{n}.test: 1 of 2 pages, 1 waiting" for n in range(1, MOST_NAMED + 2, 2)),
        "6 of 12 quality domains explored",
    )


def test_exports_do_not_count_redirects_as_crawled_pages(tmp_path: Path) -> None:
    moved = Page("https://good.test/old", depth=0, outcome="redirected", status=301)
    with open_database(make_map(tmp_path / "map.db", [HOME, moved])) as db:
        assert [row[2:4] for row in domain_graph(db).nodes()] == [(2, 1)]
