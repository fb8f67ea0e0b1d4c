"""Converters from HTML to Markdown, each as its own documentation says to call it, on a whole page."""

from collections.abc import Callable
from io import BytesIO
from typing import Final, TypeAlias

Convert: TypeAlias = Callable[[bytes], str]

URL: Final = "https://docs.example.org/manual/page.html"


def _sumi() -> Convert:
    """All that the crawler asks of a page: links, metadata, fingerprint, Markdown and its fidelity."""
    from sumi.model import Kind
    from sumi.parse.page.digest import DigestRequest, PageDigest
    from sumi.parse.page.digester import digest
    from sumi.policy import Preset

    def convert(body: bytes) -> str:
        request = DigestRequest(
            URL, body, "text/html; charset=utf-8", Kind.PAGE, Preset.MIRROR, markdown=True
        )
        result = digest(request)
        return (result.markdown or "") if isinstance(result, PageDigest) else ""

    return convert


def _sumi_markdown() -> Convert:
    from sumi.parse.html import parse_html
    from sumi.parse.markdown.convert import page_markdown

    return lambda body: page_markdown(parse_html(body, "utf-8"), URL).markdown


def _turbohtml() -> Convert:
    from turbohtml import parse

    return lambda body: parse(body, encoding="utf-8", positions=False).to_markdown()


def _turbohtml_main() -> Convert:
    from turbohtml import parse

    def convert(body: bytes) -> str:
        main = parse(body, encoding="utf-8", positions=False).main_content()
        return "" if main is None else str(main.to_markdown())

    return convert


def _markdownify() -> Convert:
    from markdownify import markdownify

    return lambda body: str(markdownify(body.decode("utf-8", "replace"), heading_style="ATX"))


def _html2text() -> Convert:
    from html2text import HTML2Text

    def convert(body: bytes) -> str:
        converter = HTML2Text(baseurl=URL, bodywidth=0)
        converter.mark_code = False
        return str(converter.handle(body.decode("utf-8", "replace")))

    return convert


def _trafilatura() -> Convert:
    from trafilatura import extract

    def convert(body: bytes) -> str:
        return extract(body, output_format="markdown", include_links=True, include_tables=True, url=URL) or ""

    return convert


def _html_to_markdown() -> Convert:
    from html_to_markdown import convert

    return lambda body: str(
        getattr(result := convert(body.decode("utf-8", "replace")), "content", result) or ""
    )


def _markitdown() -> Convert:
    from markitdown import MarkItDown, StreamInfo

    converter = MarkItDown()
    kind = StreamInfo(mimetype="text/html", extension=".html", charset="utf-8")
    return lambda body: str(converter.convert_stream(BytesIO(body), stream_info=kind).markdown)


def _htmd() -> Convert:
    from htmd import convert_html, create_options_with_skip_tags

    options = create_options_with_skip_tags(["script", "style"])
    return lambda body: str(convert_html(body.decode("utf-8", "replace"), options))


def _fast_html2md() -> Convert:
    from fast_html2md import HTMLToMarkdown

    converter = HTMLToMarkdown()
    return lambda body: str(getattr(r := converter.convert(body.decode("utf-8", "replace")), "markdown", r))


def _resiliparse() -> Convert:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda body: str(
        extract_plain_text(body.decode("utf-8", "replace"), main_content=True, links=True)
    )


def _pyhtml2md() -> Convert:
    from pyhtml2md import convert

    return lambda body: str(convert(body.decode("utf-8", "replace")))


def _readability() -> Convert:
    """It gives HTML, which another converter has to finish."""
    from markdownify import markdownify
    from readability import Document

    return lambda body: str(
        markdownify(Document(body.decode("utf-8", "replace")).summary(), heading_style="ATX")
    )


CONVERTERS: Final[dict[str, tuple[str, Callable[[], Convert]]]] = {
    "sumi": ("", _sumi),
    "sumi, Markdown alone": ("", _sumi_markdown),
    "turbohtml": ("turbohtml", _turbohtml),
    "turbohtml main_content": ("turbohtml", _turbohtml_main),
    "htmd": ("htmd-py", _htmd),
    "html-to-markdown": ("html-to-markdown", _html_to_markdown),
    "fast-html2md": ("fast-html2md", _fast_html2md),
    "resiliparse main": ("resiliparse", _resiliparse),
    "html2text": ("html2text", _html2text),
    "markdownify": ("markdownify", _markdownify),
    "readability + markdownify": ("readability-lxml", _readability),
    "trafilatura": ("trafilatura", _trafilatura),
    "markitdown": ("markitdown", _markitdown),
    "pyhtml2md": ("pyhtml2md", _pyhtml2md),
}
# Looked for and not found, so that nobody looks again in vain.
MISSING: Final = {
    "mdream": "not on PyPI",
    "magic-html": "needs Python 3.12",
}
