"""A fence holds the code, its language and its changes, and nothing that is laid over or around it."""

import pytest

from sumi.parse.html import parse_html
from sumi.parse.markdown.convert import page_markdown


def markdown(html: str) -> str:
    return page_markdown(parse_html(html.encode(), "utf-8"), "https://e.org/d/p.html").markdown.strip()


@pytest.mark.parametrize(
    "html",
    [
        "<pre><div><button>Copy</button></div><code>a\nb</code></pre>",
        "<pre><div class=bar><span></span><div><button>Copy</button></div></div><code>a\nb</code></pre>",
        "<pre><code>a\nb<button>Copy</button></code></pre>",
        "<pre><code><span class=boring>fn main() {\n</span>a\nb\n<span class=boring>}</span></code></pre>",
        (
            "<div class=fragment><div class=line>a</div><div class=line>b</div>"
            "<div class=ttc>Defined: x.h:1</div></div>"
        ),
        "<pre><code>a<span role=tooltip>number</span>\nb</code></pre>",
    ],
)
def test_nothing_but_the_code(html: str) -> None:
    assert markdown(html) == "```\na\nb\n```"


def test_the_name_of_a_file_stands_over_its_code() -> None:
    html = "<pre><div><span>ink.ts</span><button>Copy</button></div><code class=language-ts>a\nb</code></pre>"
    assert markdown(html) == "ink.ts\n\n```ts\na\nb\n```"
    html = "<pre><div><span>ts</span><button>Copy</button></div><code class=language-ts>a\nb</code></pre>"
    assert markdown(html) == "```ts\na\nb\n```"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<pre><code class=ts>a</code></pre>", "ts"),
        ("<pre class=mermaid>a</pre>", "mermaid"),
        ("<pre class=yaml>a</pre>", "yaml"),
        ("<pre class=literal-block>a</pre>", ""),
        ("<pre class='c d'>a</pre>", ""),
    ],
)
def test_a_bare_class_is_a_language_if_it_can_be_no_other_thing(html: str, language: str) -> None:
    assert markdown(html) == f"```{language}\na\n```"


@pytest.mark.parametrize(
    "html",
    [
        (
            "<pre><code><span class=line>a</span>\n<span class='line diff add'>b</span>\n"
            "<span class='line diff remove'>c</span></code></pre>"
        ),
        (
            "<pre><code><div class=ec-line><div>a</div></div><div class='ec-line ins'><div>b</div></div>"
            "<div class='ec-line del'><div>c</div></div></code></pre>"
        ),
    ],
)
def test_lines_that_a_class_calls_new_or_gone(html: str) -> None:
    assert markdown(html) == "```\n  a\n+ b\n- c\n```"


def test_words_that_are_new_make_no_line_so() -> None:
    lines = "<span class=line>a <span class=ins>b</span></span>\n<span class=line>c</span>"
    assert markdown(f"<pre><code>{lines}</code></pre>") == "```\na b\nc\n```"


@pytest.mark.parametrize(
    "html",
    [
        "<pre><code>\n  a\n b\n \n</code></pre>",
        "<pre>\n\n  a\n b\n\n</pre>",
        "<pre><code>\n<b>  a</b>\n b\n \n\n</code></pre>",
    ],
)
def test_a_fence_neither_begins_nor_ends_with_an_empty_line(html: str) -> None:
    assert markdown(html) == "```\n  a\n b\n```"


@pytest.mark.parametrize(
    "html",
    [
        "<div class='mw-highlight mw-highlight-lang-python'><pre><span></span>a = 1\n</pre></div>",
        "<pre data-syntaxhighlighter-params='brush: python; gutter: false'>a = 1</pre>",
    ],
)
def test_a_language_within_a_longer_name(html: str) -> None:
    assert markdown(html) == "```python\na = 1\n```"
