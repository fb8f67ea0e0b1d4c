"""URL templates that no longer bring anything new, and session tokens that change nothing.

A calendar, a set of filters or an endless list shows the same words for ever; a blog of a thousand pages
does not. So each template's vocabulary is learnt as a bitmap, and a page that adds next to nothing to it is
fruitless. The count falls ten times as fast as it rises: a template that has something to say on one page in
ten is never cut.
"""

import re
from collections.abc import Callable
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


# A date in words, a name that is echoed: one or two new words are no content.
_NEW_WORDS: Final = 3
_CREDIT: Final = 10
# Beyond half, a new word is likely to meet a bit that is set. Words that come later then count as new.
_MAX_BITS: Final = 8192
# After a restart counts are known and vocabularies are not: so many pages only teach.
_LESSONS: Final = 20
# About 5 kB each. A site of more templates than this has none of which many pages are endless.
_MAX_TEMPLATES: Final = 20_000

# Two texts whose hashes differ in no more of 64 bits are nearly the same: one word in a hundred moves two or
# three, and texts that have only their site in common differ in twenty and more.
SAME_BITS: Final = 6
_PROOFS: Final = 3
_MAX_SESSIONS: Final = 200_000


class _Template:
    __slots__ = ("fruitless", "lessons", "seen", "told_at")

    def __init__(self) -> None:
        self.fruitless = 0
        self.lessons = 0
        self.seen = 0
        self.told_at = 0.0


class TemplateWatch:
    """Counts by template. ``limit`` 0: nothing is ever cut."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._templates: dict[str, _Template] = {}

    def cut(self, url: str) -> str | None:
        """The template of ``url``, if that has been fruitless for too long."""
        if not self._templates or (name := template_of(url)) is None:
            return None
        known = self._templates.get(name)
        return name if known is not None and 0 < self._limit <= known.fruitless else None

    def watches(self, url: str) -> bool:
        """Whether the vocabulary of ``url``'s page is wanted."""
        return self._limit > 0 and template_of(url) is not None

    def observe(self, url: str, vocabulary: bytes, *, known_content: bool) -> int:
        """A page came. Returns its template's count of fruitless pages from here on; 0 for a lone URL.

        Where nobody looked at the page's words (an empty ``vocabulary``) only known content counts.
        """
        known = self._known(url)
        if known is None:
            return 0
        if not vocabulary and not known_content:
            return known.fruitless
        words = int.from_bytes(vocabulary, "little")
        new = (words & ~known.seen).bit_count()
        if known.seen.bit_count() < _MAX_BITS:
            known.seen |= words
        if known_content:
            known.fruitless += 1
        elif known.lessons:
            known.lessons -= 1
        elif new < _NEW_WORDS:
            known.fruitless += 1
        else:
            known.fruitless = max(0, known.fruitless - _CREDIT)
        return known.fruitless

    def load(self, url: str, at: float, fruitless: int) -> None:
        """An earlier run's page and the count that was recorded with it; the latest counts."""
        known = self._known(url)
        if known is not None and at >= known.told_at:
            known.told_at, known.fruitless = at, fruitless
            known.lessons = _LESSONS if fruitless else 0

    def _known(self, url: str) -> _Template | None:
        name = template_of(url) if self._limit else None
        if name is None or (name not in self._templates and len(self._templates) >= _MAX_TEMPLATES):
            return None
        return self._templates.setdefault(name, _Template())


class SessionWatch:
    """Finds out which tokens in URLs change nothing, and then which pages are known under another one."""

    def __init__(self, key_of: Callable[[str], int] = hash) -> None:
        self._key_of = key_of
        self._pages: dict[int, int] = {}  # by page without its token: the hash of its text
        self._proofs: dict[str, int] = {}

    def observe(self, url: str, simhash: int | None) -> None:
        session = session_of(url)
        if session is None or simhash is None:
            return
        before = self._pages.get(self._key_of(session.page))
        if before is None:
            if len(self._pages) < _MAX_SESSIONS:
                self._pages[self._key_of(session.page)] = simhash
            return
        same = nearly_same(before, simhash)
        self._proofs[session.name] = max(0, self._proofs.get(session.name, 0) + (1 if same else -1))

    def repeated(self, url: str) -> str | None:
        """The session parameter, if it is proven to change nothing and this page is known without it."""
        if not self._proofs or (session := session_of(url)) is None:
            return None
        proven = self._proofs.get(session.name, 0) >= _PROOFS
        return session.name if proven and self._key_of(session.page) in self._pages else None


def nearly_same(one: int, other: int) -> bool:
    return (one ^ other).bit_count() <= SAME_BITS
