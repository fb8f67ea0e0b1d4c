"""Pages that say nothing without JavaScript are told from those that do, with a reason, in linear time."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.parse.page.javascript import needs_javascript

PAGES = Path(__file__).parents[1] / "pages"
SCRIPT = "<script src=/main.js></script>"
PROSE = "<p>" + "A sentence that can be read as it is. " * 10 + "</p>"


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        (f"<body><div id=root></div>{SCRIPT}", "an empty container #root"),
        (
            f"<header>{PROSE}</header><div id=root></div><footer>{PROSE}</footer>{SCRIPT}",
            "an empty container #root",
        ),
        (f"<nav>{PROSE}</nav><rapi-doc spec-url=a.json></rapi-doc>{SCRIPT}", "an empty element <rapi-doc>"),
        (f'<body><div class="x" id="__next"> \n </div>{SCRIPT}', "an empty container #__next"),
        (f"<body><DIV ID='App'></DIV>{SCRIPT}", "an empty container #app"),
        (f"<body><app-root></app-root>{SCRIPT}", "an empty element <app-root>"),
        (
            f"<noscript>Please enable JavaScript.</noscript><p>Loading…</p>{SCRIPT}",
            "a notice that JavaScript is needed",
        ),
        (
            f"<title>{'Long title ' * 40}</title><p>Loading</p>{SCRIPT}",
            "7 characters of text beside one script",
        ),
        (f"<style>{'x' * 999}</style><p>Hi</p>{SCRIPT}{SCRIPT}", "2 characters of text beside 2 scripts"),
        (f"<div id=root></div><script>{'var a = 1;' * 999}</script>", "an empty container #root"),
    ],
)
def test_shells(html: str, reason: str) -> None:
    assert needs_javascript(html.encode()) == reason


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<p>Short, and no script that could add to it.</p>",
        f"<div id=root></div>{PROSE}{SCRIPT}",
        f"<nav>{PROSE}</nav><header>{PROSE}</header>{SCRIPT}",
        f"<nav>{PROSE}</nav><div id=root><p>{PROSE}</p></div>{SCRIPT}",
        f"<body>{PROSE}{SCRIPT}<noscript>JavaScript makes this nicer.</noscript>",
        f"<nav>{'<a href=/x>x</a>' * 5}</nav>{SCRIPT}",
        "<div id=root></div><script type='application/ld+json'>{}</script>",
        "<meta http-equiv=refresh content='0;url=/new'><p>Moved.</p>",
        # A moved page that sends its readers on with and without scripts, as documentation generators write.
        f'<meta http-equiv="refresh" content="0;URL=../new.html"><p>Redirecting</p>{SCRIPT}',
        f'{SCRIPT}<noscript>JavaScript is off.<meta http-equiv="Refresh" content="0;new"></noscript>',
        # Short pages of generated reference documentation, with a search box that is a script.
        f"<h1>Member list of ink::stone</h1><p>This is the complete list.</p>{SCRIPT * 6}",
        f"<h1>Index</h1><a href=b.html>b</a>{SCRIPT * 6}",
    ],
)
def test_pages_that_can_be_read(html: str) -> None:
    assert needs_javascript(html.encode()) == ""


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.html")), ids=lambda path: path.stem)
def test_real_pages_are_left_alone(path: Path) -> None:
    assert needs_javascript(path.read_bytes()) == ""


@given(
    st.lists(
        st.sampled_from(
            ["<script", "<a href", "<", ">", "<!--", "-->", "</", "<x-y>", "noscript", "id=root", "text"]
        )
    )
)
def test_nothing_breaks_it_and_text_only_ever_helps(parts: list[str]) -> None:
    page = "".join(parts).encode()
    needs_javascript(page)
    assert needs_javascript(PROSE.encode() + page) == ""


@pytest.mark.parametrize(
    "piece",
    [
        "<script",
        "<!--",
        "<a href",
        "<noscript>",
        "<x-y ",
        "<",
        "<div id=root>",
        "<style>",
        "<div id=root id=root ",
    ],
)
def test_a_page_made_to_be_slow_is_read_all_the_same(piece: str) -> None:
    """Half a megabyte of beginnings without an end: in more than linear time this would take minutes."""
    needs_javascript((piece * (500_000 // len(piece))).encode())
