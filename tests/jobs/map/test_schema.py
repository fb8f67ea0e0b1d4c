"""The frequent statements of a map scan no table; a finished map has all its indexes."""

import re
from array import array

import apsw
import pytest

from sumi.jobs.map.store import schema as statements
from sumi.jobs.map.store.schema import LATE_INDEXES, SCHEMA

BY_NUMBER = ("ADD_LINKS", "TARGETS", "DEPTHS", "PUT_DEPTHS", "MOVE_PAGES", "UNQUEUE_PAGES", "QUEUE_PAGES")
BY_VALUE = ("BY_ID", "END_PAGE", "MOVE_PAGE", "PRIORITIZE", "UNQUEUE_PAGE", "PUT_DOMAIN", "OPEN_OF_DOMAIN")


def plan(statement: str, first: object) -> list[str]:
    db = apsw.Connection(":memory:")
    db.execute(SCHEMA)
    numbered = [int(number) for number in re.findall(r"\?(\d+)", statement)]
    count = max(numbered, default=statement.count("?"))
    bindings = (first, *(None,) * (count - 1))
    return [str(step[3]) for step in db.execute(f"EXPLAIN QUERY PLAN {statement}", bindings)]


def scans(steps: list[str]) -> list[str]:
    # Delayed URLs are few, and have no index by host.
    return [step for step in steps if step.startswith("SCAN") and not re.search("carray|INDEX delayed", step)]


@pytest.mark.parametrize("name", BY_NUMBER)
def test_statements_over_arrays_scan_no_table(name: str) -> None:
    assert scans(plan(getattr(statements, name), apsw.carray(array("q", [1])))) == []


@pytest.mark.parametrize("name", BY_VALUE)
def test_statements_over_single_values_scan_no_table(name: str) -> None:
    assert scans(plan(getattr(statements, name), None)) == []


def test_urls_are_found_by_the_index_of_keys_alone() -> None:
    steps = plan(statements.FIND_IDS, apsw.carray((b"key",)))
    assert [step for step in steps if "urls" in step] == ["SEARCH urls USING COVERING INDEX by_key (key=?)"]


def test_late_indexes_are_made_once_and_are_unique_where_rows_are() -> None:
    db = apsw.Connection(":memory:")
    db.execute(SCHEMA)
    for _ in range(2):
        for statement in LATE_INDEXES:
            db.execute(statement)
    made = dict(db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND name LIKE 'idx%'"))
    unique = {name for name, sql in made.items() if "UNIQUE" in sql}
    assert unique == {"idx_pages_url", "idx_page_depths_page", "idx_links_from"}
