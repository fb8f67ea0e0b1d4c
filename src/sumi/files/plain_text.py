"""Text from the web, made safe for files that are read line by line, by YAML and JSON parsers and by people.

Control characters break lines and columns and control terminals; bidi marks make text look like other text;
lone surrogates cannot be encoded. Values keep their meaning: what can be escaped is escaped, the rest is
replaced visibly.
"""

import json
import re
from datetime import UTC, datetime
from urllib.parse import quote

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_NOT_TEXT = re.compile("[\ud800-\udfff\ufffe\uffff]")
_ESCAPED = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029{_BIDI}\ud800-\udfff\ufffe\uffff]")
_DIRECTIONS = re.compile(f"[{_BIDI}]")
_MARKDOWN_SYNTAX = re.compile(r"([\\`*_\[\]<>&|~!#$])")
_encode = json.JSONEncoder(ensure_ascii=False).encode  # ``json.dumps`` would make an encoder per call
_URL_CHARACTERS = ":/?#[]@!$&'()*+,;=%-._~"


def one_line(text: str, limit: int = 0) -> str:
    """Without control characters, all of it encodable; at most ``limit`` characters (0: any number)."""
    # Fast path, here and below: printable text needs no cleaning, and nearly all text is printable.
    clean = (text if text.isprintable() else _NOT_TEXT.sub("\ufffd", _CONTROLS.sub(" ", text))).strip()
    if not limit or len(clean) <= limit:
        return clean
    return clean[: limit - 1].rstrip() + "…"


def visible(text: str) -> str:
    """One line, one column: characters that affect a terminal or a parser are shown as escapes."""
    return text if text.isprintable() else _ESCAPED.sub(_escape, text)


def quoted(text: str) -> str:
    """A double-quoted string that JSON and YAML read back as exactly this text (if it is encodable)."""
    if text.isprintable():
        return _encode(text)
    return escape_marks(_encode(_NOT_TEXT.sub("\ufffd", text)))


def escape_marks(encoded: str) -> str:
    """JSON text in which the characters are escaped that JSON allows, but YAML or a terminal does not."""
    return encoded if encoded.isprintable() else _ESCAPED.sub(_escape, encoded)


def markdown_text(text: str, limit: int = 200) -> str:
    """Text that Markdown shows literally, inside a link or a list item."""
    return _MARKDOWN_SYNTAX.sub(r"\\\1", _DIRECTIONS.sub("", one_line(text, limit)))


def markdown_url(url: str) -> str:
    """A URL as an autolink that nothing in the URL can end."""
    return f"<{quote(url, safe=_URL_CHARACTERS, errors='replace')}>"


def markdown_target(path: str) -> str:
    """A relative file path as the target of a Markdown link."""
    return quote(path, safe="/", errors="replace")


def iso_utc(at: float) -> str:
    return datetime.fromtimestamp(int(at), UTC).isoformat().removesuffix("+00:00") + "Z"


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def front_matter(**fields: str | None) -> str:
    """A block of YAML with its ``---`` lines, without fields that have no value. Every value is a quoted
    string, so that none can become a key, a tag or the end of the block."""
    lines = [f"{key}: {quoted(one_line(value))}\n" for key, value in fields.items() if value is not None]
    return "".join(("---\n", *lines, "---\n"))
