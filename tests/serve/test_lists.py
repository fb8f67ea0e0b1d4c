"""The lists of a job of millions: each page of them is found by a key, and nothing is sorted for it."""

from collections.abc import Callable, Sequence
from typing import Any

import apsw
import pytest

from sumi.serve import lists
from sumi.serve.schema import SCHEMA
from sumi.serve.views import View


class Planned(View):
    """Keeps how SQLite would find the rows of each question."""

    def __init__(self) -> None:
        self._db = apsw.Connection(":memory:")
        self._db.execute(SCHEMA)
        self.plans: list[str] = []

    def rows(self, statement: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        plan = self._db.execute(f"EXPLAIN QUERY PLAN {statement}", tuple(bindings))
        self.plans += [str(step[3]) for step in plan]
        return []


@pytest.mark.parametrize(
    "ask",
    [
        lambda view: lists.urls_of_group(view, "captured", None, 7),
        lambda view: lists.urls_of_group(view, "captured", "HTTP 200", 7),
        lambda view: lists.pages(view, "https://a.example/", ""),
        lambda view: lists.pages(view, "https://a.example/", "", below=True),
        lambda view: lists.tree(view, "https://a.example/", "https://a.example/b"),
    ],
)
def test_a_page_of_a_list_is_found_by_its_key(ask: Callable[[View], object]) -> None:
    view = Planned()
    ask(view)
    assert view.plans
    for step in view.plans:
        assert step.startswith("SEARCH"), view.plans
        assert "TEMP B-TREE" not in step
