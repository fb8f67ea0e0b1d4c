"""What an element is called decides about it wherever it is on the page, unless most of the text is in it."""

import pytest

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown

TEXT = "Words of the document, enough of them to be most of the page. " * 3


def markdown(html: str) -> str:
    return page_markdown(parse_html(html.encode(), "utf-8"), "https://example.org/a/").markdown.strip()


@pytest.mark.parametrize(
    "bar",
    [
        "<div class='x related'>Bar</div>",
        "<div id=Breadcrumbs>Bar</div>",
        "<section role=navigation>Bar</section>",
        "<ul class=breadcrumb><li>Bar</ul>",
        "<div class='related admonitions' id=toc role=search>Bar</div>",
        "<aside class=related>Bar</aside>",
        "<p class=skip-link>Bar</p>",
        "<form role=search>Bar</form>",
    ],
)
def test_named_bars_go(bar: str) -> None:
    assert markdown(f"{bar}<p>{TEXT}</p>") == TEXT.strip()


def test_a_name_on_most_of_the_text_means_nothing() -> None:
    assert TEXT.strip() in markdown(f"<div class=related><p>{TEXT}</p></div><p>x</p>")


def test_a_bar_is_judged_by_the_page_as_it_came() -> None:
    """Once links are gone from an almost empty page, a bar would be most of what is left."""
    gone = "<a class=headerlink href=#x>¶ and a good many words of a link that is dropped</a>" * 3
    html = f"<div id=menu-bar><h1>Book</h1></div><p>x {gone}</p>"
    assert markdown(html) == "x"


def test_a_landmark_that_was_taken_off_the_page_does_not_count() -> None:
    html = f"<template><main>a</main></template><main><p>{TEXT}</p></main><p>beside</p>"
    assert markdown(html) == TEXT.strip()


def test_an_admonition_of_the_document_keeps_its_box_whatever_else_it_is_called() -> None:
    box = "<div class=admonition id=toc><p class=admonition-title>Note<p>Mind</div>"
    html = f"<main><p>{TEXT}</p>{box}</main>"
    assert markdown(html) == f"{TEXT.strip()}\n\n> **Note**\n>\n> Mind"


def test_what_is_for_browsers_without_scripts_shows_only_where_nothing_else_does() -> None:
    assert markdown("a <noscript>please</noscript> b") == "a b"
    assert markdown("<nav>bar</nav><noscript><p>all</p></noscript><script>1</script>") == "all"


def test_attributes_of_any_length_are_survived() -> None:
    html = f"<div class='{'related ' * 9000}' id='{'x' * 90_000}'><p>{TEXT}</p></div>"
    assert markdown(html) == TEXT.strip()
