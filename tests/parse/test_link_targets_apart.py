"""Targets that stand apart from what is linked, in definitions and in tags, are replaced like all others."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.model import Kind
from sumi.parse.markdown.link_targets import image_targets, replace_targets
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest_page
from sumi.policy import Preset


def marked(text: str) -> str:
    return replace_targets(text, lambda target: f"/new/{target}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [it][ref].\n\n[ref]: ./t3.md\n", "See [it][ref].\n\n[ref]: /new/./t3.md\n"),
        ("[a]: one\n[b]: <two> 'Title'\n", "[a]: /new/one\n[b]: /new/two 'Title'\n"),
        ('> [a `b`]:\ti(n) "Title"', '> [a `b`]:\t/new/i(n) "Title"'),
        ("# Head\n[a]: one\r\n", "# Head\n[a]: /new/one\r\n"),
        ("```\n[no]: x\n```\n[a]: one", "```\n[no]: x\n```\n[a]: /new/one"),
        ('x <a class=b href="raw">y</a>', 'x <a class=b href="/new/raw">y</a>'),
        ("<IMG alt='' SRC='i.png'/>", "<IMG alt='' SRC=\"/new/i.png\"/>"),
        ("<img src=i.png> [a](b)", '<img src="/new/i.png"> [a](/new/b)'),
        ('<a href="x?a=1&amp;b=2">', '<a href="/new/x?a=1&amp;b=2">'),
        ('`x` <a href="y">`z`</a>', '`x` <a href="/new/y">`z`</a>'),
    ],
)
def test_targets_are_found_where_they_stand(text: str, expected: str) -> None:
    assert marked(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "[^1]: A footnote",
        "[^1]: footnote",
        "[note]: this is a sentence",
        "a line\n[note]: word",
        r"\[ref\]: x",
        r'\<a href="x">',
        '`<a href="x">` and ``[a]: b``',
        '```\n<a href="x">\n```',
        '<abbr href="x"> <a data-href="x"> <a>href="x"</a>',
        "    x ![a][b] [c] d]: e",
    ],
)
def test_what_only_looks_like_a_target_is_left(text: str) -> None:
    assert marked(text) == text


def test_a_target_in_angle_brackets_stands_in_a_tag_without_them() -> None:
    assert replace_targets('<a href="x">', lambda _: "<a (b)>") == '<a href="a (b)">'


PIECES = [
    "[",
    "]: ",
    "]:",
    "<a ",
    "<img ",
    "href=",
    "src=",
    '"',
    "'",
    ">",
    "x",
    " ",
    "\n",
    "`",
    "```",
    "\\",
    "^",
]


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_nothing_changes_where_nothing_is_replaced(text: str) -> None:
    assert replace_targets(text, lambda _: None) == text


def test_tags_and_definitions_without_end_are_read_once() -> None:
    bombs = ("<a ", "<a href", '<a href="', "<img src='", "[a]: ", "[" * 9 + "]:", "<a" + " " * 99, "[a]: x(")
    started = time.process_time()
    for bomb in bombs:
        for text in (bomb * 10_000, "\n".join([bomb] * 10_000), bomb + " x" * 50_000, bomb + "x" * 100_000):
            replace_targets(text, lambda _: None)
            list(image_targets(text))
    assert time.process_time() - started < 5


def test_the_markdown_of_a_site_has_no_relative_target_left() -> None:
    body = b'# T\n\n[a][r] [b](b.md) <a href="/raw">raw</a> <img src=i.png>\n\n[r]: ./t3.md\n'
    request = DigestRequest("https://e.org/d/p.md", body, "text/markdown", Kind.PAGE, Preset.MIRROR, True)
    digest = digest_page(request)
    assert isinstance(digest, PageDigest)
    assert digest.markdown == (
        '# T\n\n[a][r] [b](https://e.org/d/b.md) <a href="https://e.org/raw">raw</a> '
        '<img src="https://e.org/d/i.png">\n\n[r]: https://e.org/d/t3.md\n'
    )
