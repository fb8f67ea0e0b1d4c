"""The text of a body: its encoding, and what must not be kept of it.

The encoding is told by a byte-order mark, the header, a declaration within, then by what the bytes look like.
The HTML parser itself knows all of these but the header.

Some characters act on a reader instead of being read: escape sequences steer terminals, overrides and
isolates show text in another order than it has, and tags are read by programs and seen by nobody. What
languages need stays: joiners, marks of direction, soft hyphens, places where a long word may break.
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


# Escape, bell and the like become visible, as something stood there. What only reorders or hides is taken
# out, and the rest is shown in the order in which it is read.
_REPLACED: Final = "\x00-\x08\x0e-\x1f\x7f-\x9f"
_BLANKS: Final = "\x0b\x0c\u2028\u2029"
_HARMFUL: Final = re.compile(
    # The flags of England, Scotland and Wales are spelled in tags, and stay.
    "(?P<flag>\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f)"
    f"|(?P<replaced>[{_REPLACED}])|(?P<blank>[{_BLANKS}])|(?P<line>\r(?!\n))"
    "|[\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
# The same as bytes, each found by its beginning: ten times as fast, and nearly no page has any.
_CONTROLS: Final = bytes((*range(9), 11, 12, *range(14, 32), 127))
_SIGNS: Final = tuple(
    map(
        re.compile,
        (
            rb"\xc2[\x80-\x9f]",
            rb"\xe2\x80[\xa8-\xae]",
            rb"\xe2\x81[\xa6-\xaf]",
            rb"\xef\xbb\xbf",
            rb"\xef\xbf[\xb9-\xbb]",
            rb"\xf3\xa0[\x80\x81]",
        ),
    )
)


def harmless(text: str) -> str:
    """The text without characters that act on its reader. It must have no surrogates."""
    encoded = text.encode()
    plain = len(encoded.translate(None, _CONTROLS)) == len(encoded) and b"\r" not in encoded
    if plain and (encoded.isascii() or not any(sign.search(encoded) for sign in _SIGNS)):
        return text
    return _HARMFUL.sub(_made_harmless, text)


def _made_harmless(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "flag":
            return found[0]
        case "replaced":
            return "\ufffd"
        case "blank":
            return " "
        case "line":
            return "\n"
    return ""
