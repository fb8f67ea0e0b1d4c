"""Pages are read as browsers read them: their links and their text come out, and nothing breaks a promise."""

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from fuzz.html_page import check_body
from sumi.model import Kind
from sumi.parse.html import Document, Element, Node, Text, parse_html
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.policy import Preset
from tests.corpora.html_cases import CASES, ENCODINGS, HtmlCase

URL = "https://e.org/d/p.html"
COMMONMARK = MarkdownIt("commonmark").enable("table").enable("strikethrough")
# What no reader sees as text of the page, or what a page of a site has around its content.
NOT_CONTENT = {
    *("head", "script", "style", "template", "noscript", "textarea", "select", "option", "button"),
    *("iframe", "noembed", "noframes", "title", "nav", "footer", "aside", "header", "form", "object"),
    *("video", "audio", "canvas", "frameset", "dialog", "rp", "svg", "math"),
}
# Where a tokenizer changes its state, and what may follow there.
OPENINGS = """\
< </ <! <!- <!-- <!--> <!--a-- <!--a--! <? <!doctype <!DOCTYPE_html_PUBLIC <![CDATA[ <svg><![CDATA[
<a <a_ <a_b <a_b= <a_b=' <a_b=" <a_b=c <a_/ </a </a_b & &# &#x &amp &not &#1114112 <a_b=& <a_b='&not
<title> <title></titl <textarea> <style> <plaintext> <script> <script></scr <script><!-- <script><!--<script
<script><!--<script></"""
FOLLOWING = [
    *"aA1><&;='`-!?/ \n\t\x0c\r\x00\x01\x1b\x80\ufdd0\ufeff\U0001f40c\ud800#\"",
    *("", "/>", "<b>", "--", "-->", "]]>", "\r\n", "</script>", "#x"),
]
# Not <select>, in which the standard lets any element stand since 2025: the two parsers differ in age. Nor
# <svg> and <math>, in which JustHTML passes over an end tag that ends them.
TAGS = """\
p div b a i table tr td caption ul li dd h1 form button title option template ruby rt pre br hr nobr
/p /b /a /table /td /ul /div /form /h2 /body colgroup frameset textarea"""


def as_xml(node: Document | Node) -> str:
    written = ""
    for child in node.children:
        if isinstance(child, Element):
            name = child.tag.lower()
            written += f"<{name}>{as_xml(child)}</{name}>"
        elif isinstance(child, Text):
            text = child.data.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
            written += text.replace("\r", "&#13;")
    return written


def same(tree: str) -> str:
    return ET.tostring(ET.fromstring(tree), encoding="unicode")


def test_every_element_and_every_text_is_where_browsers_see_it() -> None:
    assert len(CASES) > 190
    wrong = [
        (case, found)
        for case in CASES
        if same(found := as_xml(parse_html(case.html.encode(), "utf-8"))) != same(case.tree)
    ]
    assert wrong == []


def test_another_parser_of_the_standard_sees_the_same_tree() -> None:
    """JustHTML is another program by other people: wherever some tags meet, the two agree."""
    other = pytest.importorskip("justhtml", reason="justhtml, of the extra dev, is not installed")
    wrong = []
    for first, second in product(TAGS.split(), repeat=2):
        html = f"1<{first}>2<{second}>3<td>4</{first}>5<p>6"
        theirs = as_xml_by_other(other.JustHTML(html, sanitize=False).root)
        if as_xml(parse_html(html.encode(), "utf-8")) != theirs:
            wrong.append(html)
    assert wrong == []


def as_xml_by_other(node: Any) -> str:
    written = ""
    for child in node.children or ():
        name = child.name.lower()
        if name == "#text":
            written += child.data.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        elif not name.startswith(("#", "!")):
            written += f"<{name}>{as_xml_by_other(child)}</{name}>"
    return written


def test_the_encoding_is_what_browsers_find() -> None:
    found = [(body, (parse_html(body, None).encoding or "").lower()) for body, _ in ENCODINGS]
    assert found == list(ENCODINGS)


def read(html: str) -> PageDigest:
    request = DigestRequest(
        URL, html.encode(), "text/html; charset=utf-8", Kind.PAGE, Preset.MIRROR, markdown=True
    )
    found = digest(request)
    assert isinstance(found, PageDigest), html
    return found


@pytest.mark.parametrize(
    ("html", "links"),
    [
        ("<a href=1>a<a href=2>b", ["1", "2"]),
        ("<table><a href=1>a<tr><td><a href=2>b</table>", ["1", "2"]),
        ("<a href=1 href=2>a</a>", ["1"]),
        ("<A HREF='1'>a</A><area href=2>", ["1", "2"]),
        ("<a href=&quot;1&quot;>a</a><a href=a&amp;b>c</a>", ["%221%22", "a&b"]),
        ("<a href='?a&copy=1'>d</a>", ["p.html?a&copy=1"]),
        ("<a\nhref\n=\n'1\n2'>a</a>", ["12"]),
        ("<script><a href=1></script><style><a href=2></style><!--<a href=3>-->", []),
        ("<textarea><a href=1></textarea><title><a href=2></title><xmp><a href=3></xmp>", []),
        ("<noscript><a href=1>b</a></noscript>", ["1"]),
        ("<svg><a href=1>a</a></svg><svg><p><a href=2>b</a></svg>", ["1", "2"]),
        ("<frameset><frame src=1><frame><frame src=2></frameset>", ["1", "p.html", "2"]),
        ("<a href=1>a", ["1"]),
        ("<a href=1", []),
        ("<p <a href=1>b", []),
        ("</a href=1><a/href=2/>b", ["2/"]),
    ],
)
def test_links_are_those_of_the_tree(html: str, links: list[str]) -> None:
    assert read(html).links == [f"https://e.org/d/{link}" for link in links]


def visible(node: ET.Element) -> Iterator[str]:
    if node.tag not in NOT_CONTENT:
        yield node.text or ""
        for child in node:
            yield from visible(child)
            yield child.tail or ""


def rendered(markdown: str) -> Iterator[str]:
    for block in COMMONMARK.parse(markdown):
        for token in (block, *(block.children or ())):
            if token.type in ("text", "code_inline", "fence", "code_block"):
                yield token.content


def letters(texts: Iterator[str]) -> Counter[str]:
    return Counter(character for text in texts for character in text if character.isalnum())


def lost_letters(case: HtmlCase) -> Counter[str]:
    return letters(visible(ET.fromstring(case.tree))) - letters(rendered(read(case.html).markdown or ""))


def test_no_letter_of_the_text_is_lost_in_markdown() -> None:
    # Beside a landmark, text is taken for furniture.
    pages = [case for case in CASES if "<main>" not in case.tree]
    lost = {case.html: missing for case in pages if (missing := lost_letters(case))}
    assert lost == {}


@pytest.mark.parametrize("form", ["{}", "<table><tr><td>{}", "<ul><li>{}"])
def test_what_tokenizers_stumble_over_breaks_no_promise(form: str) -> None:
    before, _, after = form.partition("{}")
    openings = ["", *(opening.replace("_", " ") for opening in OPENINGS.split())]
    inputs = [opening + following for opening, following in product(openings, FOLLOWING)]
    for text in inputs[:: 1 if form == "{}" else 7]:
        check_body((before + text + after).encode("utf-8", "surrogatepass"))


def test_what_tree_builders_stumble_over_breaks_no_promise() -> None:
    for case in CASES:
        check_body(case.html.encode())
