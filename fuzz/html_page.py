"""HTML to digest to Markdown: nothing raises, what is written reads back, and nothing in it can act."""

import re
from collections.abc import Iterator
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from fuzz.inputs import as_choice, as_text
from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest_page
from sumi.parse.page.text import clean, harmless
from sumi.policy import Preset

_URL = "https://example.com/docs/page.html"
_COMMONMARK = MarkdownIt("commonmark").enable("table")
_TARGETS = ("http://", "https://", "mailto:")
_HARMLESS_TAGS = re.compile(r"(?:\s|<br>|</?(?:em|strong|code|s|del|sub|sup)>)*")
_CODE_PLACES = (
    "{}",
    "<ul><li>item{}</ul>",
    "<ol start=9><li><p>item</p>{}</ol>",
    "<blockquote>{}</blockquote>",
    "<div class=admonition>{}</div>",
)


def check(data: bytes) -> None:
    """The first byte chooses where the rest stands again, as code."""
    choice, body = as_choice(data)
    check_body(body)
    _check_code(clean(as_text(body)), _CODE_PLACES[choice % len(_CODE_PLACES)])


def check_body(body: bytes) -> None:
    page = _digest(body)
    if page is not None:
        _check_page(page)


def _digest(body: bytes) -> PageDigest | None:
    # Past the edge that turns a fault of the parser into an outcome: here it is to be seen.
    request = DigestRequest(_URL, body, "text/html; charset=utf-8", Kind.PAGE, Preset.MIRROR, markdown=True)
    page = digest_page(request)
    return page if isinstance(page, PageDigest) else None


def _check_page(page: PageDigest) -> None:
    for text in (page.markdown, page.title, page.description, page.language, page.robots_meta):
        (text or "").encode()
    for link in page.links:
        assert link.startswith(("http://", "https://")), link
    for token in _tokens(_COMMONMARK.parse(page.markdown or "")):
        _check_token(token)


def _tokens(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from token.children or ()


def _check_token(token: Token) -> None:
    if token.type in ("html_block", "html_inline"):
        assert _HARMLESS_TAGS.fullmatch(token.content), token.content
    target = token.attrGet("href") or token.attrGet("src")
    if target is not None:
        assert str(target).startswith(_TARGETS), target


def _check_code(text: str, place: str) -> None:
    lines = [" ".join(line.split()) for line in text.splitlines()]
    code = "x" + "\n".join(lines) + "x"
    shown = harmless(code)
    page = _digest(place.format(f"<pre><code>{escape(code)}</code></pre>").encode("utf-8", "replace"))
    assert page is not None
    tokens = _COMMONMARK.parse(page.markdown or "")
    fences = [token.content for token in tokens if token.type == "fence"]
    assert fences == [f"{shown}\n"], (fences, page.markdown)
