"""A cell stands under the heading of its column, whatever reaches into its row from above."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown

COMMONMARK = MarkdownIt("commonmark").enable("table")

Span = tuple[int, int]  # columns and rows, none of the latter for all that are left
Group = list[list[Span]]


def written(table: str) -> str:
    html = f"<table>{table}</table>"
    return page_markdown(parse_html(html.encode(), "utf-8"), "https://e.org/").markdown


def grid(table: str) -> list[list[str]]:
    rows: list[list[str]] = []
    for token in COMMONMARK.parse(written(table)):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(token.content)
    return rows


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            "<tr><th>A<th>B<th>C<tr><td>a1<td rowspan=3>b1<td rowspan=2>c1<tr><td>a2<tr><td>a3<td>c3",
            [["A", "B", "C"], ["a1", "b1", "c1"], ["a2", "", ""], ["a3", "", "c3"]],
        ),
        ("<tr><td>a<td rowspan=3>b<tr><tr><td>c<td>d", [["a", "b", ""], ["c", "", "d"]]),
        ("<tr><td rowspan=0>a<td>b<tr><td>c<tr><td>d", [["a", "b"], ["", "c"], ["", "d"]]),
        (
            "<thead><tr><th rowspan=9>a<th>b<tbody><tr><td>c<td>d",
            [["a", "b"], ["c", "d"]],
        ),
        ("<tr><td rowspan='2;'>a<td>b<tr><td>c", [["a", "b"], ["", "c"]]),
    ],
)
def test_a_cell_stands_in_its_column(table: str, expected: list[list[str]]) -> None:
    assert grid(table) == expected


def test_a_cell_reaches_over_as_many_rows_as_it_says() -> None:
    rows = grid("<tr><td rowspan=150>a<td>b" + "<tr><td>c" * 149)
    assert rows == [["a", "b"], *[["", "c"]] * 149]


def name(group: int, row: int, cell: int) -> str:
    return f"g{group}r{row}c{cell}"


def by_the_standard(groups: list[Group]) -> list[list[str]]:
    """The algorithm for forming a table, slot by slot; rows without cells are not shown."""
    shown: list[dict[int, str]] = []
    width = 0
    for group, rows in enumerate(groups):
        taken: set[tuple[int, int]] = set()
        for y, row in enumerate(rows):
            x = 0
            line: dict[int, str] = {}
            for number, (columns, height) in enumerate(row):
                while (x, y) in taken:
                    x += 1
                line[x] = name(group, y, number)
                bottom = len(rows) if height == 0 else min(y + height, len(rows))
                taken |= {(x + right, below) for right in range(columns) for below in range(y, bottom)}
                x += columns
                width = max(width, x)
            if line:
                shown.append(line)
    return [[line.get(x, "") for x in range(width)] for line in shown]


def as_html(groups: list[Group]) -> str:
    html = ""
    for group, rows in enumerate(groups):
        html += "<tbody>"
        for y, row in enumerate(rows):
            html += "<tr>"
            for number, (columns, height) in enumerate(row):
                html += f"<td colspan={columns} rowspan={height}>{name(group, y, number)}</td>"
            html += "</tr>"
        html += "</tbody>"
    return html


SPAN = st.tuples(st.integers(1, 3), st.integers(0, 4))
GROUP = st.lists(st.lists(SPAN, max_size=4), max_size=5)


@given(st.lists(GROUP, max_size=3))
def test_every_cell_is_where_a_browser_puts_it(groups: list[Group]) -> None:
    pair = [(1, 1), (1, 1)]
    groups = [[pair, pair], *groups]  # two columns and rows at least, or it is no table
    assert grid(as_html(groups)) == by_the_standard(groups)


def test_rows_under_wide_cells_cost_no_more_than_others() -> None:
    wide = "<tr>" + "<td colspan=100 rowspan=60000>x" * 150
    started = time.process_time()
    assert "x" in written(f"{wide}{'<tr><td>y' * 3}{'<tr>' * 20_000}")
    assert time.process_time() - started < 2
