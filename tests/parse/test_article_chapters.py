"""A page of prose may be of a manual: none of its chapters is taken for a box beside a story."""

import pytest

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown

SENTENCE = "The harbour was closed on Tuesday after the ice had broken two of its five moorings"
PARAGRAPHS = [f"{SENTENCE}, says witness number {number}." for number in range(8)]
STORY = "".join(f"<p>{text}</p>" for text in PARAGRAPHS)
DECLARED = '<meta property="og:type" content="article">'
LINKS = "".join(f"<li><a href=/{n}>Another story of this week, part {n}</a></li>" for n in range(9))

CHAPTERS = {
    "table": (
        "<table><tr><th>Pier<th>Depth<tr><td>North<td>4 m</table>",
        "| Pier | Depth |\n| --- | --- |\n| North | 4 m |",
    ),
    "steps": ("<ol><li>Stop the engine.<li>Moor.</ol>", "1. Stop the engine.\n2. Moor."),
    "code": ("<pre>moor --all</pre>", "moor --all"),
    "definitions": ("<dl><dt>lee<dd>the side away from the wind</dl>", "- lee\n\n  the side away"),
    "drawing": ("<img src=/pier.png alt=Pier>", "![Pier](https://e.org/pier.png)"),
    "few words": ("<p>None needed.</p>", "None needed."),
}


def converted(body: str, head: str = DECLARED) -> str:
    page = f"<title>Ice</title>{head}<body>{body}"
    return page_markdown(parse_html(page.encode(), "utf-8"), "https://e.org/").markdown


def is_whole(markdown: str) -> bool:
    return all(text in markdown for text in PARAGRAPHS)


@pytest.mark.parametrize("name", CHAPTERS)
@pytest.mark.parametrize("head", ["", DECLARED])
@pytest.mark.parametrize("is_before", [True, False])
def test_a_chapter_beside_the_one_with_all_the_prose_is_kept(name: str, head: str, is_before: bool) -> None:
    content, kept = CHAPTERS[name]
    prose = f"<section class=intro id=a><h2>Overview</h2>{STORY}</section>"
    chapter = f"<section id=b><h2>Piers</h2>{content}</section>"
    chapters = chapter + prose if is_before else prose + chapter
    markdown = converted(f"<article><section><h1>Ice</h1>{chapters}</section></article>", head)
    assert is_whole(markdown)
    assert f"## Piers\n\n{kept}" in markdown or (name == "code" and kept in markdown)


@pytest.mark.parametrize("name", [name for name in CHAPTERS if name not in ("drawing", "few words")])
def test_what_stands_under_a_heading_beside_a_box_with_all_the_prose_is_kept(name: str) -> None:
    content, kept = CHAPTERS[name]
    markdown = converted(
        f"<main><h1>Ice</h1><div class=warning>{STORY}</div><h2>Piers</h2>{content}<p>Short.</main>"
    )
    assert is_whole(markdown)
    assert kept in markdown


def test_what_is_under_a_heading_that_can_be_linked_to_is_kept_beside_a_box_with_all_the_prose() -> None:
    markdown = converted(
        f"<main><h1>Ice</h1><div class=warning>{STORY}</div><h2 id=two-piers>Two piers</h2><p>Short.</main>"
    )
    assert is_whole(markdown)
    assert "## Two piers\n\nShort." in markdown


@pytest.mark.parametrize("title", ["Sharing files", "Comments", "Related projects", "Ads", "Social login"])
@pytest.mark.parametrize("head", ["", DECLARED])
@pytest.mark.parametrize("tag", ["section", "div class=section"])
def test_a_chapter_whose_id_is_made_of_its_heading_is_no_box(title: str, head: str, tag: str) -> None:
    name = title.lower().replace(" ", "-")
    end = tag.split()[0]
    chapter = f"<{tag} id={name}><h2>{title}<a href=#{name}>¶</a></h2><p>{SENTENCE}, in it.</p></{end}>"
    markdown = converted(f"<main><article><h1>Ice</h1>{STORY}{chapter}{STORY}</article></main>", head)
    assert is_whole(markdown)
    assert f"{SENTENCE}, in it." in markdown


