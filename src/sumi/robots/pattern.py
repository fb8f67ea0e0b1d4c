"""Paths of rules and of URLs in one spelling, and the matching of one against the other in linear time.

Two spellings of the same octet compare equal: ``%7E`` and ``~``, a raw ``é`` and ``%C3%A9``. Reserved
characters do not: ``%2F`` is no ``/``. In a URL, ``*`` and ``$`` are spelled ``%2A`` and ``%24``, so that
what is special in a rule and what is plain in a URL are never the same character.
"""

import re
from typing import NamedTuple

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# Everything but unreserved characters and the reserved ones that mean nothing to robots.txt.
_TO_RESPELL = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~:/?#\[\]@!&'()+,;=-]")


def comparable_path(path_and_query: str) -> str:
    """A URL's path and query in the spelling that rules are compared in; always begins with a slash."""
    octets = path_and_query
    if not octets.isascii():
        octets = octets.encode("utf-8", "surrogatepass").decode("latin-1")
    spelled = _TO_RESPELL.sub(_respell, octets)
    return spelled if spelled[:1] == "/" else "/" + spelled


def _respell(found: re.Match[str]) -> str:
    text = found[0]
    if len(text) == 1:
        return f"%{ord(text):02X}"
    character = chr(int(text[1:], 16))
    return character if character in _UNRESERVED else text.upper()


class Pattern(NamedTuple):
    """A rule's path: literal pieces with anything in between, from the beginning, perhaps to the very end.

    ``middle`` are the pieces to be found one after the other behind ``head``. If ``anchored``, the path must
    end with ``tail``, behind all of them.
    """

    head: str
    middle: tuple[str, ...]
    tail: str
    anchored: bool
    starred: bool
    octets: int  # length of the whole, stars and anchor included: the longest match decides

    @property
    def longest_piece(self) -> str:
        """Behind the head. A path without it cannot match."""
        return max((*self.middle, self.tail), key=len)

    def matches_behind_head(self, path: str) -> bool:
        """Whether a path that begins with ``head`` matches. Leftmost finds suffice, hence no backtracking."""
        at = len(self.head)
        for piece in self.middle:
            found = path.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        return not self.anchored or (len(path) - len(self.tail) >= at and path.endswith(self.tail))


def parse_pattern(value: bytes) -> Pattern | None:
    """None where the value can match no path: it is empty, or begins with neither slash nor star."""
    if value[:1] not in (b"/", b"*"):
        return None
    anchored = value.endswith(b"$")
    text = value.decode("latin-1")
    pieces = [_TO_RESPELL.sub(_respell, piece) for piece in text[: len(text) - anchored].split("*")]
    head, *rest = pieces
    tail = rest.pop() if rest and anchored else ""
    return Pattern(
        head=head,
        middle=tuple(piece for piece in rest if piece),
        tail=tail,
        anchored=anchored,
        starred=len(pieces) > 1,
        octets=sum(map(len, pieces)) + len(pieces) - 1 + anchored,
    )
