"""Emphasis stays emphasis: in asterisks where a CommonMark parser agrees, as tags where it does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sumi.parse.html import parse_html, to_markdown
from sumi.parse.markdown.inline import emphasis_renderers

READER = MarkdownIt("commonmark")


def convert(html: str) -> str:
    body = parse_html(f"<p>{html}</p>".encode(), "utf-8").select_one("p")
    assert body is not None
    return to_markdown(body, emphasis_renderers()).strip()


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            "the <em>aws</em> sequence <strong>won’t be cancelled</strong> and",
            "the *aws* sequence **won’t be cancelled** and",
        ),
        ("<strong>Source code:</strong> x", "**Source code:** x"),
        ("x<em>y</em>z", "x*y*z"),
        ("<b> padded </b>text", "**padded** text"),
        ("<em>“quoted”</em>x", "<em>“quoted”</em>x"),
        ("x<strong>(y)</strong>z", "x<strong>(y)</strong>z"),
        ("<em>a <strong>b</strong></em>", "*a **b***"),
    ],
)
def test_asterisks_where_they_work(html: str, markdown: str) -> None:
    assert convert(html) == markdown


words = st.text(alphabet="ab é“’.,(-", min_size=1, max_size=5).filter(lambda text: bool(text.strip()))


@given(words, st.sampled_from(["em", "strong"]), words, words)
def test_a_reader_sees_the_same_emphasis(before: str, tag: str, inside: str, after: str) -> None:
    html = READER.render(convert(f"w{before}<{tag}>{inside}</{tag}>{after}w"))
    shown = " ".join(inside.split())  # as a browser shows it
    assert f"<{tag}>{shown}</{tag}>" in html
