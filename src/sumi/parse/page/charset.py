"""Which encoding a body is in: byte-order mark, header, declaration within, then what the bytes look like.

The HTML parser itself knows byte-order marks, ``<meta>`` declarations and detection; what it cannot know is
what the header said.
"""

import re
from typing import Final

from sumi.parse.html import decode_bytes

_CHARSET_PARAM: Final = re.compile(r";\s*charset\s*=\s*(\"([^\"]{1,64})\"|([^\s;\"]{1,64}))", re.IGNORECASE)

# A quoted or bare "charset" parameter is looked for in this much of a header; the rest is noise.
_HEADER_CHARS: Final = 1024


def charset_label(content_type: str, body: bytes) -> str | None:
    """The label the parser should go by, or None where it should look for itself."""
    match = _CHARSET_PARAM.search(content_type[:_HEADER_CHARS])
    if match is not None:
        return (match[2] or match[3]).strip("' ")
    return _bare_utf16(body)


def _bare_utf16(body: bytes) -> str | None:
    """UTF-16 without a mark: every document starts with ``<``, and no other encoding puts a NUL beside it."""
    start = body[:2]
    if start == b"<\x00":
        return "utf-16le"
    return "utf-16be" if start == b"\x00<" else None


def decode_text(body: bytes, content_type: str) -> tuple[str, str]:
    """Text that is not HTML, and its encoding: UTF-8 unless a mark or the header says otherwise."""
    label = _marked(body) or charset_label(content_type, body) or "utf-8"
    text = decode_bytes(body, label)
    if text is None:
        label, text = "utf-8", body.decode("utf-8", "replace")
    return clean(text.removeprefix("\ufeff")), label.lower()


def _marked(body: bytes) -> str | None:
    if body.startswith(b"\xef\xbb\xbf"):
        return "utf-8"
    if body.startswith(b"\xff\xfe"):
        return "utf-16le"
    return "utf-16be" if body.startswith(b"\xfe\xff") else None


_UNWRITABLE: Final = re.compile("[\x00\ud800-\udfff]")


def clean(text: str) -> str:
    """Text that any file or database takes: no NUL, no half of a surrogate pair."""
    try:
        encoded = text.encode()  # much faster than searching for halves, and for NULs than to search the text
    except UnicodeEncodeError:
        return _UNWRITABLE.sub("\ufffd", text)
    return text.replace("\x00", "\ufffd") if b"\x00" in encoded else text
