"""The numbers of its lines are no part of code, wherever a highlighter wrote them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown
from sumi.parse.markdown.fidelity import judge


def markdown(html: str) -> str:
    return page_markdown(parse_html(html.encode(), "utf-8"), "https://e.org/d/p.html").markdown.strip()


UNSELECTABLE = "white-space:pre;-webkit-user-select:none;user-select:none;color:#7f7f7f"
CHROMA = (
    "<div class=highlight><div class=chroma><table class=lntable><tr><td class=lntd>\n"
    "<pre class=chroma><code><span class=lnt>1\n</span><span class=lnt>2\n</span></code></pre></td>\n"
    "<td class=lntd>\n<pre class=chroma><code class=language-js data-lang=js>"
    "<span class=line><span class=cl>a:\n</span></span><span class=line><span class=cl>  b|c\n</span></span>"
    "</code></pre></td></tr></table></div></div>"
)
CHROMA_INLINE = (
    "<div class=highlight><div style='color:#f8f8f2'><table style='border-spacing:0'><tr>"
    "<td style='padding:0'>\n<pre><code><span style='{style}'>1\n</span><span style='{style}'>2\n</span>"
    "</code></pre></td>\n<td style='padding:0'>\n<pre><code class=language-js data-lang=js>"
    "<span style='color:#66d'>a</span>:\n"
    "  b|c\n</code></pre></td></tr></table></div></div>"
)
ROUGE = (
    "<table class=rouge-table><tbody><tr><td class='{gutter} gl'><pre class=lineno>1\n2\n</pre></td>"
    "<td class={code}><pre><span class=k>a</span>:\n  b|c\n</pre></td></tr></tbody></table>"
)
ROUGE_TABLE = ROUGE.format(gutter="gutter", code="code")
FORMS = {
    "Hugo": CHROMA,
    "Hugo without classes": CHROMA_INLINE.format(style="color:#7f7f7f"),
    "Hugo with numbers that cannot be selected": CHROMA_INLINE.format(style=UNSELECTABLE),
    "Jekyll": (
        "<figure class=highlight><pre><code class=language-js data-lang=js>"
        f"{ROUGE_TABLE}</code></pre></figure>"
    ),
    "kramdown": (
        "<div class='language-js highlighter-rouge'><div class=highlight><pre class=highlight>"
        f"<code>{ROUGE_TABLE}</code></pre></div></div>"
    ),
    "Chirpy": (
        "<div class='language-js highlighter-rouge'><div class=code-header><button><i></i></button></div>"
        f"<div class=highlight><code>{ROUGE.format(gutter='rouge-gutter', code='rouge-code')}</code>"
        "</div></div>"
    ),
    "Asciidoctor": (
        "<div class=content><pre class='rouge highlight'><code data-lang=js>"
        f"{ROUGE.format(gutter='linenos', code='code')}</code></pre></div>"
    ),
    "Hexo": (
        "<figure class='highlight js'><table><tr><td class=gutter><pre><span class=line>1</span><br>"
        "<span class=line>2</span><br></pre></td><td class=code><pre><span class=line><b>a</b>:</span><br>"
        "<span class=line>  b|c</span><br></pre></td></tr></table></figure>"
    ),
    "VuePress": (
        "<div class='language-js line-numbers-mode'><pre class=language-js><code>a:\n  b|c\n</code></pre> "
        "<div class=line-numbers-wrapper><span class=line-number>1</span><br>"
        "<span class=line-number>2</span><br></div></div>"
    ),
    "VitePress": (
        "<div class='language-js line-numbers-mode'><button></button><span class=lang>js</span><pre><code>"
        "<span class=line>a:</span>\n<span class=line>  b|c</span></code></pre>"
        "<div class=line-numbers-wrapper aria-hidden=true><span class=line-number>1</span><br>"
        "<span class=line-number>2</span><br></div></div>"
    ),
    "by nobody known": (
        "<div class=lang-js><table><tr><td>9<br>10</td><td><pre>a:\n  b|c</pre></td></tr></table></div>"
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_numbered_code_is_a_block_without_its_numbers(form: str) -> None:
    page = f"<main><p>before</p>{FORMS[form]}<p>after</p></main>"
    conversion = page_markdown(parse_html(page.encode(), "utf-8"), "https://e.org/d/p.html")
    assert conversion.markdown == "before\n\n```js\na:\n  b|c\n```\n\nafter"
    assert conversion.expected is not None
    fidelity = judge(conversion.expected, conversion.markdown)
    assert fidelity is not None
    assert fidelity.score == 1


def as_html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


@given(
    st.lists(st.text(st.sampled_from("ab1 `|<&"), max_size=6), max_size=12),
    st.integers(0, 120),
)
def test_every_character_of_numbered_code_survives(lines: list[str], first: int) -> None:
    code = "\n".join(["x", *lines, "x"])
    numbers = "".join(f"{first + line}\n" for line in range(len(lines) + 2))
    html = f"<table><tr><td><pre>{numbers}</pre></td><td><pre>{as_html(code)}\n</pre></td></tr></table>"
    written = markdown(html)
    assert written.startswith("```")
    assert written.strip("`") == f"\n{code}\n"


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("<td>1</td><td><pre>a\nb</pre></td>", "1\n\n```\na\nb\n```"),
        ("<td>1</td><td>Say<pre>a</pre></td>", "1\n\nSay\n\n```\na\n```"),
        ("<td>1<br>3</td><td><pre>a\nb</pre></td>", "1  \n3\n\n```\na\nb\n```"),
        ("<td>x</td><td><pre>a</pre></td>", "x\n\n```\na\n```"),
        ("<td><img src=/i.png alt=i></td><td><pre>a</pre></td>", "![i](https://e.org/i.png)\n\n```\na\n```"),
        ("<td>1</td><td><pre>a</pre></td><td>b</td>", "1\n\n```\na\n```\n\nb"),
    ],
)
def test_cells_that_only_resemble_numbers_stay(row: str, cells: str) -> None:
    assert markdown(f"<table><tr>{row}</tr></table>") == cells


def test_a_table_of_numbered_examples_is_one() -> None:
    rows = "<tr><td>1</td><td><pre>a</pre></td></tr><tr><td>2</td><td><pre>b</pre></td></tr>"
    assert markdown(f"<table>{rows}</table>") == "| 1 | `a` |\n| --- | --- |\n| 2 | `b` |"
    headed = "<tr><th>No</th><th>Code</th></tr><tr><td>1</td><td><pre>a</pre></td></tr>"
    assert markdown(f"<table>{headed}</table>") == "| No | Code |\n| --- | --- |\n| 1 | `a` |"


def test_code_behind_a_block_is_not_taken_for_its_numbers() -> None:
    html = "<pre>a</pre><div class=line-numbers><pre>1\n2</pre></div><p class=line-numbers>1 word</p>"
    assert markdown(html) == "```\na\n```\n\n```\n1\n2\n```\n\n1 word"


def test_a_page_of_blocks_in_one_cell_is_read_once() -> None:
    html = f"<table><tr><td>{'1 ' * 50_000}</td><td>{'<pre>a</pre>' * 5_000}</td></tr></table>"
    started = time.process_time()
    assert "```\na\n```" in markdown(html)
    assert time.process_time() - started < 2
