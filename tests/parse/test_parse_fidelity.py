"""The fidelity of a page is 1 where its Markdown holds all of it, and less, by name, where it does not."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.model import Kind
from sumi.parse.html import body_of, parse_html
from sumi.parse.markdown import fidelity
from sumi.parse.markdown.convert import page_markdown
from sumi.parse.markdown.fidelity import Expected, Fidelity, judge, words_of_markdown
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.policy import Preset

PAGE = """<main><h1>Locks</h1><p>A lock has <b>two</b> keys, see <a href=/keys>Keys</a> and
<code>Map&lt;<a href=/k>Key</a>&gt;</code>.</p><h2>Sizes</h2>
<table><tr><th>Size<th>Price<tr><td>small<td>3<tr><td>large<td>5</table>
<ul><li>oil<li>dust<ul><li>fine<li>coarse</ul></ul><dl><dt>bolt<dd>It moves.</dl>
<pre class=language-python>def turn():
    return "click"  # | *not* `emphasis`
</pre><ol start=3><li>lift<li>pull</ol><p>10<sup>6</sup> turns</p></main>"""


def judged(html: str, markdown: str | None = None) -> Fidelity:
    converted, expected = page_markdown(parse_html(html.encode(), "utf-8"), "https://e.org/")
    assert expected is not None
    fidelity = judge(expected, converted if markdown is None else markdown)
    assert fidelity is not None
    return fidelity


def converted(html: str) -> str:
    return page_markdown(parse_html(html.encode(), "utf-8"), "https://e.org/").markdown


def asked(body: str) -> PageDigest:
    result = digest(
        DigestRequest("https://e.org/", body.encode(), "text/html", Kind.PAGE, Preset.MIRROR, markdown=True)
    )
    assert isinstance(result, PageDigest)
    return result


def test_a_page_that_arrives_whole_has_fidelity_one() -> None:
    assert judged(PAGE) == (1.0, [])
    assert (asked(PAGE).fidelity, asked(PAGE).shortfalls) == (1.0, [])


LOSSES = {
    "a table": (
        "| Size | Price |\n| --- | --- |\n| small | 3 |\n| large | 5 |",
        "Size Price small 3 large 5",
    ),
    "a row": ("| large | 5 |\n", "\nlarge 5\n"),
    "a heading": ("## Sizes", "Sizes"),
    "the level of a heading": ("## Sizes", "### Sizes"),
    "a code block": ("```python\n", "\n"),
    "a language": ("```python\n", "```\n"),
    "the indentation of code": ('    return "click"', 'return "click"'),
    "a list item": ("- oil\n", "oil\n\n"),
    "a link": ("[Keys](https://e.org/keys)", "Keys"),
    "a word": (" keys,", ","),
}
NAMED = {
    "a table": "tables: 0 of 1",
    "a row": "table rows: 2 of 3",
    "a heading": "headings: 1 of 2",
    "the level of a heading": "headings: 1 of 2",
    "a code block": "code blocks: 0 of 1",
    "a language": "code languages: 0 of 1",
    "the indentation of code": "code blocks: 0 of 1",
    "a list item": "list items: 6 of 7",
    "a link": "links: 1 of 2",
    "a word": "words: 34 of 35",
}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_lowers_the_score_and_is_named(loss: str) -> None:
    whole = converted(PAGE)
    there, then = LOSSES[loss]
    assert there in whole
    fidelity = judged(PAGE, whole.replace(there, then))
    assert fidelity.score < 1
    assert NAMED[loss] in fidelity.shortfalls


def test_a_lost_table_scores_low() -> None:
    there, then = LOSSES["a table"]
    assert judged(PAGE, converted(PAGE).replace(there, then)).score <= 0.5


def test_half_of_the_words_are_half_of_the_score() -> None:
    html = f"<main><p>{'one two three four ' * 50}</p><p>{'five six seven eight ' * 50}</p></main>"
    assert judged(html, "one two three four " * 50).score == pytest.approx(0.5)


def test_what_is_left_beside_the_chosen_content_counts_as_lost() -> None:
    beside = f"<div><p>{'There is more to be said about it. ' * 20}</p></div>"
    html = f"<body>{beside}<main><h1>Title</h1><p>{'All of the text. ' * 80}</p></main>"
    digested = asked(html)
    assert "more to be said" not in (digested.markdown or "")
    assert digested.shortfalls == ["words beside the chosen content: 160"]
    assert digested.fidelity is not None
    assert digested.fidelity < 0.8


def test_frames_around_the_content_are_not_missed() -> None:
    words = "Words of a bar that nobody reads, " * 20
    frame = f"<header><p>{words}</p></header><nav><p>{words}</p></nav><footer><p>{words}</p></footer>"
    assert asked(f"<body>{frame}<main>{'<p>Text of a page.</p>' * 200}</main>").fidelity == 1.0


def test_line_numbers_anchors_and_buttons_are_not_missed() -> None:
    html = (
        "<main><h2>Name<a class=headerlink href=#n>Permalink</a></h2><div class=highlight-python><pre>"
        "<span class=lineno>1</span><span>a = 1</span>\n<button>Copy</button></pre></div></main>"
    )
    assert judged(html) == (1.0, [])


def test_a_degraded_page_is_below_any_bar() -> None:
    request = DigestRequest(
        "https://e.org/", PAGE.encode(), "text/html", Kind.PAGE, Preset.MIRROR, markdown=True, max_depth=3
    )
    result = digest(request)
    assert isinstance(result, PageDigest)
    assert (result.fidelity, result.shortfalls) == (0.0, ["structure: kept as plain text"])


def test_pages_without_markdown_have_no_fidelity() -> None:
    plain = DigestRequest("https://e.org/", b"<p>x", "text/html", Kind.PAGE, Preset.MIRROR)
    as_markdown = msgspec.structs.replace(plain, body=b"# x", content_type="text/markdown", markdown=True)
    for request in (plain, as_markdown):
        result = digest(request)
        assert isinstance(result, PageDigest)
        assert result.fidelity is None


WORDS = st.lists(
    st.sampled_from(["lock", "key_a", "*bolt*", "<b>", "a|b", "1.", "# x", "`", "ключ", "鍵", "$5"])
)
TEXT = WORDS.map(lambda words: " ".join(words).replace("&", "&amp;").replace("<", "&lt;"))
BLOCKS = st.one_of(
    TEXT.map(lambda text: f"<p>{text}</p>"),
    TEXT.map(lambda text: f"<h2>{text}</h2>"),
    TEXT.map(lambda text: f"<pre>{text}\n  x</pre>"),
    st.lists(TEXT, min_size=1, max_size=4).map(
        lambda items: f"<ul>{''.join(f'<li>{i}</li>' for i in items)}</ul>"
    ),
    st.lists(TEXT, min_size=1, max_size=4).map(
        lambda cells: f"<table>{''.join(f'<tr><td>x{c}</td><td>y</td></tr>' for c in cells)}</table>"
    ),
    TEXT.map(lambda text: f"<blockquote><p>{text}</p></blockquote>"),
    TEXT.map(lambda text: f"<p>see <a href='/p'>x{text}</a>.</p>"),
)


@given(st.lists(BLOCKS, max_size=8))
def test_whatever_a_page_holds_arrives(blocks: list[str]) -> None:
    digested = asked(f"<body>{''.join(blocks)}</body>")
    assert (digested.fidelity, digested.shortfalls) == (1.0, [])


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_markdown_is_judged(html: str, markdown: str) -> None:
    document = parse_html(html.encode("utf-8", "replace"), "utf-8")
    body = body_of(document)
    expected = page_markdown(document, "https://e.org/").expected
    assert body is not None
    assert isinstance(expected, Expected)
    fidelity = judge(expected, markdown)
    assert fidelity is not None
    assert 0 <= fidelity.score <= 1
    assert bool(fidelity.shortfalls) == (fidelity.score < 1)


@pytest.mark.parametrize("html", ["<table><th><dl><dd>", "<table><th><dl><dd><dl><dd>x</table><p>y"])
def test_a_list_of_no_terms_in_a_cell_costs_no_page(html: str) -> None:
    assert judged(html).score > 0


@pytest.mark.parametrize(
    "cell",
    [
        "<dl><dd>lone</dl>",
        "<dl><dt>a<dd>b</dl>",
        "<dl><div><dt>a<dd>b</div><div><dd>c</div></dl>",
        "<dt>a<dd>b",
    ],
)
def test_definitions_in_cells_take_no_items_from_lists_beside(cell: str) -> None:
    page = f"<main><ul><li>one<li>two</ul><table><tr><th>Size<td>{cell}<tr><th>Price<td>3</table></main>"
    assert judged(page) == (1.0, [])
    items = "- one\n- two"
    assert items in converted(page)
    assert judged(page, converted(page).replace(items, "one\ntwo")).shortfalls == ["list items: 0 of 2"]


@given(st.lists(st.sampled_from(["oil", "dust", "Größe", "x_1", "\n", " ", "<li>", "</p><p>"]), max_size=60))
def test_a_page_whose_tree_is_gone_is_judged_as_one_whose_tree_is_there(parts: list[str]) -> None:
    page = f"<main><h1>Locks</h1><ol><li>one</ol><p>{' '.join(parts)}</main>"
    _, expected = page_markdown(parse_html(page.encode(), "utf-8"), "https://e.org/")
    _, same = page_markdown(parse_html(page.encode(), "utf-8"), "https://e.org/")
    assert expected is not None
    assert same is not None
    for markdown in ("", "# Locks\n\noil", "# Locks\n\n1. one\n\ndust dust x_1 Größe"):
        assert judge(expected.without_tree(), markdown) == judge(same, markdown)


def test_a_large_page_is_judged_too() -> None:
    page = "<main><h1>Locks</h1>" + "<p>A lock has two keys.</p>" * 25_000 + "</main>"
    assert asked(page).fidelity == 1.0
    assert asked(page.replace("<main>", "<main><svg><text>drawn</text></svg>")).fidelity is not None


def test_words_are_counted_alike_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "one two\nthree four-five\n\nsix " * 50
    whole = words_of_markdown(text)
    monkeypatch.setattr(fidelity, "_AT_ONCE", 10)
    assert words_of_markdown(text) == whole
