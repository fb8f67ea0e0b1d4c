"""Every construct keeps its structure: read back, the Markdown is the same document."""

from collections import Counter
from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt

from sumi.model import Kind
from sumi.parse.html import Document, Element, collapse, parse_html
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.policy import Preset
from sumi.urls import normalize
from tests.corpora.markdown_pages import PAGES

URL = "https://e.org/d/p.html"
READER = MarkdownIt("commonmark").enable("table").enable("strikethrough")
HEADINGS = tuple(f"h{level}" for level in range(1, 7))
LISTS = ("ul", "ol")


def markdown_of(html: str) -> str:
    request = DigestRequest(
        URL, html.encode(), "text/html; charset=utf-8", Kind.PAGE, Preset.MIRROR, markdown=True
    )
    page = digest(request)
    assert isinstance(page, PageDigest)
    return page.markdown or ""


def before_and_after(html: str) -> tuple[Document, Document]:
    written = READER.render(markdown_of(html))
    return parse_html(html.encode(), "utf-8"), parse_html(written.encode(), "utf-8")


def text_of(element: Element) -> str:
    """Without blanks: a line break is one in some places and none in others."""
    return "".join("".join(element.strings).split())


def letters(document: Document) -> Counter[str]:
    return Counter(character for text in document.strings for character in text if character.isalnum())


def headings(document: Document) -> list[tuple[str, str]]:
    return [(e.tag, text_of(e)) for tag in HEADINGS for e in document.select(tag) if text_of(e)]


def code_blocks(document: Document) -> list[str]:
    return ["".join(block.strings).strip("\n") for block in document.select("pre")]


def code_spans(document: Document) -> list[str]:
    spans = (span for span in document.select("code") if not span.closest("pre"))
    return [text for span in spans if (text := text_of(span))]


def links(document: Document) -> list[tuple[str, str]]:
    found = ((resolved(e.attr("href")), text_of(e)) for e in document.select("a[href]"))
    return [(url, text) for url, text in found if url and text]


def images(document: Document) -> list[str]:
    return [url for e in document.select("img[src]") if (url := resolved(e.attr("src")))]


def resolved(address: str | None) -> str:
    return normalize(address or "", Preset.MIRROR, URL) or ""


def items(document: Document) -> list[tuple[int, str]]:
    """How deep each item is, and how its own text begins."""
    return [(depth_of(e), own_text(e)) for e in document.select("li") if e.closest("ul, ol") and own_text(e)]


def depth_of(item: Element) -> int:
    return sum(isinstance(above, Element) and above.tag in LISTS for above in item.ancestors)


def own_text(item: Element) -> str:
    """The mark of a task is written as text."""
    return collapse(next(iter(item.stripped_strings), "")).removeprefix("[ ] ").removeprefix("[x] ")


def rows(document: Document) -> list[list[str]]:
    return [[text_of(cell) for cell in row.select("th, td")] for row in document.select("tr")]


def starts(document: Document) -> list[str]:
    return [numbered.attr("start") or "1" for numbered in document.select("ol")]


PROMISES = (headings, code_blocks, code_spans, links, images, items, rows, starts)


def test_the_corpus_has_something_of_everything() -> None:
    documents = [parse_html(html.encode(), "utf-8") for html in PAGES]
    for promise in PROMISES:
        assert sum(bool(promise(document)) for document in documents) >= 4, promise


@pytest.mark.parametrize("promise", PROMISES)
def test_structure_survives(promise: Callable[[Document], list[object]]) -> None:
    wrong = []
    for html in PAGES:
        before, after = map(promise, before_and_after(html))
        if before != after:
            wrong.append((html, before, after))
    assert wrong == []


def test_no_letter_is_lost() -> None:
    lost = {}
    for html in PAGES:
        before, after = before_and_after(html)
        if missing := letters(before) - letters(after):
            lost[html] = missing
    assert lost == {}


def test_writing_what_was_written_changes_nothing() -> None:
    """Markdown made from the Markdown's own page is the same: there is no second reading of it."""
    changed = []
    for html in PAGES:
        once = markdown_of(html)
        if "checkbox" in html:
            continue  # the reader has no tasks
        if markdown_of(READER.render(once)) != once:
            changed.append((once, markdown_of(READER.render(once))))
    assert changed == []
