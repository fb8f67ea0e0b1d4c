"""A box is a quote under a line in bold, and that line says of what kind it is, whatever its title."""

import pytest

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown


def markdown(html: str) -> str:
    page = f"<main><h1>Ink</h1><p>Text.</p>{html}</main>".encode()
    text = page_markdown(parse_html(page, "utf-8"), "https://e.org/d/p.html").markdown.strip()
    return text.removeprefix("# Ink\n\nText.").strip()


TITLED = {
    "classes": "<div class='callout warning'><p class=callout-title>Wet ink</p><p>Wait.</div>",
    "a class of two words": "<div class='x alert alert--warning'><div class=heading_Xy><svg>"
    "</svg>Wet ink</div>"
    "<div><p>Wait.</div></div>",
    "a fold": "<details class=warning><summary>Wet ink</summary><p>Wait.</details>",
    "a style": "<div class='flex rounded' style='--callout-color:var(--fd-warning)'><svg></svg><div>"
    "<p class=font-medium>Wet ink</p><div><p>Wait.</div></div></div>",
    "a label": "<aside class=callout aria-label=Warning><h4>Wet ink</h4><p>Wait.</aside>",
    "an attribute": "<div class=my-callout data-type=warning><div class=title>Wet ink</div><p>Wait.</div>",
    "AsciiDoc": "<div class='admonitionblock warning'><table><tr><td class=icon><i title=Warning></i>"
    "<td class=content><div class=title>Wet ink</div><p>Wait.</table></div>",
}


@pytest.mark.parametrize("form", TITLED)
def test_a_title_does_not_hide_the_kind(form: str) -> None:
    assert markdown(TITLED[form]) == "> **Warning: Wet ink**\n>\n> Wait."


@pytest.mark.parametrize(
    "html",
    [
        "<div class='alert alert-danger'><p>Hot.</div>",
        "<div class='admonition danger'><p class=admonition-title>Danger</p><p>Hot.</div>",
        "<div class=danger-callout><p>Hot.</div>",
        "<div role=note class=danger><p>Hot.</div>",
    ],
)
def test_the_kind_stands_for_a_title(html: str) -> None:
    assert markdown(html) == "> **Danger**\n>\n> Hot."


def test_a_box_that_begins_with_its_kind_does_not_say_it_twice() -> None:
    assert markdown("<div class='alert alert-info'><p>Info: ink is wet.</div>") == "> Info: ink is wet."
    assert (
        markdown("<div class='admonition note'><p class=title>Hinweis<p>Nass.</div>")
        == "> **Hinweis**\n>\n> Nass."
    )


def test_a_box_written_as_a_table_of_an_icon_and_a_text() -> None:
    html = (
        "<div class=tip><table border=0 summary=Tip><tr><td rowspan=2><img alt='[Tip]' src=t.png>"
        "<th align=left>Tip<tr><td align=left><p>Grind slowly.</table></div>"
    )
    assert markdown(html) == "> **Tip**\n>\n> Grind slowly."


@pytest.mark.parametrize(
    "html",
    [
        "<aside role=note class=footnote><p>It was wet.</aside>",
        "<div class=alert-link><p>It was wet.</div>",
        "<div class=callout-content><p>It was wet.</div>",
    ],
)
def test_what_is_no_box(html: str) -> None:
    assert markdown(html) == "It was wet."


@pytest.mark.parametrize(
    "html",
    [
        "<div class='notices warning'><div class=label>Wet ink</div><p>Wait.</div>",
        "<div class='book-hint warning'><p class=title>Wet ink</p><p>Wait.</div>",
        "<div class='message is-warning'><div class=message-header><p>Wet ink</div><p>Wait.</div>",
        "<blockquote class=warning-title><p>Wet ink<p>Wait.</blockquote>",
        "<div class='x-macro x-macro-warning'><p class=title>Wet ink</p><div><p>Wait.</div></div>",
        (
            "<blockquote class='callout callout_warn'><h3 class=callout-heading><span>🚧</span>"
            "<p>Wet ink</p></h3><p>Wait.</blockquote>"
        ),
        "<div class=warning><div class=title>Wet ink</div><p>Wait.</div>",
    ],
)
def test_a_box_whose_kind_is_a_class_of_its_own(html: str) -> None:
    assert markdown(html).replace("🚧", "") == "> **Warning: Wet ink**\n>\n> Wait."


@pytest.mark.parametrize("html", ["<p class=tip>Grind slowly.</p>", "<div class=tip>Grind slowly.</div>"])
def test_a_paragraph_that_is_called_a_tip(html: str) -> None:
    assert markdown(html) == "> **Tip**\n>\n> Grind slowly."


@pytest.mark.parametrize(
    "html",
    [
        "<div class=note><h2>Paper</h2><p>White.</p></div>",
        "<div class='panel info'><h2>Paper</h2><p>White.</p></div>",
        "<div class='example panel'><p>White.</p><ul class=note><li>Thick.</ul></div>",
    ],
)
def test_a_word_that_says_little_makes_no_box_of_a_chapter_or_a_list(html: str) -> None:
    assert "> " not in markdown(html).replace("> **Example**\n>\n> White.\n>\n> - Thick.", "")


def test_a_box_that_names_another_kind_itself() -> None:
    assert markdown("<div class=tip><p>Note: ink is wet.</div>") == "> Note: ink is wet."


def test_a_long_text_that_is_called_a_note_is_no_box() -> None:
    text = " ".join(["Ink is ground with water on a stone."] * 100)
    assert markdown(f"<div class=note><p>{text}</div>") == text
