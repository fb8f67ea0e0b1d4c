"""In the midst of a story, what leads away from it is left out, and a sentence that begins like it is not."""

import pytest

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown

SENTENCE = "The harbour was closed on Tuesday after the ice had broken two of its five moorings"
LINKS = "".join(f"<li><a href=https://e.org/{n}>Story {n} of a very long week</a>" for n in range(40))


def told(line: str) -> str:
    story = [f"<p>{SENTENCE}, says witness number {n}.</p>" for n in range(8)]
    text = "".join([*story[:4], line, *story[4:]])
    page = f"<title>Ice</title><meta property=og:type content=article><body><ul>{LINKS}</ul><div>{text}</div>"
    markdown = page_markdown(parse_html(page.encode(), "utf-8"), "https://e.org/").markdown
    assert markdown.count(SENTENCE) >= 8
    return markdown


@pytest.mark.parametrize(
    "line",
    [
        "<p>Read more: <a href=/x>How lamps are lit on the northern pier</a></p>",
        "<p><b>Lesen Sie auch:</b> <a href=/x>Wie die Lampen am Nordpier angezündet werden</a></p>",
        "<p><a href=/x>Lire aussi : Comment les lampes du quai nord sont allumées</a></p>",
        "<p>Читайте также: <a href=/x>Как зажигают лампы на северном причале</a></p>",
        "<h3>Das könnte Sie auch interessieren</h3>",
        "<p>Leave a comment</p>",
    ],
)
def test_offers_to_read_or_to_do_something_else_are_left_out(line: str) -> None:
    markdown = told(line)
    for part in ("lamps are", "Lampen am", "lampes du", "зажигают", "interessieren", "comment"):
        assert part not in markdown


@pytest.mark.parametrize(
    "line",
    [
        f"<p>Read more closely, the log of that night says this as well: {SENTENCE}, twice.</p>",
        "<p>Related to the keeper, and no friend of his, was the captain of the ferry, who saw it all.</p>",
        f"<p>See also what the <a href=/x>keeper</a> wrote the day after. {SENTENCE}, he says, and more.</p>",
    ],
)
def test_a_sentence_that_begins_alike_is_kept(line: str) -> None:
    assert line[3:20] in told(line)
