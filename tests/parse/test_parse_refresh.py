"""A meta refresh is read as browsers read it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.parse.page.metadata import Refresh, parse_refresh
from sumi.policy import Preset


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", None),
        ("1", Refresh(1, "")),
        ("1;", Refresh(1, "")),
        ("1; ", Refresh(1, "")),
        ("1;url=foo", Refresh(1, "foo")),
        ("1; url=foo", Refresh(1, "foo")),
        ("1 ;url=foo", Refresh(1, "foo")),
        ("1,url=foo", Refresh(1, "foo")),
        ("1 url=foo", Refresh(1, "foo")),
        ("1\turl = foo", Refresh(1, "foo")),
        ("1;URL=foo", Refresh(1, "foo")),
        ("1;foo", Refresh(1, "foo")),
        ("1; 'foo'bar", Refresh(1, "foo")),
        ('1;url="foo" bar', Refresh(1, "foo")),
        ('1;url="foo', Refresh(1, "foo")),
        ("1;url=''", Refresh(1, "")),
        ("1;ur", Refresh(1, "ur")),
        ("1;url", Refresh(1, "url")),
        ("1;url foo", Refresh(1, "url foo")),
        ("1;url=url=foo", Refresh(1, "url=foo")),
        ("1.9;url=foo", Refresh(1, "foo")),
        ("1...2.3;url=foo", Refresh(1, "foo")),
        (".5;url=foo", Refresh(0, "foo")),
        ("\f\n 2; foo", Refresh(2, "foo")),
        ("1;;foo", Refresh(1, ";foo")),
        ("-1;url=foo", None),
        ("+1;url=foo", None),
        ("1x;url=foo", None),
        (";url=foo", None),
        ("url=foo", None),
        ("\x0b1;foo", None),
        ("x", None),
    ],
)
def test_values(content: str, expected: Refresh | None) -> None:
    assert parse_refresh(content) == expected


@pytest.mark.parametrize(
    ("meta", "target"),
    [
        ('<meta http-equiv="Refresh" content="0; url=/new?x=1">', "https://e.org/new?x=1"),
        ('<base href="https://o.org/a/"><meta http-equiv=refresh content="0;url=b">', "https://o.org/a/b"),
        ('<meta http-equiv=refresh content="30;url=/next">', None),
        ('<meta http-equiv=refresh content="0;url=/page">', None),
        ('<meta http-equiv=refresh content="0">', None),
        ('<meta http-equiv=refresh content="0;url=javascript:alert(1)">', None),
        (
            '<meta http-equiv=refresh content="x"><meta http-equiv=refresh content="1;url=/b">',
            "https://e.org/b",
        ),
    ],
)
def test_the_target_is_where_a_reader_would_be_taken_at_once(meta: str, target: str | None) -> None:
    result = digest(DigestRequest("https://e.org/page", meta.encode(), "text/html", Kind.PAGE, Preset.MIRROR))
    assert isinstance(result, PageDigest)
    assert result.refresh == target


def test_a_page_that_gives_time_to_read_it_has_a_link_more() -> None:
    html = b'<a href=/a>x</a><meta http-equiv=refresh content="30;url=/next">'
    result = digest(DigestRequest("https://e.org/page", html, "text/html", Kind.PAGE, Preset.MIRROR))
    assert isinstance(result, PageDigest)
    assert result.links == ["https://e.org/a", "https://e.org/next"]


def test_a_target_is_requested_as_it_was_written() -> None:
    html = b'<meta http-equiv=refresh content="0;url=/next?b=2&a=1">'
    result = digest(DigestRequest("https://e.org/page", html, "text/html", Kind.PAGE, Preset.CAPTURE))
    assert isinstance(result, PageDigest)
    assert result.refresh == "https://e.org/next?a=1&b=2"
    assert result.addresses == {result.refresh: "https://e.org/next?b=2&a=1"}


@given(st.text())
def test_any_value_is_read_without_fuss(content: str) -> None:
    refresh = parse_refresh(content)
    assert refresh is None or refresh.seconds >= 0
