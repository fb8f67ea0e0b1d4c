"""A body is taken for a page by its declared type, or by its first bytes where the type says nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.parse.page.media_type import Form, form_of, media_type

HTML = b"<!DOCTYPE html><title>x</title>"


@pytest.mark.parametrize(
    ("content_type", "body", "form"),
    [
        ("text/html", b"", Form.HTML),
        ("Text/HTML ; charset=utf-8", b"just words", Form.HTML),
        ("application/xhtml+xml", HTML, Form.HTML),
        ("", HTML, Form.HTML),
        ("nonsense", HTML, Form.HTML),
        ("application/octet-stream", b"  \n<HTML lang=en>", Form.HTML),
        ("text/plain", b"\xef\xbb\xbf<!-- x -->", Form.HTML),
        ("text/plain", b"<p>x", Form.HTML),
        ("", b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x" "y"><html xmlns="x">', Form.HTML),
        ("text/plain", b"<pre>x", Form.OTHER),
        ("text/plain", b"Dear all", Form.OTHER),
        ("", b"", Form.OTHER),
        ("", b'<?xml version="1.0"?><rss/>', Form.OTHER),
        ("text/markdown; charset=utf-8", b"# x", Form.MARKDOWN),
        ("application/pdf", b"%PDF-1.7", Form.OTHER),
        ("text/html", b"%PDF-1.7", Form.OTHER),
        ("text/html", b"\x89PNG\r\n\x1a\n", Form.OTHER),
        ("image/png", HTML, Form.OTHER),
    ],
)
def test_forms(content_type: str, body: bytes, form: Form) -> None:
    assert form_of(content_type, body)[0] is form


def test_the_reason_is_in_words() -> None:
    assert form_of("Application/PDF; x=y", b"")[1] == "content type application/pdf"
    assert form_of("", b"\x00\x01")[1] == "content type not given"
    assert form_of("text/html", b"%PDF-1.7")[1] == "content type text/html, but the content is PDF"


@given(st.text(max_size=100), st.binary(max_size=100))
def test_anything_gets_an_answer(content_type: str, body: bytes) -> None:
    form, why = form_of(content_type, body)
    assert bool(why) == (form is Form.OTHER)
    assert media_type(content_type) == media_type(f"{content_type.partition(';')[0]};x=y")
