"""A card that is all one link keeps its blocks; the link is on its heading, or else on its first line."""

import pytest

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown


def markdown(html: str) -> str:
    return page_markdown(parse_html(html.encode(), "utf-8"), "https://e.org/d/p.html").markdown


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "<div class=card><h3>Title</h3><p>One.</p><p>Two</p></div>",
            "### [Title](https://e.org/x)\n\nOne.\n\nTwo",
        ),
        (
            "<div><img src=/i.png alt=i></div><div><div><h3>Title</h3></div><p>One.</p></div>",
            "![i](https://e.org/i.png)\n\n### [Title](https://e.org/x)\n\nOne.",
        ),
        ("<div><h2>Title</h2></div><ul><li>a</ul>", "## [Title](https://e.org/x)\n\n- a"),
        ("<div><h3></h3><p>words</p></div>", "[words](https://e.org/x)"),
    ],
)
def test_the_link_is_on_the_heading(html: str, expected: str) -> None:
    assert markdown(f"<a href=/x>{html}</a>") == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li>a<li>b</ul>", "- [a](https://e.org/x)\n- b"),
        ("See <b>this</b>:<ul><li>a<li>b</ul>", "[See **this**:](https://e.org/x)\n\n- a\n- b"),
        ("<div></div><div><i>a</i> b</div><ol><li>c</ol>", "[*a* b](https://e.org/x)\n\n1. c"),
        ("<blockquote><p>words</p></blockquote>", "> [words](https://e.org/x)"),
        ("<pre>a\n  b</pre><p>Run it</p>", "```\na\n  b\n```\n\n[Run it](https://e.org/x)"),
        ("<pre>a\n  b</pre>", "```\na\n  b\n```"),
        ("<pre>a</pre>", "[`a`](https://e.org/x)"),
    ],
)
def test_without_a_heading_the_link_is_on_the_first_line(html: str, expected: str) -> None:
    assert markdown(f"<a href=/x>{html}</a>") == expected


def test_a_link_around_the_document_is_not_on_its_heading() -> None:
    html = "<a href=#content>Skip<main><h1>Title</h1><ul><li>a</ul><p>Text of the page</p></main>"
    assert markdown(html) == "# Title\n\n- a\n\nText of the page"
