"""One body in, one answer out, whatever the body: a digest, or the reason why there is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.model import Kind
from sumi.outcomes import Outcome
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.parse.page.digester import digest
from sumi.policy import Preset

URL = "https://e.org/d/p"


def ask(
    body: bytes,
    content_type: str = "text/html",
    *,
    kind: Kind = Kind.PAGE,
    preset: Preset = Preset.MIRROR,
    max_depth: int = 512,
    max_nodes: int = 1_000_000,
) -> PageDigest | Undigested:
    return digest(
        DigestRequest(
            URL, body, content_type, kind, preset, markdown=True, max_depth=max_depth, max_nodes=max_nodes
        )
    )


def read(body: bytes, content_type: str = "text/html", **limits: int) -> PageDigest:
    result = ask(body, content_type, **limits)  # type: ignore[arg-type]
    assert isinstance(result, PageDigest)
    return result


def test_other_types_are_passed_over_by_name() -> None:
    result = ask(b"%PDF-1.7", "application/pdf")
    assert isinstance(result, Undigested)
    assert (result.verdict.outcome, result.verdict.rule) == (Outcome.NOT_HTML, "content type application/pdf")


def test_markdown_is_made_only_when_asked_for() -> None:
    result = digest(DigestRequest(URL, b"<p>x", "text/html", Kind.PAGE, Preset.MIRROR))
    assert isinstance(result, PageDigest)
    assert (result.markdown, result.sha256) == (None, None)


def test_an_empty_page_is_a_page() -> None:
    assert read(b"").markdown == ""


@pytest.mark.parametrize(
    ("body", "markdown", "title"),
    [
        (b"---\ntitle: x\n---\n\n# Real title\n\ntext\n", "# Real title\n\ntext\n", "Real title"),
        (b"# A #\r\n", "# A #\r\n", "A"),
        (b"---\nno end\n\ntext", "---\nno end\n\ntext", None),
        (b"---\na: 1\n--- x\ntext", "---\na: 1\n--- x\ntext", None),
        (b"text\n\n---\n\nmore", "text\n\n---\n\nmore", None),
    ],
)
def test_markdown_of_the_site_is_taken_as_it_is(body: bytes, markdown: str, title: str | None) -> None:
    page = read(body, "text/markdown; charset=utf-8")
    assert (page.markdown, page.title) == (markdown, title)


def test_presets_decide_what_a_link_is_called() -> None:
    page = ask(b"<a href='x/?b=2&a=1&utm_source=y'>x</a>", preset=Preset.CAPTURE)
    assert isinstance(page, PageDigest)
    assert page.links == ["https://e.org/d/x?a=1&b=2"]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"<div>" * 600 + b"deep", "degraded: nested deeper than 512 elements"),
        (b"<ul><li>" * 100_000 + b"deep", "degraded: nested deeper than"),
        (b"<table><tr><td>" * 5000 + b"deep", "degraded: nested deeper than"),
        (b"<blockquote>" * 100_000 + b"deep", "degraded: nested deeper than"),
        (b"<b><i>" * 3000 + b"deep", "degraded: nested deeper than"),
        (b"<ul><li>" * 200 + b"<li>deep\n" * 50_000, "degraded: nested deeper than"),
    ],
)
def test_bombs_of_depth_become_plain_text(body: bytes, problem: str) -> None:
    page = read(b"<title>t</title><a href=/x>x</a>" + body)
    assert page.problem.startswith(problem)
    assert (page.title, page.links[:1]) == ("t", ["https://e.org/x"])
    assert page.markdown is not None
    assert "deep" in page.markdown
    assert len(page.markdown) < 4 * len(body) + 2**20


def test_more_nodes_than_allowed_become_plain_text() -> None:
    page = read(b"<p>word" * 1000, max_nodes=500)
    assert page.problem == "degraded: more than 500 nodes; kept as plain text"
    assert page.markdown == "\n".join(["word"] * 1000)


@pytest.mark.parametrize(
    "body",
    [
        b"<!" * 100_000,
        b"<a" * 100_000,
        b"a <![CDATA[" * 50_000,
        b"&amp;" * 200_000,
        b"<a href='" + b"x" * 2_000_000 + b"'>x</a>",
        b"<p class='" + b"a " * 200_000 + b"'>x</p>",
        b"<dl><dt>" * 200 + b"x",
        b"<dl><dt>a<dd>b</dl>\n" * 5000,
        b"<h2><a href=#x>" * 2000,
        b"<table><tr><td><p>a<p>b" * 100,
        b"<tr><td>" + b"<p>a</p>" * 3000 + b"<table><tr><td>x<td>" + b"<p>a</p>" * 3000,
        b"<table><tr><td>a<td>" + b"<p></p>" * 30_000,
        b"<table><tr><td>a<td>" + b"<p><b></b></p>" * 10_000 + b"x",
        b"<div id=toc>" * 300 + b"<header><ul><li><a href=x>y</a>" * 50,
        b"<pre>" + b"`" * 100_000 + b"</pre>",
        b"<div class=admonition>" * 400 + b"x",
        b"<div class=related>" * 400 + b"x",
        b"<span class=math>\\(" + b"$ \\( \\) " * 20_000 + b"\\)</span>",
    ],
)
def test_long_and_odd_pages_are_digested(body: bytes) -> None:
    assert isinstance(ask(body), PageDigest)


def test_an_unforeseen_fault_costs_the_page_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> str:
        raise IndexError("out of range")

    monkeypatch.setattr("sumi.parse.page.digester.page_markdown", broken)
    result = ask(b"<p>x")
    assert isinstance(result, Undigested)
    assert result.verdict.outcome is Outcome.PARSE_FAILED
    assert result.verdict.rule == "IndexError: out of range"


SITEMAP = b"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://e.org/a#f</loc></url><url><loc>https://E.org:443/b/../c</loc></url>
<url><loc>https://e.org/a</loc></url></urlset>"""
INDEX = b"""<?xml version="1.0" encoding="UTF-8"?>
<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>https://e.org/s.xml?part=1</loc></sitemap><sitemap><loc>https://e.org/s.xml?part=2</loc></sitemap>
</sitemapindex>"""


