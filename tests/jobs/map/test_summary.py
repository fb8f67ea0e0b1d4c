"""The summary of a map has every section, with the numbers of the database."""

from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumi.errors import UsageError
from sumi.jobs.map.summary import MapSummary, read_summary, summary_markdown
from tests.made_maps import GOOD, SMALL, SMALL_LINKS, Page, make_map, small_map


def summary_of(path: Path, run: int | None = None) -> MapSummary:
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return read_summary(db, run)
    finally:
        db.close()


def test_all_sections_have_the_numbers_of_the_database(tmp_path: Path) -> None:
    text = summary_markdown(summary_of(small_map(tmp_path)))
    for line in (
        "**Run ID:** 1  ",
        "**Started:** 2026-01-01T10:00:00.000Z  ",
        "**Finished:** 2026-01-01T14:15:23.000Z  ",
        "**Duration:** 4h 15m 23s  ",
        "**Status:** Completed",
        "## Overall Statistics",
        "| Pages Crawled | 4 |",
        "| Unique Domains Discovered | 4 |",
        f"| Total Links Recorded | {len(SMALL_LINKS)} |",
        "| Blacklisted URLs Found | 1 |",
        "| Stubbed URLs Found | 1 |",
        "| Errors Encountered | 5 |",
        "## Depth Breakdown",
        "| 0 (Quality) | 2 | 1 |",
        "| 1 | 1 | 2 |",
        "| 2 | 1 | 1 |",
        "**Coverage:** 1 of 1 quality domains explored  ",
        "### Quality Domains",
        "- good.test (explored, 2 pages)",
        "### Other Domains",
        "- near.test (2 pages, depth 1-2)",
        "- dark.test (0 pages, depth 2)",
        "## Top Blacklisted URLs",
        "| https://ads.test/pixel | 2 |",
        "## Top Stubbed URLs",
        "| https://wiki.test/Page | 1 |",
        "*(Showing top 1 of 1)*",
        "## Error Summary",
        "| Dead Links (404) | 1 |",
        "| Rate Limited (429) | 1 |",
        "| Connection Refused | 1 |",
        "| Timeout | 1 |",
        "| Robots Denied | 1 |",
        "| Other | 0 |",
        "### Rate-Limited Domains",
        "- slow.test (request #45)",
    ):
        assert line in text.splitlines(), line


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 5),
            st.sampled_from(sorted({page.state for page in SMALL})),
            st.none() | st.integers(0, 4),
        ),
        max_size=30,
    )
)
def test_parts_add_up_to_the_whole(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, str, int | None]]
) -> None:
    pages = [
        Page(f"https://d{domain}.test/{number}", state, depth=depth, outcome="server_error")
        for number, (domain, state, depth) in enumerate(rows)
    ]
    summary = summary_of(make_map(tmp_path_factory.mktemp("map") / "map.db", pages))
    crawled = sum(page.state == "Processed" for page in pages)
    visitable = {f"d{domain}.test" for domain, state, _ in rows if state not in ("Blacklisted", "Stubbed")}
    assert summary.pages_crawled == crawled == sum(row.pages for row in summary.depths)
    assert summary.unique_domains == len(visitable) == sum(row.new_domains for row in summary.depths)
    assert {one.domain for one in (*summary.quality, *summary.others)} == visitable
    assert sum(one.pages for one in (*summary.quality, *summary.others)) == crawled
    failed = ("DeadLink", "Unreachable", "RateLimited", "Failed")
    assert summary.error_count == sum(page.state in failed for page in pages)


def test_only_the_first_of_many_domains_and_urls_are_listed(tmp_path: Path) -> None:
    pages = [GOOD, *(Page(f"https://d{number}.test/") for number in range(60))]
    pages += [Page(f"https://ads.test/{number}", "Blacklisted") for number in range(25)]
    text = summary_markdown(summary_of(make_map(tmp_path / "map.db", pages)))
    assert "- ... (10 more domains)" in text
    assert "*(Showing top 20 of 25)*" in text


def test_a_hostile_url_stays_in_its_cell(tmp_path: Path) -> None:
    url = "https://ads.test/|x|`<script>alert(1)</script>[a](b)\u202e\n# big"
    text = summary_markdown(summary_of(make_map(tmp_path / "map.db", [Page(url, "Blacklisted")])))
    row = next(line for line in text.splitlines() if "ads.test" in line)
    assert row.endswith(" | 0 |")
    assert row.replace("\\|", "").count("|") == 3
    assert "<script" not in text
    assert "\u202e" not in text


def test_a_missing_run_is_a_usage_error(tmp_path: Path) -> None:
    path = small_map(tmp_path)
    assert summary_of(path, 1).run_id == 1
    with pytest.raises(UsageError, match="no run 7"):
        summary_of(path, 7)
