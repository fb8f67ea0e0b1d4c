"""A link to a heading is a sign beside it, or the heading itself: only the sign goes."""

import time

import pytest

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown


def markdown(html: str) -> str:
    return page_markdown(parse_html(html.encode(), "utf-8"), "https://e.org/d/p.html").markdown


@pytest.mark.parametrize("name", ["header-anchor", "permalink", "heading-link", "anchor-link", "headerlink"])
@pytest.mark.parametrize("within", ["Setup", "<span>Setup</span>", "Setup <svg></svg>"])
def test_a_heading_inside_its_permalink_is_a_heading(name: str, within: str) -> None:
    assert markdown(f"<h2 id=h><a class={name} href=#h>{within}</a></h2><p>x</p>") == "## Setup\n\nx"


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("<a class=permalink href=#a><code>-a</code></a>", "`-a`"),
        ("<a class=permalink href=#c><code>-c</code></a> <var>file</var>", "`-c` file"),
        ("[<a class=permalink href=#e><code>E2BIG</code></a>]", r"\[`E2BIG`\]"),
        ("or <a class=permalink href=#e><code>--all</code></a>", "or `--all`"),
        ("<a class=permalink href=#plus><code>+</code></a>", "`+`"),
    ],
)
def test_a_term_inside_its_permalink_is_a_term(term: str, expected: str) -> None:
    assert markdown(f"<dl><dt>{term}</dt><dd>Include dot.</dd></dl>") == f"- {expected}\n\n  Include dot."


@pytest.mark.parametrize(
    "heading",
    [
        "Name <a class=headerlink href=#n>¶</a>",
        "Name <a class=headerlink href=#n>Link to this heading</a>",
        "<a class=anchor-link href=#n>Link to this heading</a> Name",
        "<a class=header-anchor href=#n>link</a> Name",
        "<span>Name</span> <span><a class=heading-link href=#n>Name</a></span>",
        "Name <a href=#n>»</a>",
        "<span class=permalink><a href=#n>◆&#160;</a></span>Name",
    ],
)
def test_a_sign_or_a_label_beside_a_heading_is_none_of_it(heading: str) -> None:
    assert markdown(f"<h2>{heading}</h2>") == "## Name"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h2><a class=header-anchor href=#link><span>Link</span></a></h2>", "## Link"),
        ("<h2><a href=#anchor>Anchor</a></h2>", "## Anchor"),
        ("<h2><a class=header-anchor href=#l>Link to a page</a></h2>", "## Link to a page"),
        ("<h2><a href=#plus>+</a></h2>", "## +"),
        ("<h2>1.2 <a class=header-anchor href=#n>Name</a></h2>", "## 1.2 Name"),
        ("<h2><a href=#n>1.2</a> Name</h2>", "## 1.2 Name"),
        ("<h2><a class=permalink href=/post>Post</a></h2>", "## [Post](https://e.org/post)"),
    ],
)
def test_what_a_heading_says_stays_whatever_it_says(html: str, expected: str) -> None:
    assert markdown(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<p>x <a class=permalink href=/post>permalink</a></p>",
        "<p>x <a class=permalink href=#c>Direct link to this comment</a></p>",
        "<p>x <a class=footnote-backref href=#r>back</a></p>",
        "<p>x</p><p><a class=edit-link href=/edit>Change this</a></p>",
    ],
)
def test_links_of_the_page_itself_go_as_before(html: str) -> None:
    assert markdown(html) == "x"


@pytest.mark.parametrize(
    "before", ["1" * 300_000, "abc" + "<br>" * 50_000, f"abc<span>{'<br>' * 50_000}</span>"]
)
def test_many_permalinks_behind_a_long_text_are_told_in_time(before: str) -> None:
    html = f"<h2>{before}{'<a class=permalink href=#x>x</a>' * 5_000}"
    started = time.process_time()
    markdown(html)
    assert time.process_time() - started < 2
