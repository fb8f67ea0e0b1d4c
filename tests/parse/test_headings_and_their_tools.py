"""Buttons, signs and empty cells beside headings are no words; fields that show code are code."""

import pytest

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown


def markdown(html: str) -> str:
    return page_markdown(parse_html(html.encode(), "utf-8"), "https://e.org/d/p.html").markdown


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h1>Struct <span>Vec</span><button id=copy-path>Copy item path</button></h1>", "# Struct Vec"),
        ("<h2><button>Copy</button> Name</h2>", "## Name"),
        ("<h2><button>Fold</button></h2>", "## Fold"),
        ("<h2>1. <button>Fold</button> »</h2>", "## 1. Fold »"),
        ("<h2><button></button><button>Fold</button><button>Copy</button></h2>", "## Fold"),
        ("<h2><button aria-expanded=false>Fold</button> <span>New</span></h2>", "## Fold New"),
        ("<dl><dt>term <button>Copy</button></dt><dd>x</dd></dl>", "- term\n\n  x"),
    ],
)
def test_a_button_is_a_heading_only_where_there_is_no_other(html: str, expected: str) -> None:
    assert markdown(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a</p><p>&nbsp;</p><p>b</p>", "a\n\nb"),
        ("<p>a</p><div><span>&nbsp; &nbsp;</span></div>", "a"),
        ("<blockquote><p>a</p><p>&nbsp;</p><p>b</p></blockquote>", "> a\n>\n> b"),
        ("<ul><li>a</ul><p>&nbsp;</p><ul><li>b</ul>", "- a\n* b"),
        ("<p>a</p><p><span>&nbsp;</span><img src=/i.png></p>", "a\n\n![](https://e.org/i.png)"),
        ("<p>&nbsp;</p><pre>&amp;#160;\n\n&amp;#160;</pre>", "```\n&#160;\n\n&#160;\n```"),
        ("<p>&nbsp;</p><p>x<sup>th</sup></p>", "x<sup>th</sup>"),
    ],
)
def test_a_block_of_blanks_is_none(html: str, expected: str) -> None:
    assert markdown(html) == expected


@pytest.mark.parametrize(
    "field",
    [
        "<textarea class='Documentation-exampleCode code' spellcheck=false>{}</textarea>",
        "<textarea readonly>{}</textarea>",
        "<textarea id=exampleSource>{}</textarea>",
        "<textarea>{}</textarea>",
    ],
)
def test_a_field_that_shows_code_is_code(field: str) -> None:
    code = "package main\n\nfunc main() {\n\tf(1 &lt; 2)\n}"
    assert markdown(f"<p>Code:</p>{field.format(code)}") == (
        "Code:\n\n```\npackage main\n\nfunc main() {\n\tf(1 < 2)\n}\n```"
    )


@pytest.mark.parametrize(
    "field",
    [
        "<textarea name=comment></textarea>",
        "<textarea class=code> </textarea>",
        "<textarea>Your comment</textarea>",
        "<textarea>What did you do?\nWhat did you see?</textarea>",
        "<textarea class=code hidden>f();\ng();</textarea>",
        "<textarea style='display: none'>f();\ng();</textarea>",
    ],
)
def test_a_field_to_write_in_is_none_of_the_page(field: str) -> None:
    assert markdown(f"<p>x</p>{field}") == "x"


def test_the_language_of_a_field_is_behind_its_fence() -> None:
    assert markdown("<p>x</p><textarea readonly data-lang=go>f()</textarea>") == "x\n\n```go\nf()\n```"


def test_the_title_of_a_page_whose_chapters_have_headings_of_the_first_level() -> None:
    html = (
        "<body><div id=head><h1 id=title-heading class=pagetitle><span>Tower: Clocks</span></h1></div>"
        "<div><div id=main-content><p>Every clock is wound on Mondays.</p><h1>Oil</h1><p>One drop.</p>"
        "</div></div>"
    )
    assert markdown(html).startswith("# Tower: Clocks\n\nEvery clock is wound on Mondays.\n\n# Oil\n")
    named = html.replace("title-heading", "x").replace("pagetitle", "site-title")
    assert "Tower" not in markdown(named)


def test_a_block_of_code_in_a_heading_is_a_word_of_it() -> None:
    versions = "<span><small><pre> 3.0 </pre></small><small><pre>beta</pre></small></span>"
    html = f"<h1>Tower{versions}</h1><p>Wound.</p>"
    assert " ".join(markdown(f"<main>{html}</main>").split()) == "# Tower 3.0 beta Wound."


def test_tools_beside_a_heading_go_with_what_keeps_them_apart() -> None:
    tools = (
        "<span class=small><span class=divider>|</span><a href=/edit>Improve this Doc</a></span>"
        "<span class=small><a href=/source>View Source</a></span>"
    )
    assert markdown(f"<main><h1>Tower</h1><p>Wound.</p>{tools}<h4>Wind</h4><p>Oil.</p></main>") == (
        "# Tower\n\nWound.\n\n#### Wind\n\nOil."
    )
