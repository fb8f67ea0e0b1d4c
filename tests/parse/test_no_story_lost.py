"""A name is a hint: what most of a page's text is in is kept, whatever it is called, or its loss is told."""

import pytest

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown
from sumi.parse.markdown.fidelity import judge

SENTENCE = "The harbour was closed on Tuesday after the ice had broken two of its five moorings"
PARAGRAPHS = [f"{SENTENCE}, says witness number {number}." for number in range(5)]
STORY = "".join(f"<p>{text}</p>" for text in PARAGRAPHS)
LEAD = f"{SENTENCE}, and nobody knows why."
DECLARED = '<meta property="og:type" content="article">'
LINKS = "".join(
    f"<div><a href=https://e.com/{n}>Another story of this very long week, part {n}</a></div>"
    for n in range(30)
)
HEADS = pytest.mark.parametrize("head", ["", DECLARED], ids=["undeclared", "declared"])
FRAMES = pytest.mark.parametrize(
    "frame", ["", "<p>Home of the harbour.</p>", LINKS], ids=["alone", "a line", "links"]
)


def scored(html: str) -> tuple[str, float]:
    markdown, expected = page_markdown(parse_html(html.encode(), "utf-8"), "https://e.org/")
    assert expected is not None
    fidelity = judge(expected, markdown)
    assert fidelity is not None
    return markdown, fidelity.score


def converted(html: str) -> str:
    return scored(html)[0]


def is_whole(markdown: str) -> bool:
    return all(text in markdown for text in PARAGRAPHS)


@HEADS
@FRAMES
@pytest.mark.parametrize(
    "name",
    ["share", "ads", "paywall", "teaser", "comments", "popup", "newsletter", "related", "modal", "sidebar"],
)
def test_a_story_is_kept_whatever_its_container_is_called(head: str, frame: str, name: str) -> None:
    for container in (f"<div class='entry {name}'>{STORY}</div>", f"<section id={name}>{STORY}</section>"):
        assert is_whole(converted(f"<title>Ice</title>{head}<body>{frame}<h1>Ice</h1>{container}"))


@HEADS
@pytest.mark.parametrize("tag", ["noscript", "dialog"])
def test_a_story_that_browsers_show_at_times_is_kept_beside_a_line(head: str, tag: str) -> None:
    assert is_whole(converted(f"{head}<body><p>Loading the page</p><{tag}>{STORY}</{tag}>"))
    notice = f"<{tag}><p>{LEAD} {LEAD} {LEAD}</p></{tag}>"
    assert LEAD not in converted(f"{head}<body>{STORY}{notice}")


@HEADS
@pytest.mark.parametrize("name", ["popup", "privacy-notice", "consent"])
def test_a_notice_longer_than_a_short_story_does_not_replace_it(head: str, name: str) -> None:
    notice = "".join(
        f"<p>We value your privacy, and so do our {n} partners who store data on your device.</p>"
        for n in range(12)
    )
    assert is_whole(converted(f"{head}<body><div class={name}>{notice}</div><h1>Ice</h1><div>{STORY}</div>"))


@HEADS
@FRAMES
@pytest.mark.parametrize(
    "body",
    [
        "<article><header><h1>Ice</h1><p>{lead}</p></header>{story}</article>",
        "<h1>Ice</h1><header><p>{lead}</p></header>{story}",
        "<article><h1>Ice</h1><div class=teaser-text><p>{lead}</p></div>{story}</article>",
        "<div><h1>Ice</h1><div class=paywall><p>{lead}</p></div><div>{story}</div></div>",
    ],
    ids=["header", "header without title", "teaser", "paywall"],
)
def test_a_lead_is_kept(head: str, frame: str, body: str) -> None:
    markdown = converted(f"{head}<body>{frame}{body.format(lead=LEAD, story=STORY)}")
    assert LEAD in markdown
    assert is_whole(markdown)


