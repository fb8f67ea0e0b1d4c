"""From the bytes of a robots.txt to its meaningful lines, as tolerant as the large search engines are."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

# Google's bound: eight times the longest URL of common browsers. What is beyond it on a line is not read.
MAX_LINE = 8 * 2083


class Field(StrEnum):
    """The lines that mean something. The value is how a rule is quoted to the user."""

    USER_AGENT = "User-agent"
    ALLOW = "Allow"
    DISALLOW = "Disallow"
    CRAWL_DELAY = "Crawl-delay"
    SITEMAP = "Sitemap"
    CONTENT_SIGNAL = "Content-Signal"


class Line(NamedTuple):
    field: Field
    value: bytes


# The spellings are those that Google's parser accepts, and like there only the beginning of a name counts,
# which takes "Disallowed:" and "Sitemaps:" along.
_LINE = re.compile(
    rb"""(?: (?P<USER_AGENT> user[- ]?agent )
           | (?P<DISALLOW> dis{1,2}al{1,2}ow | disallaw | diasllow )
           | (?P<ALLOW> allow )
           | (?P<CRAWL_DELAY> crawl[- ]?delay )
           | (?P<SITEMAP> site-?map )
           | (?P<CONTENT_SIGNAL> content-signal )
         ) [a-z-]*
         (?: [ \t]* (?P<colon> : ) | [ \t] )
         (?P<value> .* )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_UTF16_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
# Also the first one or two bytes of the mark alone: editors have been seen to leave those.
_UTF8_MARK = re.compile(rb"\xef(?:\xbb\xbf?)?")
_HTML = re.compile(rb"\s*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_WHITESPACE = b" \t\v\f"
# What editors, word processors and web forms leave behind, and nobody sees. The last is a no-break space of
# Latin-1, as read in UTF-8. Google's parser strips ASCII only; no path is meant to end with these.
_INVISIBLE = (
    " \t\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u180e\u2028\u2029\u202f\u205f\u2060\u3000\ufeff\udca0"
    + "".join(map(chr, range(0x2000, 0x200C)))
)


def is_web_page(body: bytes) -> bool:
    """Whether a page came in place of the file, as servers send that answer everything with one."""
    return _HTML.match(_as_utf8(body[:MAX_LINE])) is not None


def meaningful_lines(body: bytes, max_bytes: int) -> Iterator[Line]:
    """The lines whose field is known, within the first ``max_bytes``; a line that the limit cuts is left out.

    A web page in place of the file has none, whatever it says.
    """
    if is_web_page(body):
        return
    text = _as_utf8(body[:max_bytes])
    lines = text.splitlines()
    if lines and _last_line_is_cut(body, max_bytes):
        lines.pop()
    for line in lines:
        parsed = _parsed(line[:MAX_LINE])
        if parsed is not None:
            yield parsed


def _as_utf8(body: bytes) -> bytes:
    encoding = _UTF16_MARKS.get(body[:2])
    if encoding is not None:
        return body[2:].decode(encoding, "replace").encode()
    # Without its mark, UTF-16 is ASCII with a NUL beside each character; elsewhere a NUL means nothing.
    plain = body.replace(b"\0", b"")
    mark = _UTF8_MARK.match(plain)
    return plain[mark.end() :] if mark else plain


def _last_line_is_cut(body: bytes, max_bytes: int) -> bool:
    around_the_cut = body[max(max_bytes - 1, 0) : max_bytes + 1]
    return len(body) > max_bytes and not any(end in around_the_cut for end in b"\r\n")


def _parsed(line: bytes) -> Line | None:
    content = _stripped(line.partition(b"#")[0])
    if not content.isascii():
        before, colon, behind = content.partition(b":")
        content = _stripped(before) + colon + behind
    match = _LINE.match(content)
    if match is None:
        return None
    value = _stripped(match["value"])
    if match["colon"] is None and len(value.split()) != 1:
        return None  # a forgotten colon is forgiven where exactly two words leave no doubt
    name = next(field for field in Field.__members__ if match[field] is not None)
    return Line(Field[name], value)


def _stripped(text: bytes) -> bytes:
    text = text.strip(_WHITESPACE)
    if text.isascii():
        return text
    return text.decode("utf-8", "surrogateescape").strip(_INVISIBLE).encode("utf-8", "surrogateescape")
