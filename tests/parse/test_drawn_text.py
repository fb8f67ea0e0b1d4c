"""What a page draws though it is text is text: boxes of tasks, unfolded data, formulas, diagrams,"
" pictures."""

import pytest

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown


def markdown(html: str) -> str:
    page = f"<main><h1>Ink</h1>{html}</main>".encode()
    text = page_markdown(parse_html(page, "utf-8"), "https://e.org/d/p.html").markdown.strip()
    return text.removeprefix("# Ink").strip()


@pytest.mark.parametrize(
    ("done", "open_"),
    [
        ("<i class='fa fa-check-square-o'></i> a", "<i class='fa fa-square-o'></i> b"),
        ("&#10003; a", "&#10063; b"),
        ("☑ a", "☐ b"),
        ("<span class='icon is-checked'></span> a", "<span class='icon-unchecked'></span> b"),
    ],
)
def test_boxes_of_tasks_that_are_drawn(done: str, open_: str) -> None:
    html = f"<ul class=checklist><li><p>{done}</p></li><li>{open_}</li></ul>"
    assert markdown(html).replace("\n\n", "\n") == "- [x] a\n- [ ] b"


def test_a_list_of_checks_without_boxes_is_a_list() -> None:
    assert markdown("<ul class=check-list><li>a<li><i class=fa></i>b</ul>") == "- a\n- b"


def test_data_that_can_be_unfolded_is_a_block_of_code() -> None:
    tags = (
        '<div>"tags": <button>-</button><span>[</span><ul><li><div>"wet"</div></li></ul><span>]</span></div>'
    )
    number = '<div><b>"id"</b>: <i>0</i>,</div>'
    html = f"<div><code><button>-</button>{{<ul><li>{number}</li><li>{tags}</li></ul>}}</code></div>"
    assert markdown(html) == '```json\n{\n  "id": 0,\n  "tags": [\n    "wet"\n  ]\n}\n```'


FORMULA = r"<p>For \(a_1 * b_2\) and \[c_3\]</p><p>\$sqrt 4\$ <code>\(x\)</code></p>"


def test_formulas_in_prose_where_a_script_sets_them() -> None:
    page = f"{FORMULA}<script src=https://e.org/MathJax.js></script>"
    assert markdown(page) == "For $a_1 * b_2$ and\n\n$$c_3$$\n\n`sqrt 4` `\\(x\\)`"


def test_without_such_a_script_they_are_what_a_browser_shows() -> None:
    assert markdown(r"<p>\(a\)</p>") == r"\\(a\\)"


def test_the_words_of_a_diagram() -> None:
    words = "<text>DROP</text><text>INK</text><g><text>name</text></g>"
    assert markdown(f"<p>a</p><svg><path/>{words}</svg>") == "a\n\n*Diagram: DROP INK name*"
    assert markdown("<p>a</p><svg role=img aria-label='Ink on wet paper'><path/></svg>") == (
        "a\n\n*Diagram: Ink on wet paper*"
    )
    assert markdown("<p>a <svg aria-label=icon><path/><text>i</text></svg></p>") == "a"
    assert markdown(f"<p>a <a href=/x><svg>{words}</svg>b</a></p>") == "a [b](https://e.org/x)"


def test_a_picture_written_into_the_page_leaves_its_words() -> None:
    picture = "<img src=data:image/png;base64,AA alt='A wet brush'>"
    assert markdown(f"<p>a{picture}b</p>") == "a A wet brush b"
    assert markdown("<p>a<img src=data:image/png;base64,AA alt=''>b</p>") == "ab"


def test_blanks_that_do_not_break_are_blanks_but_in_code() -> None:
    assert markdown("<h2>1.&nbsp;Ink</h2><p>&nbsp;wet&nbsp;ink&nbsp;</p>") == "## 1. Ink\n\nwet ink"
    assert markdown("<p><code>a&nbsp;b</code></p>") == "`a\xa0b`"
