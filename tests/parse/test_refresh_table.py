"""The finer points of meta refresh, as browsers have agreed on them."""

import pytest

from sumi.parse.page.metadata import Refresh, parse_refresh


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("5", Refresh(5, "")),
        (" 5", Refresh(5, "")),
        ("5 ", Refresh(5, "")),
        ("007;url=a", Refresh(7, "a")),
        ("0.0001;url=a", Refresh(0, "a")),
        ("1.", Refresh(1, "")),
        (".", Refresh(0, "")),
        ("..;url=a", Refresh(0, "a")),
        ("1e3;url=a", None),
        ("0x1;url=a", None),
        ("१;url=a", None),
        ("1\n;\turl\f=\r a", Refresh(1, "a")),
        ("1;\n\n url=a", Refresh(1, "a")),
        ("1,,url=a", Refresh(1, ",url=a")),
        ("1,;url=a", Refresh(1, ";url=a")),
        ("1 ,url=a", Refresh(1, "a")),
        ("1 ; url = a b", Refresh(1, "a b")),
        ("1;uRl=a", Refresh(1, "a")),
        ("1;url =a", Refresh(1, "a")),
        ("1;url= 'a'", Refresh(1, "a")),
        ("1;url='a\"b'c", Refresh(1, 'a"b')),
        ('1;url="a\'b"c', Refresh(1, "a'b")),
        ("1;url='", Refresh(1, "")),
        ('1;"a"', Refresh(1, "a")),
        ("1;u", Refresh(1, "u")),
        ("1;ur=a", Refresh(1, "ur=a")),
        ("1;url:a", Refresh(1, "url:a")),
        ("1;urll=a", Refresh(1, "urll=a")),
        ("1;src=a", Refresh(1, "src=a")),
        ("1;=a", Refresh(1, "=a")),
        ("1;url==a", Refresh(1, "=a")),
        ("1;a;b", Refresh(1, "a;b")),
        ("1;url=a;url=b", Refresh(1, "a;url=b")),
        ("1;url=#top", Refresh(1, "#top")),
        ("1;url=?q", Refresh(1, "?q")),
        ("1:url=a", None),
        ("1/url=a", None),
        ("1'a'", None),
        ("a;url=b", None),
        (",url=a", None),
        (" ", None),
        ("99999999999999999999;url=a", Refresh(999_999_999, "a")),
    ],
)
def test_values(content: str, expected: Refresh | None) -> None:
    assert parse_refresh(content) == expected
