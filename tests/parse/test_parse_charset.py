"""Text comes out as its author wrote it: mark, header, declaration, then a look at the bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.digester import digest
from sumi.parse.page.text import charset_label, decode_text
from sumi.policy import Preset

RUSSIAN = "<title>Привет, мир: как дела сегодня</title>"


def page(body: bytes, content_type: str = "text/html") -> PageDigest:
    result = digest(
        DigestRequest("https://e.org/", body, content_type, Kind.PAGE, Preset.MIRROR, markdown=True)
    )
    assert isinstance(result, PageDigest)
    return result


@pytest.mark.parametrize(
    ("body", "content_type", "charset"),
    [
        (b"\xef\xbb\xbf" + RUSSIAN.encode(), "text/html; charset=koi8-r", "UTF-8"),
        (b"\xff\xfe" + RUSSIAN.encode("utf-16-le"), "text/html; charset=koi8-r", "UTF-16LE"),
        (RUSSIAN.encode("koi8-r"), "text/html; charset=KOI8-R", "KOI8-R"),
        (RUSSIAN.encode("koi8-r"), 'text/html; boundary=x; charset="koi8-r"', "KOI8-R"),
        (
            b"<meta charset=utf-8>" + RUSSIAN.encode("cp1251"),
            "text/html;charset=windows-1251",
            "windows-1251",
        ),
        (b"<meta charset=windows-1251>" + RUSSIAN.encode("cp1251"), "text/html", "windows-1251"),
        (b"<meta charset=windows-1251>" + RUSSIAN.encode("cp1251"), "text/html; charset=foo", "windows-1251"),
        (RUSSIAN.encode("cp1251"), "text/html", "windows-1251"),
        (RUSSIAN.encode(), "text/html", "UTF-8"),
        (RUSSIAN.encode(), "text/html; charset=foo", "UTF-8"),
        (RUSSIAN.encode("utf-16-le"), "text/html", "UTF-16LE"),
        (RUSSIAN.encode("utf-16-be"), "text/html", "UTF-16BE"),
        (RUSSIAN.encode("gb18030"), "text/html; charset=gb2312", "GBK"),
    ],
)
def test_the_right_text(body: bytes, content_type: str, charset: str) -> None:
    result = page(body, content_type)
    assert result.title == "Привет, мир: как дела сегодня"
    assert result.charset == charset


def test_latin1_is_what_browsers_take_it_for() -> None:
    assert page(b"<title>\x93quoted\x94</title>", "text/html; charset=iso-8859-1").title == "“quoted”"


@pytest.mark.parametrize(
    "body",
    [
        b"<p>a\x00b",
        b"<p>a&#0;b",
        b"<p>&#xD800;b",
        b"<p>\xed\xa0\x80b",
        b"<title>a\x00b</title>x",
        b"<p>cut \xe2\x82",
    ],
)
def test_no_nul_and_no_half_of_a_pair_gets_out(body: bytes) -> None:
    markdown = page(body, "text/html; charset=utf-8").markdown
    assert markdown is not None
    assert "\x00" not in markdown
    markdown.encode()


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("# Größe".encode(), "text/markdown", "# Größe"),
        ("# Größe".encode("latin-1"), "text/markdown; charset=latin1", "# Größe"),
        ("# Größe".encode("latin-1"), "text/markdown; charset=nonsense", "# Gr\ufffd\ufffde"),
        (b"\xef\xbb\xbf# x", "text/markdown; charset=koi8-r", "# x"),
        (b"a\x00b", "text/markdown", "a\ufffdb"),
    ],
)
def test_text_that_is_not_html(body: bytes, content_type: str, text: str) -> None:
    assert decode_text(body, content_type)[0] == text


@given(st.binary(max_size=200), st.text(max_size=80))
def test_any_bytes_under_any_header_decode(body: bytes, content_type: str) -> None:
    text, _ = decode_text(body, content_type)
    text.encode()
    charset_label(content_type, body)
    charset_label(f"text/html; charset={content_type}", body)
    decode_text(body, f"text/markdown; charset={content_type}")
