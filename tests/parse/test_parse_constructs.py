"""What readers of real pages would hate to lose or to see: tabs, code tables, links in code, stray terms."""

import pytest

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown


def markdown(html: str) -> str:
    return page_markdown(parse_html(html.encode(), "utf-8"), "https://e.org/d/p.html").markdown.strip()


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "<p><code>Map&lt;<a href=/k>Key</a>, <i>V</i>&gt;</code></p>",
            "`Map<`[`Key`](https://e.org/k)`, V>`",
        ),
        ("<p><code><span><a href=/k title=T>Key</a></span></code></p>", '[`Key`](https://e.org/k "T")'),
        ("<p><code>a<code>b<a href=/k>Key</a></code></code></p>", "`ab`[`Key`](https://e.org/k)"),
        ("<pre><code><a href=/k>Key</a> x</code></pre>", "```\nKey x\n```"),
    ],
)
def test_links_in_code_are_links_to_code(html: str, expected: str) -> None:
    assert markdown(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<pre><code><div class=line>a:</div><div class=line>  b</div></code></pre>",
        "<pre><div>a:</div>\n<div>  b</div>\n</pre>",
        "<pre>a:<br>  b</pre>",
        "<pre><ol><li>a:</li><li>  b</li></ol></pre>",
        "<pre><code><div>a:</div>  b</code></pre>",
        "<pre><code><span class=line>a:</span><span class=line>  b</span></code></pre>",
        "<pre><code><span class=token-line>a:<br></span><span class=token-line>  b<br></span></code></pre>",
        "<pre><span class=lineno>1 </span>a:\n<span class=lineno>2 </span>  b<button>Copy</button></pre>",
        "<table><tr><td class=linenos><pre>1\n2</pre><td class=code><pre>a:\n  b</pre></table>",
        "<pre><code>a:\n<details><summary><span>Show 1 line</span></summary>  b</details></code></pre>",
        "<pre><span style='user-select: none'>1 </span>a:\n<span style=user-select:none>2 </span>  b</pre>",
    ],
)
def test_lines_of_code_whatever_they_are_made_of(html: str) -> None:
    assert markdown(html) == "```\na:\n  b\n```"


def test_a_file_name_over_numbered_code_does_not_make_it_a_table() -> None:
    html = (
        "<div class='language-python highlight'><table class=highlighttable>"
        "<tr><th colspan=2 class=filename><span class=filename>a.py</span></th></tr>"
        "<tr><td class=linenos><pre>1\n2</pre></td>"
        "<td class=code><div><pre>if x:\n    y()</pre></div></td></tr>"
        "</table></div>"
    )
    assert markdown(html) == "a.py\n\n```python\nif x:\n    y()\n```"


TABS = {
    "MkDocs Material": "<div class=tabbed-set><input type=radio><div class=tabbed-labels>"
    "<label>A</label><label>B</label></div><div class=tabbed-content>"
    "<div class=tabbed-block><p>one</div><div class=tabbed-block><p>two</div></div></div>",
    "Docusaurus": "<div class=tabs-container><ul role=tablist><li role=tab>A</li><li role=tab>B</li></ul>"
    "<div><div role=tabpanel><p>one</p></div><div role=tabpanel hidden><p>two</p></div></div></div>",
    "VitePress": "<div class=vp-code-group><div class=tabs><input type=radio><label>A</label>"
    "<input type=radio><label>B</label></div>"
    "<div class=blocks><div><p>one</div><div><p>two</div></div></div>",
    "sphinx-design": "<div class=sd-tab-set><input type=radio><label class=sd-tab-label>A</label>"
    "<div class=sd-tab-content><p>one</div><input type=radio><label class=sd-tab-label>B</label>"
    "<div class=sd-tab-content><p>two</div></div>",
}


@pytest.mark.parametrize("generator", TABS)
def test_each_panel_stands_under_its_label(generator: str) -> None:
    assert markdown(TABS[generator]) == "**A**\n\none\n\n**B**\n\ntwo"


def test_terms_without_a_list_are_a_list() -> None:
    html = "<div><h3>A</h3><dt>array</dt> <dd><p>Many.</p></dd><dt>atom</dt><dd>One.</dd></div>"
    assert markdown(html) == "### A\n\n- array\n\n  Many.\n\n- atom\n\n  One."


def test_boxes_of_tasks_within_labels() -> None:
    box = "<label><input type=checkbox {}><span></span></label>"
    html = f"<ul><li>{box.format('checked')} done<li>{box.format('')} open</ul>"
    assert markdown(html) == "- [x] done\n- [ ] open"


def test_a_footnote_ends_where_its_text_ends() -> None:
    html = "<ol><li><p>The text.&#160;<a class=footnote-backref href=#r>↩</a></p></li></ol>"
    assert markdown(html) == "1. The text."


def test_a_chapter_about_comments_is_a_chapter() -> None:
    html = "<main><h1>T</h1><section id=comments><h2>Comments</h2><p>begin with a hash.</p></section></main>"
    assert "## Comments\n\nbegin with a hash." in markdown(html)


def test_a_table_of_related_things_is_a_table() -> None:
    rows = "<tr><th>Modules<th>Directives<tr><td>core<td>Listen"
    html = f"<div id=page-content><p>Text</p><table class=related>{rows}</table></div>"
    assert "| Modules | Directives |" in markdown(html)


@pytest.mark.parametrize("kind", ["note", "tip", "warning", "caution", "important"])
def test_boxes_of_docbook_are_quotes_under_their_title(kind: str) -> None:
    box = f"<div class={kind}><h3 class=title>Take care</h3><p>It moves.</p></div>"
    assert markdown(f"<div class=sect1>{box}</div>") == (
        f"> **{kind.capitalize()}: Take care**\n>\n> It moves."
    )
    assert markdown(f"<div class={kind}><p>A {kind}.</p></div>") == f"> A {kind}."


def test_a_link_that_is_left_out_takes_the_dot_before_it_along() -> None:
    source = "<a class=srclink href=/s>source</a>"
    assert markdown(f"<p><span>1.50.0</span> · {source} · <a href=#>[−]</a></p>") == "1\\.50.0"
    assert markdown(f"<p>a · b · {source}</p>") == "a · b"
