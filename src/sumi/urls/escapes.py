"""Percent-encoding of paths and queries: which spellings are the same."""

import re
from typing import Final

_UNRESERVED: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_DECODED: Final = {f"{ord(char):02X}": char for char in _UNRESERVED}
_ESCAPE: Final = re.compile("%([0-9A-Fa-f]{2})")
_STRAY: Final = re.compile("%(?![0-9A-Fa-f]{2})")


def tidy_escapes(text: str) -> str:
    """Unreserved characters decoded, the other escapes in upper case, a stray ``%`` escaped.

    A stray one left as it is could become part of a new escape when its neighbours are decoded (``%%32%65``
    would become ``%2e``), and the same URL would have two identities.
    """
    if "%" not in text:
        return text
    return _ESCAPE.sub(_tidied, _STRAY.sub("%25", text))


def _tidied(escape: re.Match[str]) -> str:
    digits = escape[1].upper()
    return _DECODED.get(digits, "%" + digits)
