"""Of an article the story is kept, whole, and its frame is not; manuals are left as they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown

SENTENCE = "The harbour was closed on Tuesday after the ice had broken two of its five moorings"
PARAGRAPHS = [f"{SENTENCE}, says witness number {number}." for number in range(8)]
PARAGRAPHS_HTML = [f"<p>{text}</p>" for text in PARAGRAPHS]
STORY = "".join(PARAGRAPHS_HTML)
DECLARED = '<meta property="og:type" content="article">'
LINKS = "".join(
    f"<div><a href=/{n}>Another story of this very long week, part {n}</a></div>" for n in range(30)
)


def converted(body: str, head: str = DECLARED) -> str:
    page = f"<title>Ice</title>{head}<body>{body}"
    return page_markdown(parse_html(page.encode(), "utf-8"), "https://e.org/").markdown


def is_whole(markdown: str) -> bool:
    return all(text in markdown for text in PARAGRAPHS)


@pytest.mark.parametrize(
    "box",
    [
        f"<div class=river>{LINKS}</div>",
        "<div class='social-share'>Send this to a friend</div>",
        f"<div id=comments-list><p>{SENTENCE}, or so I heard.</p><p>Unlikely.</p></div>",
        "<form action=/join>Letters from the harbour, every week <input name=mail></form>",
        f"<section class='c-newsletter'><p>{SENTENCE}? Read it first.</p></section>",
    ],
)
def test_boxes_in_an_article_are_left_out(box: str) -> None:
    within = converted(f"<div class=page><h1>Ice</h1><div class=text>{STORY}{box}</div></div>")
    beside = converted(f"<div class=page><h1>Ice</h1><div class=text>{STORY}</div>{box}</div>")
    for markdown in (within, beside):
        assert is_whole(markdown)
        assert not any(
            words in markdown for words in ("Another story", "friend", "Unlikely", "every week", "Read it")
        )


def test_a_list_of_links_between_paragraphs_is_of_the_text() -> None:
    markdown = converted(
        f"<article>{STORY}<ul><li><a href=/law>The law</a><li><a href=/map>The map</a></ul></article>"
    )
    assert "- [The law](https://e.org/law)\n- [The map](https://e.org/map)" in markdown


REFERENCE = {
    "code": ("<pre>moor --all</pre>", "moor --all"),
    "a word of code": ("<p>Use <code>moor</code>.</p>", "Use `moor`."),
    "definitions": ("<dl><dt>lee<dd>the side away from the wind</dl>", "- lee\n\n  the side away"),
}


@pytest.mark.parametrize("name", REFERENCE)
@pytest.mark.parametrize("head", ["", "<article>"])
def test_a_page_with_anything_of_a_manual_keeps_everything(name: str, head: str) -> None:
    reference, kept = REFERENCE[name]
    markdown = converted(f"{head}<div><div>{STORY}{reference}</div><div class=river>{LINKS}</div></div>", "")
    assert is_whole(markdown)
    assert kept in markdown
    assert markdown.count("Another story") == 30


@pytest.mark.parametrize("name", REFERENCE)
def test_a_story_that_is_declared_one_keeps_its_code_and_loses_its_frame(name: str) -> None:
    reference, kept = REFERENCE[name]
    markdown = converted(f"<div><div>{STORY}{reference}</div><div class=river>{LINKS}</div></div>")
    assert is_whole(markdown)
    assert kept in markdown
    assert "Another story" not in markdown


def test_reference_beside_a_story_is_no_frame() -> None:
    options = "".join(f"<tr><td><code>--moor-{n}</code><td>Moor {n}" for n in range(40))
    reference = f"<div class=api><table>{options}</table></div>"
    markdown = converted(f"<div><div>{STORY}</div>{reference}<div class=river>{LINKS}</div></div>")
    assert is_whole(markdown)
    assert markdown.count("`--moor-") == 40
    assert markdown.count("Another story") == 30


def test_a_story_among_many_links_need_not_be_declared_one() -> None:
    markdown = converted(f"<div><div>{STORY}</div><div class=river>{LINKS}</div></div>", head="")
    assert is_whole(markdown)
    assert "Another story" not in markdown


@pytest.mark.parametrize(
    "manual",
    [
        f"<div><div>{STORY}</div><div><a href=/a>Index</a></div></div>",
        f"<div><div>{STORY}</div><div>{LINKS.replace('href=/', 'href=#part')}</div></div>",
        f"<div><ul>{''.join(f'<li>{text}</li>' for text in PARAGRAPHS)}</ul><div>{LINKS}</div></div>",
        f"<div><div>{PARAGRAPHS_HTML[0]}</div><div class=river>{LINKS}</div></div>",
    ],
    ids=["few links", "links into itself", "an index of long lines", "a list with a preface"],
)
def test_a_page_that_may_be_of_a_manual_keeps_everything(manual: str) -> None:
    links = manual.count("<a ")
    assert converted(manual, head="").count("](https://e.org/") == links


NEWS_OF_A_PROGRAM = "".join(
    f"<h3>Release {n}</h3><blockquote>{SENTENCE}, and <a href=/bug{n}>the bug</a> is mended, says "
    f"<a href=/log{n}>the log</a>.<ul><li><a href=https://m{n}.org/>Mirror {n}</a></ul></blockquote>"
    for n in range(25)
)
BLOG = (
    "<div class=content><p>Call <code>a()</code>, then <code>b()</code> and <code>c()</code>.</p>"
    f"{STORY}</div><div class=sidebar>{LINKS.replace('href=/', 'href=https://blog.org/')}</div>"
)


def test_news_of_a_program_that_link_to_its_manual_are_kept_whole() -> None:
    assert converted(NEWS_OF_A_PROGRAM, head="").count("](") == 75


def test_a_blog_whose_links_are_all_written_with_a_host_may_have_some_code() -> None:
    markdown = converted(BLOG, head="")
    assert is_whole(markdown)
    assert "`b()`" in markdown
    assert "Another story" not in markdown


def test_comments_are_not_the_story_however_many_they_are() -> None:
    comments = "".join(f"<li>{SENTENCE}, and I was comment {n}.</li>" for n in range(40))
    markdown = converted(f"<div><div>{STORY}</div><div class=comment-list><ul>{comments}</ul></div></div>")
    assert is_whole(markdown)
    assert "I was comment" not in markdown


def test_a_page_that_calls_all_of_itself_comments_is_not_emptied() -> None:
    assert is_whole(converted(f"<div class=comments>{STORY}</div>"))


def test_a_page_laid_out_in_a_list_or_a_table_is_looked_into() -> None:
    cells = f"<tr><td class=side>{LINKS}<td><div>{STORY}</div></table>"
    items = f"<ul><li class=side>{LINKS}<li class=main><div>{STORY}</div></ul>"
    for markdown in (converted(f"<table>{cells}"), converted(items)):
        assert is_whole(markdown)
        assert "Another story" not in markdown


@pytest.mark.parametrize("name", ["permalink", "col gutter", "entry headerlink"])
def test_a_story_in_a_part_that_is_called_like_a_sign_is_kept(name: str) -> None:
    assert is_whole(converted(f"<div class='{name}'>{STORY}</div><p>Elsewhere.</p>{STORY}"))
    assert is_whole(converted(f"<div class='{name}'>{STORY}</div><div>{LINKS * 3}</div>", head=""))


def test_prose_that_was_left_out_shows_in_the_fidelity() -> None:
    links = "".join(f"<div><a href=/{n}>{SENTENCE}, part {n}</a></div>" for n in range(15))
    page = f"{DECLARED}<body><div><div>{STORY}</div><div class=terms><p>{'word ' * 30}</div>{links}</div>"
    expected = page_markdown(parse_html(page.encode(), "utf-8"), "https://e.org/").expected
    assert expected is not None
    assert expected.beside == 30


def test_what_leads_up_to_the_story_is_of_it() -> None:
    lead = f"{SENTENCE}, and nobody knows why."
    markdown = converted(
        f"<div><div class=lead><p>{lead}</p></div><div class=text>{STORY}</div>{LINKS}</div>"
    )
    assert is_whole(markdown)
    assert lead in markdown


WRAPPERS = st.lists(st.sampled_from(["div", "section", "article", "main", "td", "center"]), max_size=6)


@given(WRAPPERS, st.integers(1, 7))
def test_however_it_is_wrapped_no_paragraph_of_the_story_is_lost(wrappers: list[str], parted_at: int) -> None:
    story = (
        f"<div>{''.join(PARAGRAPHS_HTML[:parted_at])}</div><div>{''.join(PARAGRAPHS_HTML[parted_at:])}</div>"
    )
    for tag in wrappers:
        story = f"<{tag}>{story}</{tag}>" if tag != "td" else f"<table><tr><td>{story}</td></tr></table>"
    assert is_whole(converted(f"<div>{story}<div>{LINKS}</div></div>"))


def test_comments_that_were_left_out_do_not_count_as_lost() -> None:
    comments = "".join(f"<div><p>{SENTENCE}, and {'word ' * 20} {n}.</p></div>" for n in range(9))
    page = f"{DECLARED}<body><div><div>{STORY}</div><div id=comments-list>{comments}</div></div>"
    expected = page_markdown(parse_html(page.encode(), "utf-8"), "https://e.org/").expected
    assert expected is not None
    assert expected.beside == 0
