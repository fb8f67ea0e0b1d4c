"""Pages are read as browsers read them: their links and their text come out, and nothing breaks a promise."""

from collections import Counter
from collections.abc import Iterator

import pytest
from markdown_it import MarkdownIt

from fuzz.html_page import check_body
from sumi.model import Kind
from sumi.parse.html import Document, Element, Node, Text, parse_html
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.policy import Preset
from sumi.urls import PRESETS, LinkNormalizer
from tests.corpora import html5lib_cases as corpus

URL = "https://e.org/d/p.html"
PAGES = corpus.tree_pages()
READ = [page for page in PAGES if not page.fragment and not page.scripted]
# Since 2025 the standard lets any element stand in a <select>; the corpus is older.
OLDER = [page for page in READ if b"<select" in page.html]
COMMONMARK = MarkdownIt("commonmark").enable("table").enable("strikethrough")
# What no reader sees as text of the page, or what a page of a site has around its content.
NOT_CONTENT = {
    *("head", "script", "style", "template", "noscript", "textarea", "select", "option", "button"),
    *("iframe", "noembed", "noframes", "title", "nav", "footer", "aside", "header", "form", "object"),
    *("video", "audio", "canvas", "frameset", "dialog", "rp"),
}
LANDMARKS = {"main", "article"}  # beside these, text is taken for furniture


def test_the_corpus_is_whole() -> None:
    assert len(PAGES) == 1696
    assert len(READ) == 1512
    assert len(corpus.token_inputs()) == 2598
    assert sum("href" in node.attributes for page in READ for node in page.tree.walk()) > 10


def seen(node: Document | Node) -> Iterator[str]:
    for child in node.children:
        if isinstance(child, Element):
            yield child.tag.lower()
            yield from seen(child)
        elif isinstance(child, Text):
            yield f'"{child.data}'


def expected(node: corpus.Node) -> Iterator[str]:
    for each in node.walk():
        if each.name == "#document":
            continue
        yield each.name.rpartition(" ")[2].lower() if each.name else f'"{each.text}'


def test_every_element_and_every_text_is_where_browsers_see_it() -> None:
    older = {page.name for page in OLDER}
    wrong = [page for page in READ if list(seen(parse_html(page.html, "utf-8"))) != list(expected(page.tree))]
    assert [(page.name, page.html) for page in wrong if page.name not in older] == []


def test_the_encoding_is_what_browsers_find() -> None:
    pages = corpus.encoding_pages()
    assert len(pages) == 82
    wrong = [(body, name) for body, name in pages if (parse_html(body, None).encoding or "").lower() != name]
    assert [
        body for body, _ in wrong if b"document.write" not in body
    ] == []  # that one runs a script to know


def read(page: corpus.Page) -> PageDigest:
    request = DigestRequest(
        URL, page.html, "text/html; charset=utf-8", Kind.PAGE, Preset.MIRROR, markdown=True
    )
    found = digest(request)
    assert isinstance(found, PageDigest), page.html
    return found


def hrefs(page: corpus.Page) -> list[str]:
    nodes = list(page.tree.walk())
    linked = [
        node.attributes["href"] for node in nodes if node.name in ("a", "area") and "href" in node.attributes
    ]
    # A frame that names no page shows the one it stands on.
    framed = [node.attributes.get("src", "") for node in nodes if node.name == "frame"]
    return linked + framed


def test_links_are_those_of_the_tree() -> None:
    links = LinkNormalizer(PRESETS[Preset.MIRROR], URL)
    wrong = [(page.html, found) for page in READ if (found := read(page).links) != links.many(hrefs(page))]
    assert wrong == []


def visible(node: corpus.Node) -> Iterator[str]:
    for child in node.children:
        if not child.name:
            yield child.text
        elif child.name not in NOT_CONTENT and " " not in child.name:
            yield from visible(child)


def rendered(markdown: str) -> Iterator[str]:
    for block in COMMONMARK.parse(markdown):
        for token in (block, *(block.children or ())):
            if token.type in ("text", "code_inline", "fence", "code_block"):
                yield token.content


def letters(texts: Iterator[str]) -> Counter[str]:
    return Counter(character for text in texts for character in text if character.isalnum())


def test_no_letter_of_the_text_is_lost_in_markdown() -> None:
    lost = {}
    for page in READ:
        names = {node.name for node in page.tree.walk()}
        if names & LANDMARKS or page in OLDER:
            continue
        missing = letters(visible(page.tree)) - letters(rendered(read(page).markdown or ""))
        if missing:
            lost[page.html] = missing
    assert lost == {}


@pytest.mark.parametrize("form", ["{}", "<table><tr><td>{}", "<ul><li>{}"])
def test_what_tokenizers_stumble_over_breaks_no_promise(form: str) -> None:
    before, _, after = form.partition("{}")
    for body in corpus.token_inputs()[:: 1 if form == "{}" else 7]:
        check_body(before.encode() + body + after.encode())


def test_what_tree_builders_stumble_over_breaks_no_promise() -> None:
    for page in PAGES:
        check_body(page.html)
