"""What a document is made of, once it is read."""

import re
from html import escape
from typing import Final

import msgspec

MOST_CHARACTERS: Final = 20_000_000  # of a document's HTML
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"'()\[\]{}]*[^\s<>\"'()\[\]{}.,;:!?]")


class Document(msgspec.Struct, frozen=True):
    """``html`` is the inside of a body."""

    html: str
    title: str = ""
    language: str = ""
    share: float = 1.0  # of its pages, how much has text
    shortfalls: list[str] = []
    problem: str = ""  # why it is not whole


class Unreadable(Exception):
    """Why a document cannot be read, in a few words. Whatever is wrong with one is of this kind."""


def linked(text: str) -> str:
    """Text as HTML, with its addresses as links."""
    parts: list[str] = []
    end = 0
    for found in _ADDRESS.finditer(text):
        address = escape(found[0])
        parts += [escape(text[end : found.start()]), f'<a href="{address}">{address}</a>']
        end = found.end()
    return "".join(parts) + escape(text[end:])