@HEADS
@pytest.mark.parametrize("before", ["<p>Home</p>", "<main><p>Home of us</p></main>"])
def test_an_article_in_an_aside_is_kept(head: str, before: str) -> None:
    assert is_whole(converted(f"{head}<body>{before}<aside><article><h1>Ice</h1>{STORY}</article></aside>"))


@HEADS
def test_a_list_or_table_with_all_the_prose_stays_one(head: str) -> None:
    rows = "".join(f"<tr><td>{text}</td><td>{n}</td></tr>" for n, text in enumerate(PARAGRAPHS * 3))
    named = f"<table><thead><tr><th>Who</th><th>No</th></tr></thead><tbody>{rows}</tbody></table>"
    assert "| Who | No |" in converted(f"{head}<body>{LINKS}<div>{named}</div>")
    items = "".join(f"<li>{text}</li>" for text in PARAGRAPHS)
    markdown = converted(f"{head}<body>{LINKS}<div><h1>Ice</h1><ul>{items}</ul></div>")
    assert all(f"- {text}" in markdown for text in PARAGRAPHS)


STRUCTURES = {
    "table": "<table><tr><th>Size<th>Price<tr><td>small one<td>3</table>",
    "list": "<ul><li>oil the lock<li>dust the key</ul>",
    "code": "<pre>turn --left</pre>",
    "prose": f"<p>{LEAD} {LEAD}</p>",
}


@HEADS
@pytest.mark.parametrize("landmark", ["main", "article"])
@pytest.mark.parametrize("name", STRUCTURES)
def test_what_stands_beside_a_landmark_is_kept_or_told(head: str, landmark: str, name: str) -> None:
    body = f"<{landmark}>{STORY}</{landmark}>"
    assert scored(f"{head}<body>{body}")[1] == 1.0
    alone = converted(f"<body>{STRUCTURES[name]}")
    markdown, score = scored(f"{head}<body>{body}{STRUCTURES[name]}")
    assert is_whole(markdown)
    assert alone in markdown or score < 1.0


def test_text_beside_a_landmark_that_says_as_little_is_kept() -> None:
    assert converted("<main><p>foo</main>bar") == "foo\n\nbar"
    assert converted("<main><p>foo</main><a href=/x>bar</a>") == "foo"


@HEADS
@FRAMES
def test_a_table_of_links_and_numbers_in_an_article_is_kept(head: str, frame: str) -> None:
    rows = "".join(f"<tr><td><a href=/{n}>Harbour {n}</a></td><td>{n}</td></tr>" for n in range(20))
    markdown = converted(f"{head}<body>{frame}<article><h1>Ice</h1>{STORY}<table>{rows}</table></article>")
    assert is_whole(markdown)
    assert all(f"| [Harbour {n}](https://e.org/{n}) | {n} |" in markdown for n in range(20))


@pytest.mark.parametrize(
    ("media", "written"),
    [
        ("<video src=/f.mp4 poster=/f.jpg></video>", "[![Video](https://e.org/f.jpg)](https://e.org/f.mp4)"),
        ("<video><source src=/f.webm>Too old</video>", "[Video](https://e.org/f.webm)"),
        ("<audio src=/a.mp3 title='The horn'></audio>", "[The horn](https://e.org/a.mp3)"),
    ],
)
def test_films_and_sounds_leave_their_address(media: str, written: str) -> None:
    markdown, score = scored(f"<h1>Ice</h1>{STORY}{media}")
    assert written in markdown
    assert "Too old" not in markdown
    assert score == 1.0


@pytest.mark.parametrize("around", ["{}", "<div class=outer>{}</div>"])
def test_a_title_and_its_lead_before_the_main_part_are_kept_together(around: str) -> None:
    top = f"<div class=bar><a href=/>Harbours</a></div><section><h1>Moorings</h1><p>{LEAD}</p></section>"
    main = f"<main>{STORY}<h2>Later</h2>{STORY}</main>"
    markdown, score = scored(f"<body>{around.format(top)}<div>{main}</div>")
    assert markdown.startswith(f"# Moorings\n\n{LEAD}\n\n{PARAGRAPHS[0]}")
    assert score == 1.0