def test_a_chapter_with_prose_is_no_box_whatever_its_id() -> None:
    chapter = f"<section id=sharing><h2>Working with others</h2><p>{SENTENCE}, in it.</p></section>"
    assert f"{SENTENCE}, in it." in converted(f"<article>{STORY}{chapter}{STORY}</article>")


def test_a_chapter_of_links_is_no_box_if_its_id_is_made_of_its_heading() -> None:
    chapter = f"<section id=related-works><h2>Related works</h2><ul>{LINKS}</ul></section>"
    assert converted(f"<article>{STORY}{chapter}{STORY}</article>").count("Another story") == 9


BOXES = {
    "comments in a list": (
        f"<section id=comments><h2>2 Comments</h2><ol class=comment-list><li>{SENTENCE}, I heard. Unlikely."
        "<li>So did I.</ol></section>"
    ),
    "comments with a form": (
        f"<section id=comments><h2>Comments</h2><p>{SENTENCE}, I heard. Unlikely.</p>"
        "<form><input name=name></form></section>"
    ),
    "comments that are called so by a class": (
        f"<section id=comments class=comments-list><h2>Comments</h2><p>{SENTENCE}. Unlikely.</p></section>"
    ),
    "comments to come": (
        "<section id=comments><h2>Unlikely comments</h2><div id=disqus_thread></div></section>"
    ),
    "links under another heading": (
        f"<section id=related><h2>Unlikely to be read</h2><ul>{LINKS}</ul></section>"
    ),
    "a division": f"<div id=related><h2>Unlikely</h2><p>{SENTENCE}.</p></div>",
    "a letter": (
        f"<section id=newsletter><h2>Unlikely news</h2><p>{SENTENCE}? Read it.</p><form></form></section>"
    ),
}


@pytest.mark.parametrize("name", BOXES)
def test_a_section_that_is_a_box_is_left_out(name: str) -> None:
    within = converted(f"<article><h1>Ice</h1>{STORY}{BOXES[name]}</article>")
    beside = converted(f"<div><section><h2>Ice</h2>{STORY}</section>{BOXES[name]}</div>")
    for markdown in (within, beside):
        assert is_whole(markdown)
        assert "Unlikely" not in markdown
        assert "Another story" not in markdown


@pytest.mark.parametrize("heading", ["<h2>Most read</h2>", "<h3>Weather</h3>"])
def test_teasers_under_a_heading_beside_a_story_are_left_out(heading: str) -> None:
    river = f"<div class=river>{heading}<ul>{LINKS}</ul></div>"
    markdown = converted(f"<div><div class=text><h2>Ice</h2>{STORY}</div>{river}</div>")
    assert is_whole(markdown)
    assert "Another story" not in markdown


def test_a_box_of_another_rank_beside_a_story_is_left_out() -> None:
    weather = "<div class=weather><h4>Weather</h4><p>Cold, and no better tomorrow.</p></div>"
    markdown = converted(f"<div><div class=text><h2>Ice</h2>{STORY}</div>{weather}</div>")
    assert is_whole(markdown)
    assert "no better" not in markdown


@pytest.mark.parametrize(
    "reference",
    ["<div class=try><pre>moor --all</pre></div>", "<div><dl><dt>lee<dd>the side of moor --all</dl></div>"],
)
def test_not_even_a_line_of_code_beside_a_declared_article_is_lost(reference: str) -> None:
    markdown = converted(f"<main><h1>Ice</h1>{reference}<div class=text>{STORY}</div></main>")
    assert is_whole(markdown)
    assert "moor --all" in markdown