def test_a_sitemap_gives_normalized_links() -> None:
    result = ask(SITEMAP, "application/xml", kind=Kind.SITEMAP)
    assert isinstance(result, PageDigest)
    assert result.links == ["https://e.org/a", "https://e.org/c"]


def test_the_files_of_an_index_keep_their_query_under_every_preset() -> None:
    result = ask(INDEX, "application/xml", kind=Kind.SITEMAP, preset=Preset.CRAWL)
    assert isinstance(result, PageDigest)
    assert result.sitemaps == ["https://e.org/s.xml?part=1", "https://e.org/s.xml?part=2"]


def test_something_else_in_place_of_a_sitemap_says_so() -> None:
    result = ask(b"\x00\x01\x02", "application/xml", kind=Kind.SITEMAP)
    assert isinstance(result, Undigested)
    assert result.verdict.outcome is Outcome.PARSE_FAILED
    assert result.verdict.rule


TYPES = ["text/html", "text/html; charset=utf-16", "", "text/markdown", "application/xhtml+xml; charset=big5"]
SNIPPETS = b"""
    <table> <td/colspan=9> </p> <pre> <svg><a> <math> <dl><dd> <template> <base <select> </table> <frameset>
    <noscript> <sup> <h1><a/href=#> <plaintext> &#x </body> <li> <a/href=// <img/srcset=, <meta/charset=
"""


@given(
    st.lists(st.one_of(st.sampled_from(SNIPPETS.split()), st.binary(max_size=20)), max_size=30),
    st.sampled_from(TYPES),
)
def test_any_bytes_give_an_answer_that_can_be_stored(pieces: list[bytes], content_type: str) -> None:
    result = ask(b"".join(pieces), content_type)
    if isinstance(result, Undigested):
        assert result.verdict.outcome is Outcome.NOT_HTML
    else:
        for text in (result.markdown, result.title, result.description, *result.links):
            assert text is None or "\x00" not in text
            (text or "").encode()


@given(st.binary(max_size=200))
def test_any_bytes_for_a_sitemap_give_an_answer(body: bytes) -> None:
    ask(body, "application/xml", kind=Kind.SITEMAP)
