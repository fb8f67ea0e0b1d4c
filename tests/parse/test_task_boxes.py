"""Boxes of tasks are written on every page alike, be the converter alone or helped by renderers."""

import pytest

import sumi
from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown

HELPED = {
    "a formula": "<p>E <span class=math>\\(x\\)</span></p>",
    "a raised word": "<p>x<sup>th</sup></p>",
    "a quotation": "<p><q>hi</q></p>",
    "awkward emphasis": "<p>a<b>“b”</b>c</p>",
}


def items(html: str) -> str:
    markdown = page_markdown(parse_html(html.encode(), "utf-8"), "https://e.org/").markdown
    return markdown.partition("\n\n")[2]


@pytest.mark.parametrize("beside", HELPED.values(), ids=HELPED)
def test_boxes_are_there_whatever_else_is_on_the_page(beside: str) -> None:
    tasks = "<ul><li><input type=checkbox disabled checked> done<li><input type=checkbox disabled>open</ul>"
    assert items(beside + tasks) == "- [x] done\n- [ ] open"


@pytest.mark.parametrize(
    "item",
    [
        "<p> <input type=checkbox>\n a<p>b",
        "<input type=checkbox> <p>a</p><p>b",
        "<div><input type=checkbox checked> a</div>",
        "<span></span><input type=CHECKBOX><b>a</b>",
        "<label><input type=checkbox checked> a</label>",
        "<input type=checkbox> a<ul><li><input type=checkbox checked> b</ul>",
        # none of these is a box
        "a <input type=checkbox>",
        "<input type=radio> a",
        "<input><input type=checkbox> a",
        "<b>a</b><p><input type=checkbox> b",
        "<h2><input type=checkbox> a</h2>",
    ],
)
def test_a_box_is_one_with_and_without_renderers(item: str) -> None:
    tasks = f"<ul><li>{item}</ul>"
    assert items(HELPED["a raised word"] + tasks) == items("<p>x</p>" + tasks)


def test_a_box_outside_of_lists_is_none() -> None:
    html = "<p>x<sup>th</sup></p><p><input type=checkbox checked> yes</p>"
    assert items(html) == "yes"


def test_tasks_that_only_a_class_says_are_done() -> None:
    html = (
        "<ul class=inline-task-list><li class=checked data-inline-task-id=1>Oil it"
        "<li data-inline-task-id=2>Wind it</ul>"
    )
    assert sumi.convert(f"<main><h1>Clocks</h1>{html}</main>".encode()).markdown.endswith(
        "- [x] Oil it\n- [ ] Wind it\n"
    )
