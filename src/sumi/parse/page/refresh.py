"""Meta refresh, read as the HTML standard says ("shared declarative refresh steps")."""

import re
from typing import Final, NamedTuple

_WHITE: Final = "\t\n\f\r "
_TIME: Final = re.compile(r"[\t\n\f\r ]*([0-9]{0,9})[0-9]*")
_FRACTION: Final = re.compile(r"[0-9.]*")
_URL_KEY: Final = re.compile(r"[Uu][Rr][Ll][\t\n\f\r ]*=[\t\n\f\r ]*")

# A page that leads on within this many seconds is a way-station. One that takes longer is there to be read
# first: its target is a link like any other.
REDIRECT_SECONDS: Final = 5


class Refresh(NamedTuple):
    seconds: int
    target: str  # "" means the page itself, again


def parse_refresh(content: str) -> Refresh | None:
    """The value of a ``<meta http-equiv=refresh content=…>``; None where browsers ignore it."""
    time = _TIME.match(content)
    if time is None:
        return None
    after = content[time.end() :]
    if not time[1] and not after.startswith("."):
        return None
    seconds = int(time[1] or 0)
    fraction = _FRACTION.match(after)
    rest = after[fraction.end() :] if fraction else after
    if not rest:
        return Refresh(seconds, "")
    if rest[0] not in ";," + _WHITE:
        return None
    return Refresh(seconds, _target(rest))


def _target(rest: str) -> str:
    rest = rest.lstrip(_WHITE)
    if rest[:1] in (";", ","):
        rest = rest[1:].lstrip(_WHITE)
    key = _URL_KEY.match(rest)
    if key is not None:
        rest = rest[key.end() :]
    if rest[:1] in ("'", '"'):
        return rest[1:].partition(rest[0])[0]
    return rest
