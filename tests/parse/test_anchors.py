"""A link within a page leads to its place: a heading by its own words, anything else by an anchor."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown
from sumi.parse.markdown.fidelity import judge
from sumi.parse.markdown.slugs import places_in

PAGE = "https://e.org/d/p.html"


def markdown(html: str, *, anchors: bool = False) -> str:
    text, expected = page_markdown(parse_html(html.encode(), "utf-8"), PAGE, anchors=anchors)
    assert expected is not None
    fidelity = judge(expected, text)
    assert fidelity is not None
    assert fidelity.score == 1.0
    return text.strip()


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("<h2 id=x>X</h2><p>a", "## X\n\na"),
        ("<section id=x><h2>X</h2><p>a</section>", "## X\n\na"),
        ("<a name=x></a><h2>X</h2><p>a", "## X\n\na"),
        ("<h2><a name=x></a>X</h2><p>a", "## X\n\na"),
        ("<h2 id=x>Another</h2><p>a", '<a id="x"></a>\n\n## Another\n\na'),
        ("<h2>X</h2><h2 id=x>X</h2><p>a", '## X\n\n<a id="x"></a>\n\n## X\n\na'),
        ("<p id=x>a", '<a id="x"></a>a'),
        ("<p>a <b><i id=x>b</i></b>", 'a <a id="x"></a>***b***'),
        ("<p>a <code><span id=x>b</span></code>", 'a <a id="x"></a>`b`'),
        ("<p>a <a id=x></a>b", 'a <a id="x"></a>b'),
        ("<ul><li id=x>a<li>b</ul>", '- <a id="x"></a>a\n- b'),
        ("<ol><li id=x><p>a</p></li></ol>", '1. <a id="x"></a>a'),
        ("<dl><dt id=x><code>f()</code><dd>b</dl>", '- <a id="x"></a>`f()`\n\n  b'),
        ("<pre id=x>a</pre>", '<a id="x"></a>\n\n```\na\n```'),
        ("<pre>a <i id=x>b</i></pre>", '<a id="x"></a>\n\n```\na b\n```'),
        ("<div id=y><div id=x><p>a</div></div>", '<a id="x"></a>a'),
        (
            "<table><tr><th>a<th>b<tr id=x><td>c<td>d</table>",
            '| a | b |\n| --- | --- |\n| <a id="x"></a>c | d |',
        ),
    ],
)
def test_a_place_is_where_a_link_of_the_page_leads(place: str, expected: str) -> None:
    assert markdown(f"<p><a href=#x>to</a></p>{place}") == f"[to](#x)\n\n{expected}"
    assert markdown(f"<p><a href=/d/p.html#x>to</a></p>{place}") == f"[to](#x)\n\n{expected}"
    assert "<a id=" not in markdown(f"<p>to</p>{place}")


def test_a_footnote_is_reached() -> None:
    html = (
        "<p>Ink<sup><a href=#fn1 id=r1>1</a></sup> is wet.</p><section class=footnotes><ol>"
        "<li id=fn1><p>Mostly. <a class=footnote-backref href=#r1>↩</a></p></li></ol></section>"
    )
    assert markdown(html) == 'Ink[1](#fn1) is wet.\n\n1. <a id="fn1"></a>Mostly.'


def test_a_link_to_what_is_left_out_leads_to_the_web() -> None:
    html = "<main><p><a href=#x>to</a> and more words</p></main><nav id=x>bar</nav>"
    assert markdown(html) == f"[to]({PAGE}#x) and more words"


def test_places_for_other_pages_on_request() -> None:
    html = "<p id=a>one</p><p><a name=b></a>two</p><h2 id=three>Three</h2><button id=c>x</button>"
    assert markdown(html) == "one\n\ntwo\n\n## Three"
    assert markdown(html, anchors=True) == '<a id="a"></a>one\n\n<a id="b"></a>two\n\n## Three'


def test_an_id_cannot_break_out() -> None:
    text = markdown("<p><a href='#%22%3E%3Cb%3E|'>to</a></p><p id='\"><b>|'>x</p>")
    assert '<a id="&quot;&gt;&lt;b&gt;&#124;"></a>x' in text
    assert list(places_in(text)) == ['"><b>|']


NAME = st.text(st.sampled_from("abcXYZ019-_.:()é"), min_size=1, max_size=8)
BLOCK = st.sampled_from(
    ["<p id={}>w</p>", "<h2 id={}>w {}</h2>", "<ul><li id={}>w</ul>", "<p>w <em><a id={}></a>e</em></p>"]
)


@given(st.dictionaries(NAME, BLOCK, min_size=1, max_size=6))
def test_every_place_is_found_again(blocks: dict[str, str]) -> None:
    html = "".join(f"<p><a href='#{name}'>l</a></p>" for name in blocks)
    html += "".join(block.format(name, name) for name, block in blocks.items())
    text = markdown(html)
    assert set(places_in(text)) >= set(blocks)
    assert len(re.findall(r"\]\(<?#", text)) == len(blocks)
