"""When a page is worth asking for again, by how often it changed before. The times of its changes are all
that is needed: nothing is stored for it.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

# The last changes that count: a page that was busy a year ago need not be busy now.
_RECENT: Final = 5


class RevisitBounds(msgspec.Struct, frozen=True):
    least: float = 12 * 3600.0  # seconds
    most: float = 30 * 86_400.0


def ask_again_at(asked: float, seen: Sequence[float], bounds: RevisitBounds) -> float:
    """``asked``: when the page was last asked for. ``seen``: when each of its versions was first seen, the
    oldest first, the first one included.

    Half the time between changes that the recent ones suggest, counting one that is yet to come: a page that
    never changed is asked at times that grow by half.
    """
    recent = seen[-_RECENT:]
    if not recent:
        return asked
    changes = len(recent) - 1
    pause = (asked - recent[0]) / (2 * (changes + 1))
    return asked + min(max(pause, bounds.least), bounds.most)
