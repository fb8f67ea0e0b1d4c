"""What URLs have in common: the template they were made from, and the page below a session's token."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from sumi.urls import host_key, split

_UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
# At least eight hex digits, one of them a number: "deadbeef" may be a word, "facade" is one.
_HEX: Final = r"(?<![0-9a-z])(?=[a-f]*[0-9])[0-9a-f]{8,}(?![0-9a-z])"
_ID: Final = re.compile(rf"{_UUID}|(?=\S*[a-f]){_HEX}", re.IGNORECASE | re.ASCII)
_VARYING: Final = re.compile(rf"{_UUID}|{_HEX}|\d+", re.IGNORECASE | re.ASCII)
_MONTH: Final = re.compile(
    r"(?<=/)(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?=/|$)",
    re.IGNORECASE,
)
_DATE: Final = re.compile(r"(?<!\d)(?:19|20|21)\d\d[-/_](?:0?[1-9]|1[0-2])(?!\d)")
_PATH_CHARACTERS: Final = 512  # quoted in rules; what lies beyond does not tell templates apart

# These are never anything but sessions.
_SESSIONS: Final = r"jsessionid|phpsessid|aspsessionid[a-z]*|oscsid|zenid|cftoken"
# These are, where their value looks like a token.
_MAYBE_SESSIONS: Final = r"sid|s|sess|sessid|session|session_?id"
_OPAQUE: Final = r"(?=[a-z0-9._!-]*[0-9])[a-z0-9._!-]{12,}"
_SESSION: Final = re.compile(
    rf"(?<=[?&;])(?:(?P<sure>{_SESSIONS})=[^&;/?#]{{4,}}|(?P<maybe>{_MAYBE_SESSIONS})={_OPAQUE}(?=[&;/?]|$))"
    r"|(?<=/)\(S\([a-z0-9]{8,}\)\)/",
    re.IGNORECASE | re.ASCII,
)
_LOOSE_SEPARATORS: Final = re.compile(r"[?&;]+(?=$)|(?<=[?&;])[&;]+|;(?=[?/])")


class Session(NamedTuple):
    name: str  # of the parameter, with its host
    page: str  # the URL without it


@lru_cache(maxsize=1024)  # the gate and the digest ask about the same few
def template_of(url: str) -> str | None:
    """``host/path`` with numbers, dates and ids replaced by ``{n}``; None for a URL that stands for itself.

    So does a path with a plain number in it: manuals and forums number their pages, and a list that only
    leads from one number to the next is ended by the limit on hops. Dates, ids and queries are what
    calendars, filters and shops make endless pages of.

    Queries of one parameter are told apart by its name. Those of several are one template per path, because
    filters that can be combined make as many sets of names as there are combinations.
    """
    parts = split(url)
    path = parts.path[:_PATH_CHARACTERS]
    if not parts.query and not _made_of_dates_or_ids(path):
        return None
    varied = _MONTH.sub("{n}", _VARYING.sub("{n}", path))
    return f"{host_key(url)}{varied}{_query_template(parts.query)}"


def _made_of_dates_or_ids(path: str) -> bool:
    return any(pattern.search(path) for pattern in (_DATE, _MONTH, _ID))


def _query_template(query: str) -> str:
    if not query:
        return ""
    pairs = [pair for pair in query.split("&") if pair]
    return f"?{pairs[0].partition('=')[0][:80]}={{n}}" if len(pairs) == 1 else "?{n}"


@lru_cache(maxsize=1024)
def session_of(url: str) -> Session | None:
    match = _SESSION.search(url)
    if match is None:
        return None
    page = _LOOSE_SEPARATORS.sub("", _SESSION.sub("", url))
    name = (match["sure"] or match["maybe"] or "(S())").lower()
    return Session(f"{name} on {host_key(url)}", page)
