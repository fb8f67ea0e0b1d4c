"""When a sitemap says that a page was last changed."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
# A day begins and ends at another time for everybody: the last moment that it is anywhere on Earth.
_FURTHEST_WEST: Final = timedelta(hours=12)
_DAY_ENDS: Final = timedelta(days=1) + _FURTHEST_WEST


def latest_moment(lastmod: str) -> float | None:
    """The latest time, in seconds since the epoch, that a W3C date can mean; None if it is none.

    Less than a day (``2026-11``) says too little to go by.
    """
    text = lastmod.strip()
    try:
        when = datetime.fromisoformat(text)
        if _DAY.match(text):
            when += _DAY_ENDS
        elif when.tzinfo is None:
            when += _FURTHEST_WEST
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
