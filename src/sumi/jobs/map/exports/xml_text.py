"""Text from the web as XML text: titles and URLs may hold anything, the file must still be well-formed."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import BinaryIO, Final

# What XML 1.0 cannot hold at all, not even escaped; shown as the replacement character.
_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPECIAL = re.compile('[&<>"\t\n\r]')
_ORDINARY = re.compile("[ !#-%'-;=?-~]*")  # nearly every value: one look, and nothing is copied
# White space too: a reader turns it into blanks within an attribute, and drops \r anywhere.
_ESCAPES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"} | {
    char: f"&#{ord(char)};" for char in "\t\n\r"
}

_LINES_AT_ONCE: Final = 10_000


def xml_text(value: object) -> str:
    """Fit for an attribute in double quotes and for the content of an element."""
    text = str(value)
    if _ORDINARY.fullmatch(text):
        return text
    return _SPECIAL.sub(_escape, _IMPOSSIBLE.sub("\ufffd", text))


def _escape(match: re.Match[str]) -> str:
    return _ESCAPES[match[0]]


def write_lines(file: BinaryIO, lines: Iterable[str]) -> None:
    """Each with an end of line; in batches, since a call for each of ten million would cost most."""
    rest = iter(lines)
    while batch := list(islice(rest, _LINES_AT_ONCE)):
        file.write(("\n".join(batch) + "\n").encode())
