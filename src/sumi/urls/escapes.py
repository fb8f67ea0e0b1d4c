"""Percent-encoding of paths: which spellings are the same."""

import re
from typing import Final

_UNRESERVED: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_DECODED: Final = {f"{ord(char):02X}": char for char in _UNRESERVED}
_ESCAPE: Final = re.compile("%([0-9A-Fa-f]{2})")
_MALFORMED: Final = re.compile("%(?![0-9A-Fa-f]{2})")


def tidy_escapes(path: str) -> str:
    """Unreserved characters decoded, the other escapes in upper case.

    A path with a stray ``%`` is left as it is: there, decoding can put a new escape together
    (``%%32%65`` would become ``%2e``), and the same URL would have two identities.
    """
    if "%" not in path or _MALFORMED.search(path):
        return path
    return _ESCAPE.sub(_tidied, path)


def _tidied(escape: re.Match[str]) -> str:
    digits = escape[1].upper()
    return _DECODED.get(digits, "%" + digits)