@pytest.mark.parametrize(
    "quotation",
    [
        "<div id=comments><p>I use <code>moor</code>.</p></div>",
        "<aside><p>I use <code>moor</code>.</p></aside>",
        "<div class=river><a href=/x>Why <code>moor</code> is slow</a></div>",
        f"<div class=river><dl><dt><a href=/x>{SENTENCE}</a></dl></div>",
    ],
)
@pytest.mark.parametrize("around", ["div", "form"])
def test_code_in_a_comment_or_a_headline_does_not_make_a_manual(quotation: str, around: str) -> None:
    frame = f"{quotation}<div class=terms>All rights reserved</div>"
    markdown = converted(f"<{around}><div class=text>{STORY}</div>{frame}</{around}>")
    assert is_whole(markdown)
    assert "rights reserved" not in markdown


def test_code_beside_an_article_in_a_form_around_the_page_is_kept() -> None:
    markdown = converted(f"<form><div class=text>{STORY}</div><div><pre>moor --all</pre></div></form>")
    assert is_whole(markdown)
    assert "moor --all" in markdown


DOWNLOADS = "<tr><td>1.2<td><a href=/1.2.zip>harbour-1.2.zip</a><td><a href=/1.2.sig>harbour-1.2.sig</a>"


@pytest.mark.parametrize("head", ["", DECLARED])
def test_a_table_of_links_whose_columns_have_names_is_of_the_text(head: str) -> None:
    table = f"<table><tr><th>Release<th>File<th>Signature{DOWNLOADS}</table>"
    markdown = converted(f"<article><h1>Ice</h1>{STORY}<h2>Releases</h2>{table}{STORY}</article>", head)
    assert "[harbour-1.2.zip](https://e.org/1.2.zip)" in markdown


def test_a_table_of_links_without_names_is_a_box() -> None:
    markdown = converted(f"<article><h1>Ice</h1>{STORY}<table>{DOWNLOADS}</table></article>")
    assert "harbour-1.2.zip" not in markdown


INDEXES = {
    "cards": f"<div class='grid cards'><ul>{LINKS}</ul></div>",
    "contents": f"<div class='toctree-wrapper compound'><ul>{LINKS}</ul></div>",
    "table": f"<table><tr><td><ul>{LINKS}</ul></table>",
}


@pytest.mark.parametrize("name", INDEXES)
@pytest.mark.parametrize("head", ["", DECLARED])
@pytest.mark.parametrize(
    "chapter", ["<section id=all-piers><h2>All piers</h2>", "<section><h2 id=piers>All piers</h2>"]
)
def test_an_index_in_a_chapter_that_can_be_linked_to_is_kept(name: str, head: str, chapter: str) -> None:
    body = f"<main><article><h1>Ice</h1>{chapter}{STORY}{INDEXES[name]}{STORY}</section></article></main>"
    markdown = converted(body, head)
    assert is_whole(markdown)
    assert markdown.count("Another story") == 9


def test_teasers_without_a_list_are_left_out_of_a_declared_article_with_an_outline() -> None:
    teasers = "".join(f"<div><a href=/{n}>Another story of this week</a></div>" for n in range(9))
    markdown = converted(f"<article><h2 id=ice>Ice</h2>{STORY}<div class=river>{teasers}</div></article>")
    assert is_whole(markdown)
    assert "Another story" not in markdown


@pytest.mark.parametrize("name", ["id=furo-main-content role=main", "class='md-content__inner md-typeset'"])
@pytest.mark.parametrize("head", ["", DECLARED])
def test_what_a_generator_of_manuals_calls_the_document_is_not_looked_into(name: str, head: str) -> None:
    cards = "<div class=cards><a href=/start>Getting started</a> <a href=/api>Reference</a></div>"
    markdown = converted(f"<article {name}><h1>Ice</h1>{STORY}{cards}</article>", head)
    assert is_whole(markdown)
    assert "Getting started" in markdown
