"""The columns of a table stand as they do on the page, and a table within a cell is lines of that cell."""

import pytest

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown
from sumi.parse.markdown.fidelity import judge


def markdown(html: str) -> str:
    text, expected = page_markdown(parse_html(html.encode(), "utf-8"), "https://e.org/d/p.html")
    assert expected is not None
    fidelity = judge(expected, text)
    assert fidelity is not None
    assert fidelity.score == 1.0
    return text.strip()


@pytest.mark.parametrize(
    ("center", "right"),
    [
        ("style='text-align:center'", "style='color: red; text-align: right'"),
        ("align=center", "align=right"),
        ("class=text-center", "class='x text-right'"),
        ("class='tableblock halign-center'", "class='tableblock halign-right'"),
        ("class=has-text-centered", "class=align-end"),
    ],
)
def test_columns_are_aligned(center: str, right: str) -> None:
    head = f"<tr><th>a<th {center}>b<th {right}>c"
    expected = "| a | b | c |\n| --- | :---: | ---: |\n| 1 | 2 | 3 |"
    assert markdown(f"<table>{head}<tr><td>1<td>2<td>3</table>") == expected
    body = f"<tr><td>1<td {center}>2<td {right}>3"
    assert markdown(f"<table><tr><th>a<th>b<th>c{body}</table>") == expected


def test_a_table_that_stands_at_the_left_says_nothing() -> None:
    html = "<table><tr><th align=left>a<th align=left>b<tr><td>1<td>2</table>"
    assert markdown(html) == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_aligned_tables_in_lists_and_quotes() -> None:
    table = "<table><tr><th align=right>a<th>b<tr><td>1<td>2</table>"
    assert markdown(f"<ul><li>x{table}</ul>") == "- x\n  | a | b |\n  | ---: | --- |\n  | 1 | 2 |"
    assert "> | ---: | --- |" in markdown(f"<blockquote>{table}</blockquote>")


def test_a_table_in_a_cell_is_lines_of_it() -> None:
    inner = "<table><tr><th>Name<th>Type<tr><td><code>hue</code><td>string<tr><td>wet<td>boolean</table>"
    html = (
        "<table><tr><th>Name<th>Type<th>Description"
        f"<tr><td>ink<td>Object<td><p>The ink.</p><h6>Properties</h6>{inner}</table>"
    )
    lines = "The ink.<br>**Properties**<br>• Name, Type<br>• `hue`, string<br>• wet, boolean"
    assert markdown(html).splitlines()[-1] == f"| ink | Object | {lines} |"


def test_tables_that_lay_out_a_page_are_still_taken_apart() -> None:
    html = "<table><tr><td><h2>Ink</h2><table><tr><th>a<th>b<tr><td>1<td>2</table><td>side</table>"
    assert markdown(html) == "## Ink\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nside"
