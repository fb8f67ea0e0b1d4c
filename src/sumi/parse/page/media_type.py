"""Is this body a page? By its declared type, and by its first bytes where the type says nothing."""

import re
from enum import StrEnum
from typing import Final


class Form(StrEnum):
    HTML = "html"
    MARKDOWN = "markdown"
    OTHER = "other"


_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_MARKDOWN_TYPES: Final = frozenset({"text/markdown", "text/x-markdown"})
# Servers send these for files whose type they do not know.
_UNSPECIFIC_TYPES: Final = frozenset({"", "application/octet-stream", "text/plain", "unknown/unknown"})

# The tags by which the MIME Sniffing standard knows HTML, after white space and before a blank or ">".
_HTML_START: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?[\t\n\x0c\r ]*"
    rb"(?:<!--|<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[ >])",
    re.IGNORECASE,
)
_XHTML_START: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*<\?xml[^>]{0,256}\?>.{0,1024}?<html[\s>]", re.IGNORECASE | re.DOTALL
)

# What some servers call text/html all the same; parsed as such these would be pages of rubbish.
_BINARY_STARTS: Final = (
    (b"%PDF-", "PDF"),
    (b"PK\x03\x04", "ZIP"),
    (b"\x89PNG\r\n", "PNG"),
    (b"GIF8", "GIF"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x1f\x8b\x08", "gzip"),
)


def media_type(content_type: str) -> str:
    """``text/html`` out of ``Text/HTML; charset=x``; "" for a value that is no media type."""
    essence = content_type[:256].partition(";")[0].strip().lower()
    return essence if "/" in essence else ""


def is_unspecific(content_type: str) -> bool:
    """Whether only the content itself can tell what it is."""
    return media_type(content_type) in _UNSPECIFIC_TYPES


def form_of(content_type: str, body: bytes) -> tuple[Form, str]:
    """The form, and where it is OTHER the words for why."""
    declared = media_type(content_type)
    if declared in _MARKDOWN_TYPES:
        return Form.MARKDOWN, ""
    if declared in _HTML_TYPES:
        return _unless_binary(declared, body)
    if declared in _UNSPECIFIC_TYPES and looks_like_html(body):
        return Form.HTML, ""
    return Form.OTHER, f"content type {declared or 'not given'}"


def looks_like_html(body: bytes) -> bool:
    return _HTML_START.match(body) is not None or _XHTML_START.match(body[:2048]) is not None


def _unless_binary(declared: str, body: bytes) -> tuple[Form, str]:
    for start, name in _BINARY_STARTS:
        if body.startswith(start):
            return Form.OTHER, f"content type {declared}, but the content is {name}"
    return Form.HTML, ""
