"""The content root never cuts a document short, and leaves out what frames it where it is sure."""

import pytest

from sumi.parse.html import body_of, parse_html
from sumi.parse.markdown.convert import page_markdown

PROSE = "<p>" + "Words that belong to the document itself. " * 10 + "</p>"
TEASER = "<p>A teaser.</p>"
BARS = "<div class=navbar><a href=/x>Elsewhere</a></div>"


def markdown(html: str) -> str:
    return page_markdown(parse_html(html.encode(), "utf-8"), "https://e.org/").markdown


@pytest.mark.parametrize(
    "root",
    [
        "<main>{}</main>",
        "<div role=main>{}</div>",
        "<article>{}</article>",
        "<div class=body>{}</div>",
        "<div class='md-content'>{}</div>",
        "<div id=mw-content-text>{}</div>",
        "<div class='contents'>{}</div>",
        "<section id=main-content>{}</section>",
    ],
)
def test_a_landmark_is_the_root(root: str) -> None:
    outside = "<div class=unknown-bar>Sign up for news.</div>"
    result = markdown(outside + root.format(PROSE) + outside)
    assert "the document itself" in result
    assert "Sign up" not in result


def test_a_landmark_that_holds_little_of_the_text_is_not() -> None:
    result = markdown(f"<main>{TEASER}</main><div>{PROSE}</div>")
    assert "A teaser." in result
    assert "the document itself" in result


def test_a_long_list_of_links_outside_does_not_make_a_landmark_small() -> None:
    links = "".join(f"<li><a href=/{n}>A page of a rather long name, number {n}</a></li>" for n in range(50))
    result = markdown(f"<div><ul>{links}</ul></div><main><h1>Short</h1>{TEASER}</main>")
    assert result == "# Short\n\nA teaser."


def test_several_articles_are_all_kept() -> None:
    result = markdown("".join(f"<article><h2>Post {n}</h2>{PROSE}</article>" for n in range(3)))
    assert [f"## Post {n}" in result for n in range(3)] == [True] * 3


def test_a_table_of_contents_is_not_taken_for_doxygens_root() -> None:
    assert "the document itself" in markdown(f"<div class='contents topic'><p>Contents</p></div>{PROSE}")


def test_bars_are_left_out_of_a_page_without_landmarks() -> None:
    html = f"<header>Site</header>{BARS}<div role=search>Find</div><h1>T</h1>{PROSE}<footer>Legal</footer>"
    result = markdown(html)
    assert result.startswith("# T")
    for word in ("Site", "Elsewhere", "Find", "Legal"):
        assert word not in result


def test_a_header_with_the_title_in_it_loses_its_menu() -> None:
    menu = "<ul><li><a href=/a>Alpha</a></li><li><a href=/b>Beta</a></li></ul>"
    result = markdown(f"<header><h1>T</h1>{menu}</header>{PROSE}")
    assert result.startswith("# T\n\nWords")


def test_a_document_in_an_element_named_like_a_bar_is_kept() -> None:
    assert "the document itself" in markdown(f"<div class=related>{PROSE}</div>")
    assert "the document itself" in markdown(f"<main><div class=noprint>{PROSE}</div></main>")


def test_noscript_counts_only_where_there_is_nothing_else() -> None:
    assert markdown(f"{PROSE}<noscript>Turn it on</noscript>").count("Turn it on") == 0
    assert markdown("<script>app()</script><noscript><p>The text</p></noscript>") == "The text"


def test_a_heading_beside_the_root_is_kept_with_it() -> None:
    html = f"<article><header><h1>Title</h1></header><div class=entry-content>{PROSE}</div></article>"
    assert markdown(html).startswith("# Title\n")


def test_the_body_of_anything_is_found() -> None:
    for html in ("", "x", "<frameset><frame></frameset>", "<!-- -->", "</body></html>x"):
        assert body_of(parse_html(html.encode(), None)) is not None
