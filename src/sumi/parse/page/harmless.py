"""Text of a page without what acts on its reader instead of being read.

Escape sequences steer terminals, overrides and isolates show text in another order than it has, and tags are
read by programs and seen by nobody. What languages need stays: joiners, marks of direction, soft hyphens,
places where a long word may break.
"""

import re
from typing import Final

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
    """For text without surrogates; itself, where there is nothing to do."""
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
