"""The bytes of an XML file as text that an XML parser will not choke on for a trifle.

A sitemap is made by a program that somebody wrote in an afternoon. Its declared encoding may be wrong, there
may be control characters, and very often a URL's ``&`` is not escaped. None is worth losing pages for.
"""

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
_DECLARED = re.compile(rb"\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_.:-]{1,40})[\"']")
# Charsets that keep ASCII where it is: the declaration itself could be read. A closed list, because the names
# that Python knows include transformations which are no charsets.
_CHARSETS = re.compile(
    r"(?:us-)?ascii|latin-?1|iso-?8859-\d{1,2}|(?:windows|cp)-?125\d|koi8-[ru]|shift_?jis|euc-(?:jp|kr)"
    r"|gb2312|gbk|gb18030|big5",
    re.IGNORECASE,
)

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_CDATA, _CDATA_END = "<![CDATA[", "]]>"
# What the next piece may complete: the beginning of a reference, of a CDATA section, or of its end.
_UNFINISHED = re.compile(r"(?:[<&][^<&>;\s]{0,10}|\]{1,2})\Z")
_LONELY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});)")
_NUMBERED = re.compile(r"&#(?:x([0-9A-Fa-f]{1,6})|([0-9]{1,7}));")


def sniff_encoding(head: bytes) -> str:
    """A byte order mark decides, then the declaration if it can be believed, then UTF-8."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    declared = _DECLARED.match(head)
    name = declared[1].decode("ascii") if declared else ""
    if not _CHARSETS.fullmatch(name):
        return "utf-8"
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "utf-8"


class XmlMender:
    """Text in, text out, piece by piece, without illegal characters and with lonely ampersands escaped.

    An unknown ``&name;`` becomes text like that, too: nothing is looked up, nothing expands.
    """

    def __init__(self) -> None:
        self._waiting = ""
        self._in_cdata = False

    def feed(self, text: str) -> str:
        text = self._waiting + _ILLEGAL.sub("\ufffd", text)
        unfinished = _UNFINISHED.search(text, max(len(text) - 11, 0))
        end = unfinished.start() if unfinished else len(text)
        self._waiting = text[end:]
        return self._mended(text[:end])

    def close(self) -> str:
        rest, self._waiting = self._waiting, ""
        return self._mended(rest)

    def _mended(self, text: str) -> str:
        if not self._in_cdata and _CDATA not in text:
            return _escaped(text)
        parts, at = [], 0
        while at < len(text):
            border = _CDATA_END if self._in_cdata else _CDATA
            found = text.find(border, at)
            end = len(text) if found < 0 else found + len(border)
            parts.append(text[at:end] if self._in_cdata else _escaped(text[at:end]))
            self._in_cdata ^= found >= 0
            at = end
        return "".join(parts)


def _escaped(text: str) -> str:
    if "&" not in text:
        return text
    return _NUMBERED.sub(_legal_reference, _LONELY.sub("&amp;", text))


def _legal_reference(reference: re.Match[str]) -> str:
    hexadecimal, decimal = reference.groups()
    code = int(hexadecimal, 16) if hexadecimal else int(decimal)
    legal = code <= 0x10FFFF and not _ILLEGAL.match(chr(code))
    return reference[0] if legal else "\ufffd"
