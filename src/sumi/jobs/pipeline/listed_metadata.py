"""What a discovery says of its page beyond what the crawler says: kept as JSON text, within a bound.

A page that is listed again keeps what was said before, key by key; what is said of one later counts.
"""

import json
from typing import Any, Final

MOST_CHARACTERS: Final = 16 * 1024
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def bounded(value: Any) -> tuple[str, str]:
    """As JSON, and what had to be left out, in words. Of an object the first keys that fit are kept."""
    text = _encode(value)
    if len(text) <= MOST_CHARACTERS:
        return text, ""
    kept: dict[str, Any] = {}
    room = MOST_CHARACTERS
    for key, item in value.items() if isinstance(value, dict) else ():
        size = len(_encode(key)) + len(_encode(item)) + 2
        if size <= room:
            kept[key] = item
            room -= size
    words = f"of its metadata only {MOST_CHARACTERS:,} characters are kept"
    return _encode(kept) if kept else "", words


def merged(earlier: str, later: str) -> str:
    if not earlier or not later:
        return later or earlier
    before, after = json.loads(earlier), json.loads(later)
    if not isinstance(before, dict) or not isinstance(after, dict):
        return later
    # What was said last goes first, so that it is what fits.
    return bounded({**after, **{key: item for key, item in before.items() if key not in after}})[0]
