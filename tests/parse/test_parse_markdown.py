"""Every construct of a document has its Markdown; nothing a page says can make it something else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown

COMMONMARK = MarkdownIt("commonmark").enable("table")


def markdown(html: str, base: str = "https://e.org/d/p.html") -> str:
    return page_markdown(parse_html(html.encode(), "utf-8"), base).markdown


KATEX = (
    "<span class=katex><span class=katex-mathml><math><semantics><mi>x</mi>"
    "<annotation encoding='application/x-tex'>x^2</annotation></semantics></math></span>"
    "<span class=katex-html aria-hidden=true>x2</span></span>"
)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        # headings
        ("<h2>Name<a class=headerlink href=#n>¶</a></h2>", "## Name"),
        ("<h2 id=n><a href=#n>#</a> Name</h2>", "## Name"),
        ("<h2><a href=#n>Name</a></h2>", "## Name"),
        ("<h2><a name=n></a>Name</h2>", "## Name"),
        ("<h2><a href=/x>Name</a></h2>", "## [Name](https://e.org/x)"),
        ("<h2>Name <a href=#n aria-label=Permalink>🔗</a></h2>", "## Name"),
        ("<a href=/x><h3>Card</h3><p>Text</p></a>", "### [Card](https://e.org/x)\n\nText"),
        ("<h2><button>Fold</button></h2><button>Copy</button>", "## Fold"),
        ("<h2></h2><p>x", "x"),
        # links and images
        ("<a href=a>x</a> <a href=#f>y</a>", "[x](https://e.org/d/a) [y](https://e.org/d/p.html#f)"),
        ("<a href='javascript:x'>x</a> <a href='\x01java\nscript:x'>y</a>", "x y"),
        ("<a href='data:text/html,x'>x</a> <a href=mailto:a@b.c>m</a>", "x [m](mailto:a@b.c)"),
        ("<a href=/x></a><a name=y></a>z", "z"),
        ("<a href=/x><img src=/i.png alt=z></a>", "[![z](https://e.org/i.png)](https://e.org/x)"),
        ("<img src=i.png alt='An\n  image'>", "![An image](https://e.org/d/i.png)"),
        ("<img src='data:image/png;base64,AA' alt=x>y", "x y"),
        ("<img data-src=/real.png src=/wait.gif alt=x>", "![x](https://e.org/real.png)"),
        ("<img srcset='/s.png 320w, /l.png 1280w, /m.png 640w' alt=x>", "![x](https://e.org/l.png)"),
        ("<img srcset='/1.png, /2.png 2x' alt=x>", "![x](https://e.org/2.png)"),
        ("<img src=/pixel.gif width=1 height=1>y", "y"),
        # what stands above the line
        ("10<sup>6</sup>, x<sub>12</sub>, 1<sup>st</sup>", "10⁶, x₁₂, 1<sup>st</sup>"),
        # blocks
        ("<dl><dt>a<dd>one<dt>b<dt>c<dd>two</dl>", "- a\n\n  one\n\n- b\n\n- c\n\n  two"),
        ("<dl><div><dt>a</dt><dd>one</dd></div></dl>", "- a\n\n  one"),
        ("<dl><dd>only</dl>", "- only"),
        ("<details><summary>More</summary><p>text</p></details>", "**More**\n\ntext"),
        ("<figure><img src=/i.png alt=a><figcaption>Words</figcaption></figure>",
         "![a](https://e.org/i.png)\n\nWords"),
        ("<aside class=admonition><p class=admonition-title>Note</p><p>x</p></aside>", "> **Note**\n>\n> x"),
        ("<div class=markdown-alert><p class=alert-title>Tip</p><p>x</p></div>", "> **Tip**\n>\n> x"),
        ("<p>x</p><aside>Related</aside>", "x"),
        ("<ol reversed start=-4><li>a</ol>", "1. a"),
        ("<ol start=7><li>a<li value=9999999999>b</ol>", "7. a\n8. b"),
        ("<blockquote>x<footer>Who</footer></blockquote>", "> x\n>\n> Who"),
        # formulas
        ("a <script type='math/tex'>x_1 *y*</script>", "a $x_1 *y*$"),
        ("a<script type='math/tex; mode=display'>x_1\n= 2 % why\n+ 3</script>", "a\n\n$$x_1 = 2 + 3$$"),
        ("<span class=math>\\(a_b\\)</span>", "$a_b$"),
        ("<div class='math notranslate'>\\[a\\\\b\\]</div>", "$$a\\\\b$$"),
        ("<span class=math>a_b</span>", "a\\_b"),
        (KATEX, "$x^2$"),
        # hidden and shown
        ("<p hidden>a</p><p>b</p><div role=tabpanel hidden>c</div>", "b\n\nc"),
        ("<i aria-hidden=true>→</i>a<i aria-hidden=true>b</i>", "a*b*"),
        ("<p>x</p><p><a href=/edit>Edit this page</a></p>", "x"),
        ("<center>a</center><center>b</center>", "a\n\nb"),
    ],
)  # fmt: skip
def test_constructs(html: str, expected: str) -> None:
    assert markdown(html) == expected


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<pre class=language-rust>x</pre>", "rust"),
        ("<pre><code class='language-c++ x'>x</code></pre>", "c++"),
        ("<div class=highlight-python3><div class=highlight><pre><span></span>x</pre></div></div>", "python"),
        ("<div class=highlight-default><div class=highlight><pre>x</pre></div></div>", ""),
        ("<pre class='brush: php; toolbar: false'>x</pre>", "php"),
        ("<div class=sourceCode><pre class='sourceCode haskell'><code>x</code></pre></div>", "haskell"),
        ("<pre><code class='hljs go'>x</code></pre>", "go"),
        ("<pre data-lang=js>x</pre>", "js"),
        ("<div class='highlight highlight-source-shell'><pre>x</pre></div>", "shell"),
        ("<pre lang=ruby>x</pre>", "ruby"),
        ("<pre class='rust rust-example-rendered'><code>x</code></pre>", "rust"),
        ("<pre class='language-a`b'>x</pre>", ""),
        ("<pre class='language-" + "x" * 99 + "'>x</pre>", ""),
        ("<div class=lang-en><section><div><pre>x</pre></div></section></div>", ""),
        ("<pre>x</pre>", ""),
    ],
)
def test_the_language_of_code_is_behind_its_fence(html: str, language: str) -> None:
    assert markdown(html) == f"```{language}\nx\n```"


@pytest.mark.parametrize(
    ("html", "code"),
    [
        ("<pre>  a\n\n\tb</pre>", "  a\n\n\tb"),
        ("<pre>a<br>  b</pre>", "a\n  b"),
        ("<pre><span class=lineno>1</span>a\n<span class=lineno>2</span>b</pre>", "a\nb"),
        (
            "<table><tr><td class=gutter><pre>1\n2</pre></td><td><pre>a\nb</pre></td></table>",
            "a\nb",
        ),
        ("<pre><div class=line>a</div><div class=line>  b</div></pre>", "a\n  b"),
        ("<pre>a</pre><button>Copy</button>", "a"),
    ],
)
def test_code_keeps_its_lines(html: str, code: str) -> None:
    assert markdown(html) == f"```\n{code}\n```"


VISIBLE = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"])
CODE = st.text(st.one_of(VISIBLE, st.sampled_from("\n\n\t  `~#>|*_\\<&")), max_size=80)


PLACES_OF_CODE = [
    "{}",
    "<ul><li>item{}</ul>",
    "<blockquote>{}</blockquote>",
    "<div class=admonition>{}</div>",
]


def as_html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@given(
    CODE,
    st.sampled_from(
        ["{}", "<ul><li>item{}</ul>", "<blockquote>{}</blockquote>", "<div class=admonition>{}</div>"]
    ),
)
def test_code_comes_back_from_a_markdown_parser_as_it_was(code: str, around: str) -> None:
    code = f"x{code}x"
    html = around.format(f"<pre><code class=language-py>{as_html(code)}</code></pre>")
    fences = [token for token in COMMONMARK.parse(markdown(html)) if token.type == "fence"]
    assert [(token.info, token.content) for token in fences] == [("py", f"{code}\n")]


CELL = st.text(st.sampled_from("ab |`*_<>[]()#$-~!"), max_size=12)


@given(st.lists(st.lists(CELL, min_size=2, max_size=3), min_size=2, max_size=4))
def test_cells_stay_in_their_columns(rows: list[list[str]]) -> None:
    width = max(map(len, rows))
    filled = [[f"x{cell}x" for cell in row] + ["x"] * (width - len(row)) for row in rows]
    html = "".join("<tr>" + "".join(f"<td>{as_html(cell)}</td>" for cell in row) + "</tr>" for row in filled)
    tokens = COMMONMARK.parse(markdown(f"<table>{html}</table>"))
    texts = [token.children for token in tokens if token.type == "inline"]
    shown = ["".join(part.content for part in parts or []) for parts in texts]
    assert shown == [" ".join(cell.split()) for row in filled for cell in row]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("a<br>b", "a<br>b"),
        ("<p>a</p><p>b</p>", "a<br>b"),
        ("a<p>b</p>c", "a<br>b<br>c"),
        ("<ul><li>a<li>b</ul>", "• a<br>• b"),
        ("a<ul><li>b</ul>", "a<br>• b"),
        ("<pre>a\n  b|c</pre>", "`a`<br>` b\\|c`"),
        ("<div><p>a</p></div>", "a"),
        ("<code>a|b</code>", "`a\\|b`"),
        ("<dl><dt>a<dd>b</dl>", "• a<br>b"),
    ],
)
def test_a_cell_is_one_line(cell: str, expected: str) -> None:
    table = f"<table><tr><th>h</th><th>i</th></tr><tr><td>{cell}</td><td>z</td></tr></table>"
    assert markdown(table) == f"| h | i |\n| --- | --- |\n| {expected} | z |"


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("<tr><td colspan=2>a<td>b<tr><td>c<td>d<td>e", "| a |  | b |\n| --- | --- | --- |\n| c | d | e |"),
        ("<tr><td rowspan=2>a<td>b<tr><td>c", "| a | b |\n| --- | --- |\n|  | c |"),
        ("<tr><th rowspan=x>a<th colspan=-1>b", "| a | b |\n| --- | --- |"),
        ("<tr><td><h2>a</h2><p>b<td>c", "## a\n\nb\n\nc"),
        ("<tr><td>only", "only"),
        ("<tr><td>one<td>row", "one - row"),
        ("<tr><td>[1]<td><p>A note.", "\\[1\\] A note."),
        ("<tr><td><ul><li>a</ul><td><ul><li>b</ul>", "- a\n* b"),
        ("<caption>Cap</caption><tr><th>a<th>b", "Cap\n\n| a | b |\n| --- | --- |"),
    ],
)
def test_tables_become_grids_or_are_taken_apart(table: str, expected: str) -> None:
    assert markdown(f"<table>{table}</table>") == expected


SPAN = st.sampled_from(["", " colspan=2", " rowspan=2", " colspan=3 rowspan=3", " rowspan=0", " colspan=x"])


@given(st.lists(st.lists(SPAN, max_size=4), min_size=1, max_size=5))
def test_uneven_tables_are_grids_with_all_their_cells(rows: list[list[str]]) -> None:
    spans = [["", ""], *rows]
    cells = [f"<td{span}>cell{row}x{n}</td>" for row, line in enumerate(spans) for n, span in enumerate(line)]
    lines = ["<tr>" + "".join(cell for cell in cells if f"cell{row}x" in cell) for row in range(len(spans))]
    tokens = COMMONMARK.parse(markdown(f"<table>{''.join(lines)}</table>"))
    shown = [token.content for token in tokens if token.type == "inline" and token.content]
    assert tokens[0].type == "table_open"
    assert shown == [f"cell{row}x{n}" for row, line in enumerate(spans) for n, _ in enumerate(line)]


def test_spans_cannot_make_a_table_explode() -> None:
    rows = "<tr>" + "<td colspan=1000 rowspan=60000>x" * 50 + "</tr>"
    assert len(markdown(f"<table>{rows * 50}</table>")) < 200_000


PAYLOADS = [
    "[x](javascript:alert(1))",
    "![x](javascript:alert(1))",
    "<script>alert(1)</script>",
    "<javascript:alert(1)>",
    "[x]: javascript:alert(1)\n\n[x]",
    "`` ` [x](javascript:a) ``",
    "</code><img src=x onerror=alert(1)>",
    "$</code>`<img src=x onerror=alert(1)>",
]
PLACES = [
    "<p>{}</p>",
    "<h1>{}</h1>",
    "<pre>{}</pre>",
    "<code>{}</code>",
    "<table><tr><td>{}</td><td>y</td></tr></table>",
    "<img src=/x alt='{}'>",
    "<a href='/x' title='{}'>t</a>",
    "<a href='/{}'>t</a>",
    "<script type=math/tex>{}</script>",
    "<script type='math/tex; mode=display'>{}</script>",
    "<span class=math>\\({}\\)</span>",
    "a<sup>{}</sup>",
    "<dl><dt class=sig>{}</dt><dd>x</dd></dl>",
]


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("place", PLACES)
def test_what_a_page_says_never_becomes_markup(payload: str, place: str) -> None:
    written = payload if "<script" in place and "</" not in payload else as_html(payload)
    html = COMMONMARK.render(markdown(place.format(written.replace("'", "&#39;"))))
    shown = parse_html(html.encode(), "utf-8")
    assert [
        link.attr("href") for link in shown.iter_elements("a") if "script:" in (link.attr("href") or "")[:12]
    ] == []
    assert [element.tag for element in shown.iter_elements(("script", "iframe"))] == []
    assert [image for image in shown.iter_elements("img") if image.attr("onerror") is not None] == []


TAGS = """
    p div ul ol li dl dt dd table tr td th pre code a b i h2 sup blockquote details summary aside math span
    header footer nav figure button center noscript script template
"""
TAGS_WITH_ATTRIBUTES = [
    "a href=x",
    "div class=admonition",
    "div class=fragment",
    "table class=memname",
    "pre class=language-x",
    "td colspan=3",
    "td rowspan=2",
    "dt class=sig",
    "span class=math",
    "p hidden",
    "ol start=-1",
]


def element(tag: str, parts: list[str]) -> str:
    return f"<{tag}>{''.join(parts)}</{tag.split()[0]}>"


MARKED_UP = st.recursive(
    st.one_of(st.text(st.sampled_from("ab \n|*_`#>-1.$<&[]()\\"), max_size=12).map(as_html), st.just("<br>")),
    lambda inner: st.builds(
        element, st.sampled_from([*TAGS.split(), *TAGS_WITH_ATTRIBUTES]), st.lists(inner, max_size=4)
    ),
    max_leaves=25,
)


@given(MARKED_UP)
def test_any_tree_becomes_text_without_raw_blocks(html: str) -> None:
    tokens = COMMONMARK.parse(markdown(html))
    assert [
        token.content for token in tokens if token.type == "html_block" and "<br>" not in token.content
    ] == []
