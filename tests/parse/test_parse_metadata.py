"""What a page says about itself is read as its author meant it."""

import pytest

from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.policy import Preset


def page(html: str) -> PageDigest:
    result = digest(DigestRequest("https://e.org/p", html.encode(), "text/html", Kind.PAGE, Preset.MIRROR))
    assert isinstance(result, PageDigest)
    return result


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A\n  title &amp; more </title><h1>Other</h1>", "A title & more"),
        ("<meta property=og:title content='From  OG'><h1>Heading</h1>", "From OG"),
        ("<title> </title><h1></h1><h1>Heading <b>one</b></h1>", "Heading one"),
        ("<svg><title>icon</title></svg><title>Page</title>", "Page"),
        ("<svg><title>icon</title></svg>", None),
        ("", None),
        ("<title>" + "x" * 5000 + "</title>", "x" * 1000),
    ],
)
def test_title(html: str, title: str | None) -> None:
    assert page(html).title == title


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=de-AT>", "de-AT"),
        ("<html lang=' fr '>", "fr"),
        ("<html xml:lang=it>", "it"),
        ("<html lang=''>", None),
        ("<p lang=en>x", None),
    ],
)
def test_language(html: str, language: str | None) -> None:
    assert page(html).language == language


@pytest.mark.parametrize(
    ("html", "description"),
    [
        ("<meta name=Description content=' a\n b '><meta property=og:description content=c>", "a b"),
        ("<meta property=og:description content=c>", "c"),
        ("<meta name=description><meta name=description content=x>", "x"),
        ("<meta name=keywords content=x>", None),
    ],
)
def test_description(html: str, description: str | None) -> None:
    assert page(html).description == description


def test_robots_of_everybody_and_of_us_are_joined() -> None:
    html = (
        "<meta name=ROBOTS content='noindex, nofollow'><meta name=sumi content=noarchive>"
        "<meta name=otherbot content=none>"
    )
    assert page(html).robots_meta == "noindex, nofollow, noarchive"
    assert page("<p>x").robots_meta is None
