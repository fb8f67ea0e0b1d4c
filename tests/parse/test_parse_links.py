"""Links to pages are found wherever they are, absolute, distinct and in order; other addresses are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.policy import Preset


def links(html: str, *, limit: int = 5000) -> PageDigest:
    result = digest(
        DigestRequest(
            "https://e.org/dir/page.html",
            html.encode(),
            "text/html",
            Kind.PAGE,
            Preset.MIRROR,
            max_links=limit,
        )
    )
    assert isinstance(result, PageDigest)
    return result


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<nav><a href=a>x</a></nav><a href=/b>y</a><footer><a href=//o.org/c>z</a></footer>",
         ["https://e.org/dir/a", "https://e.org/b", "https://o.org/c"]),
        ("<map><area href=m></map>", ["https://e.org/dir/m"]),
        ("<a rel=nofollow href=a>x</a>", ["https://e.org/dir/a"]),
        ("<a href=a#x>x</a><a href=a#y>y</a><a href=./a>z</a>", ["https://e.org/dir/a"]),
        ("<a href=f.zip download>x</a><a href=g download=h>y</a>", []),
        ("<a href='javascript:x'>x</a><a href=' JavaScript:x'>x</a><a href='data:text/html,x'>x</a>", []),
        ("<a href=mailto:a@b>m</a><a href=tel:1>t</a><a href=ftp://e.org/x>f</a>", []),
        ("<a>none</a><a href='http://[bad'>b</a>", []),
        ("<link rel=stylesheet href=s.css><script src=s.js></script><img src=i.png>", []),
        ("<iframe src=inner.html></iframe>", []),
        ("<frameset><frame src=left.html><frame src=right.html></frameset>",
         ["https://e.org/dir/left.html", "https://e.org/dir/right.html"]),
        ("<base href=/other/><base href=/second/><a href=a>x</a>", ["https://e.org/other/a"]),
        ("<base href='javascript:x'><a href=a>x</a>", ["https://e.org/dir/a"]),
        ("<base href='data:x'><a href=a>x</a>", ["https://e.org/dir/a"]),
        ("<base target=_blank><base href=/other/><a href=a>x</a>", ["https://e.org/other/a"]),
    ],
)  # fmt: skip
def test_what_is_a_link(html: str, expected: list[str]) -> None:
    assert links(html).links == expected


def test_canonical_is_told_apart_from_links() -> None:
    page = links("<link rel='x Canonical' href='/c?b=1#f'><link rel=canonical href=/d>")
    assert (page.canonical, page.links) == ("https://e.org/c?b=1", [])
    assert links("<link rel=canonical href='mailto:x'>").canonical is None


def test_beyond_the_limit_links_are_counted() -> None:
    page = links("".join(f"<a href=p{n}>x</a>" for n in range(25)), limit=10)
    assert page.links == [f"https://e.org/dir/p{n}" for n in range(10)]
    assert page.links_dropped == 15


def test_spellings_of_one_page_do_not_use_up_the_limit() -> None:
    spellings = "".join(f"<a href='./{'./' * n}a'>x</a>" for n in range(20))
    page = links(spellings + "<a href=b>x</a>", limit=2)
    assert page.links == ["https://e.org/dir/a", "https://e.org/dir/b"]
    assert page.links_dropped == 0


@given(st.lists(st.text(max_size=30), max_size=20), st.integers(0, 8))
def test_any_hrefs(hrefs: list[str], limit: int) -> None:
    attributes = [href.replace("&", "&amp;").replace('"', "&quot;") for href in hrefs]
    page = links("".join(f'<a href="{href}">x</a>' for href in attributes), limit=limit)
    assert len(page.links) <= limit
    assert len(set(page.links)) == len(page.links)
    assert all(link.startswith(("http://", "https://")) for link in page.links)
    assert page.links_dropped >= 0
