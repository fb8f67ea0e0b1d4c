"""Whatever a page says, in Markdown it stays text: no link to a script, no tag, no way out of its place."""

import re
from collections.abc import Iterator
from html import escape

import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from sumi.files.plain_text import front_matter, markdown_text, one_line
from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.policy import Preset
from tests.corpora import hostile_text

COMMONMARK = MarkdownIt("commonmark").enable("table")
PLACES = {
    "title": "<title>{}</title><p>x",
    "paragraph": "<p>{}</p>",
    "heading": "<h2>{}</h2>",
    "link text": "<p><a href=/x>{}</a></p>",
    "link title": "<p><a href=/x title='{}'>x</a></p>",
    "link target": "<p><a href='{}'>x</a></p>",
    "link target in brackets": "<p><a href='/x>{}'>x</a></p>",
    "image text": "<p><img src=/x alt='{}'></p>",
    "image target": "<p><img src='{}' alt=x></p>",
    "item": "<ul><li>{}</li></ul>",
    "numbered item": "<ol><li><p>{}</p></li></ol>",
    "quote": "<blockquote>{}</blockquote>",
    "cell": "<table><tr><th>a</th><th>b</th></tr><tr><td>{}</td><td>z</td></tr></table>",
    "code": "<p><code>{}</code></p>",
    "code block": "<pre><code>{}</code></pre>",
    "language of code": "<pre><code class='language-{}'>x</code></pre>",
    "emphasis": "<p><b>{}</b><i>{}</i></p>",
    "description": "<dl><dt>{}</dt><dd>{}</dd></dl>",
    "summary": "<details><summary>{}</summary>{}</details>",
    "formula": "<script type='math/tex'>{}</script>",
    "base": "<base href='{}'><p><a href=x>x</a></p>",
}
SAFE_TARGETS = ("http://", "https://", "mailto:", "#")
HARMLESS = re.compile(r'(?:\s|<br>|</?(?:em|strong|code|s|del|sub|sup)>|<a id="[^"<>]*">|</a>)*')


def read(html: str) -> PageDigest:
    request = DigestRequest(
        "https://e.org/d/p.html",
        html.encode("utf-8", "replace"),
        "text/html; charset=utf-8",
        Kind.PAGE,
        Preset.MIRROR,
        markdown=True,
    )
    page = digest(request)
    assert isinstance(page, PageDigest)
    return page


def tokens_of(markdown: str) -> Iterator[Token]:
    for token in COMMONMARK.parse(markdown):
        yield token
        yield from token.children or ()


def dangers(markdown: str) -> list[str]:
    found = []
    for token in tokens_of(markdown):
        if token.type in ("html_block", "html_inline") and not HARMLESS.fullmatch(token.content):
            found.append(token.content)
        target = token.attrGet("href") or token.attrGet("src")
        if target is not None and not str(target).startswith(SAFE_TARGETS):
            found.append(str(target))
    return found


@pytest.mark.parametrize("place", PLACES)
def test_nothing_in_it_can_act(place: str) -> None:
    wrong = {}
    for text in hostile_text.ALL:
        markdown = read(PLACES[place].replace("{}", escape(text))).markdown or ""
        if found := dangers(markdown):
            wrong[text] = found
        markdown.encode()
    assert wrong == {}


ENCLOSED = [place for place in PLACES if place not in ("title", "base", "formula")]


@pytest.mark.parametrize("place", ENCLOSED)
def test_what_stands_around_it_stays_what_it_is(place: str) -> None:
    broken = []
    for text in hostile_text.ALL:
        html = f"<p>before</p>{PLACES[place].replace('{}', escape(text))}<p>behind</p>"
        tokens = COMMONMARK.parse(read(html).markdown or "")
        paragraphs = [
            tokens[at + 1].content
            for at, token in enumerate(tokens)
            if token.type == "paragraph_open" and not token.level
        ]
        if paragraphs[:1] != ["before"] or paragraphs[-1:] != ["behind"]:
            broken.append(text)
    assert broken == []


def test_a_cell_stays_in_its_row() -> None:
    broken = []
    for text in hostile_text.ALL:
        tokens = COMMONMARK.parse(read(PLACES["cell"].replace("{}", escape(text))).markdown or "")
        kinds = [token.type for token in tokens]
        if kinds.count("tr_open") != 2 or kinds.count("td_open") != 2 or kinds.count("table_open") != 1:
            broken.append(text)
    assert broken == []


@pytest.mark.parametrize("text", hostile_text.ALL)
def test_a_title_is_one_line_of_text_in_a_list_of_links(text: str) -> None:
    line = f"- [{markdown_text(text)}](<https://e.org/x>)\n"
    assert len(line.splitlines()) == 1
    links = [token.attrGet("href") for token in tokens_of(line) if token.type == "link_open"]
    assert links == ["https://e.org/x"]
    assert dangers(line) == []


@pytest.mark.parametrize("text", hostile_text.ALL)
def test_front_matter_reads_back(text: str) -> None:
    block = front_matter(title=text, url="https://e.org/")
    assert block.startswith("---\n")
    assert block.endswith("\n---\n")
    fields = yaml.safe_load(block.removeprefix("---\n").removesuffix("---\n"))
    assert fields == {"title": one_line(text), "url": "https://e.org/"}


SCRIPT = "<script>alert(1)</script>"
IN_LINE = ["b", "i", "em", "strong", "q", "sup", "sub", "s", "del", "a href=/x", "summary", "span"]


# A full-width digit beside it makes the converter write emphasis as tags, which is another way through it.
@pytest.mark.parametrize("around", ["{}", "x{}", "１{}１", "<p>x{}</p>", "<ul><li>x{}</ul>", "<b>x{}２</b>"])
@pytest.mark.parametrize("tag", IN_LINE)
def test_code_within_an_inline_element_stays_code(tag: str, around: str) -> None:
    inside = f"<{tag}><pre>{escape(SCRIPT)}</pre>２</{tag.split()[0]}>"
    markdown = read(around.replace("{}", inside)).markdown or ""
    assert dangers(markdown) == []
    assert any(
        SCRIPT in token.content for token in tokens_of(markdown) if token.type in ("fence", "code_inline")
    )


@pytest.mark.parametrize("separator", ["\x85", "\u2028", "\u2029", "\xa0", "\u3000", ""])
@pytest.mark.parametrize("tag", ["del", "s", "sup", "sub", "b", "em"])
def test_no_tag_begins_a_block(tag: str, separator: str) -> None:
    for inner in ("{}<br>", "<b>{}<br>", "<i>{}</i><br>"):
        html = f"<{tag}>{inner.replace('{}', separator)}{escape(SCRIPT)}</{tag}>"
        assert dangers(read(html).markdown or "") == []


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<q>a</q>", '"a"'),
        ("<q><ul><li>a</ul></q>", "- a"),
        ("x<sup>ab</sup>", "x<sup>ab</sup>"),
        ("x<sup><p>ab</p></sup>y", "x\n\nab\n\ny"),
    ],
)
def test_only_blocks_lose_what_is_around_them(html: str, markdown: str) -> None:
    assert (read(html).markdown or "").strip() == markdown
