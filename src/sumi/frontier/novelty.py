"""Novelty: URL templates that bring nothing new, session tokens that change nothing, near-duplicates.

A calendar, a set of filters or an endless list shows the same words again and again; a blog of a thousand
pages does not. So the vocabulary of each template is learnt as a bitmap, and a page that adds next to nothing
to it is fruitless. The count falls ten times as fast as it rises: a template with something new on one page
in ten is never cut.
"""

import re
from array import array
from collections.abc import Callable, Iterator
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
_PATH_CHARACTERS: Final = 512  # of a path; templates are quoted in rules

# Always session tokens.
_SESSIONS: Final = r"jsessionid|phpsessid|aspsessionid[a-z]*|oscsid|zenid|cftoken"
# Session tokens if the value looks like one.
_MAYBE_SESSIONS: Final = r"sid|s|sess|sessid|session|session_?id"
_OPAQUE: Final = r"(?=[a-z0-9._!-]*[0-9])[a-z0-9._!-]{12,}"
_SESSION: Final = re.compile(
    rf"(?<=[?&;])(?:(?P<sure>{_SESSIONS})=[^&;/?#]{{4,}}|(?P<maybe>{_MAYBE_SESSIONS})={_OPAQUE}(?=[&;/?]|$))"
    r"|(?<=/)\(S\([a-z0-9]{8,}\)\)/",
    re.IGNORECASE | re.ASCII,
)
_LOOSE_SEPARATORS: Final = re.compile(r"[?&;]+(?=$)|(?<=[?&;])[&;]+|;(?=[?/])")


class Session(NamedTuple):
    name: str  # the parameter and its host
    page: str  # the URL without it


@lru_cache(maxsize=1024)  # the gate and the digestion ask for the same few
def template_of(url: str) -> str | None:
    """``host/path`` with numbers, dates and ids replaced by ``{n}``; None for a URL without a template.

    A plain number in the path makes no template: manuals and forums number their pages, and a list that only
    leads from one number to the next is ended by the limit on depth. Calendars, filters and shops make their
    endless pages from dates, ids and queries.

    Queries with one parameter are distinguished by its name. Queries with several are one template per path,
    because filters that can be combined produce every set of names.
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


# A date in words, an echoed name: one or two new words are not content.
_NEW_WORDS: Final = 3
_CREDIT: Final = 10
# When half of the bits are set, a new word is likely to hit one of them. Later words are not learnt, and
# count as new.
_MAX_BITS: Final = 8192
# After a restart the counts are known and the vocabularies are not: so many pages only teach.
_LESSONS: Final = 20
# About 5 kB each. Beyond this, new templates are not watched.
_MAX_TEMPLATES: Final = 20_000

# Texts whose 64-bit hashes differ in at most this many bits are nearly the same: one changed word in a
# hundred flips two or three bits, and texts that share only their site differ in twenty or more.
SAME_BITS: Final = 6
_PROOFS: Final = 3
_MAX_SESSIONS: Final = 200_000


class _Template:
    __slots__ = ("fruitless", "lessons", "loaded_at", "seen")

    def __init__(self) -> None:
        self.fruitless = 0
        self.lessons = 0
        self.seen = 0
        self.loaded_at = 0.0


class TemplateWatch:
    """Counts fruitless pages by template. ``limit`` 0: nothing is ever cut."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._templates: dict[str, _Template] = {}

    def cut(self, url: str) -> str | None:
        """The template of ``url``, if it has been fruitless for too long."""
        if not self._templates or (name := template_of(url)) is None:
            return None
        known = self._templates.get(name)
        return name if known is not None and 0 < self._limit <= known.fruitless else None

    def watches(self, url: str) -> bool:
        """Whether the vocabulary of the page is needed."""
        return self._limit > 0 and template_of(url) is not None

    def observe(self, url: str, vocabulary: bytes, *, known_content: bool) -> int:
        """Count a page. Returns its template's count of fruitless pages; 0 for a URL without a template.

        With an empty ``vocabulary`` (it was not collected) only known content counts.
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
        """Load an earlier run's page with its recorded count; the latest one wins."""
        known = self._known(url)
        if known is not None and at >= known.loaded_at:
            known.loaded_at, known.fruitless = at, fruitless
            known.lessons = _LESSONS if fruitless else 0

    def _known(self, url: str) -> _Template | None:
        name = template_of(url) if self._limit else None
        if name is None or (name not in self._templates and len(self._templates) >= _MAX_TEMPLATES):
            return None
        return self._templates.setdefault(name, _Template())


class SessionWatch:
    """Learns which tokens in URLs change nothing, and then which pages are known under another one."""

    def __init__(self, key_of: Callable[[str], int] = hash) -> None:
        self._key_of = key_of
        self._pages: dict[int, int] = {}  # URL without its token -> hash of the text
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
        """The session parameter, if it is proven to change nothing and the page is known under another
        one."""
        if not self._proofs or (session := session_of(url)) is None:
            return None
        proven = self._proofs.get(session.name, 0) >= _PROOFS
        return session.name if proven and self._key_of(session.page) in self._pages else None


def nearly_same(one: int, other: int) -> bool:
    return (one ^ other).bit_count() <= SAME_BITS


# Hashes that differ in six bits agree in at least one of eight bytes, and are close when sorted by it.
# Looking at more neighbours would find only a few more pairs, among pages that all look alike.
_PIECE: Final = 8
_NEIGHBOURS: Final = 4


def near_duplicates(hashes: "array[int]") -> list[list[int]]:
    """Groups of similar pages, as indexes into ``hashes`` and in its order."""
    leader = list(range(len(hashes)))
    for one, other in _near_pairs(hashes):
        if leader[one] != leader[other]:
            leader[_find(leader, one)] = _find(leader, other)
    groups: dict[int, list[int]] = {}
    for at in range(len(hashes)):
        groups.setdefault(_find(leader, at), []).append(at)
    return [members for members in groups.values() if len(members) > 1]


def _near_pairs(hashes: "array[int]") -> Iterator[tuple[int, int]]:
    # A hash and its index in one number: these can be sorted and compared without a call each.
    bits = len(hashes).bit_length()
    place = (1 << bits) - 1
    for turn in range(0, 64, _PIECE):
        order = sorted(_rotated(value, turn) << bits | at for at, value in enumerate(hashes))
        for apart in range(1, _NEIGHBOURS + 1):
            for one, other in zip(order, order[apart:], strict=False):
                if ((one ^ other) >> bits).bit_count() <= SAME_BITS:
                    yield one & place, other & place


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & (2**64 - 1)


def _find(leader: list[int], one: int) -> int:
    while leader[one] != one:
        leader[one] = one = leader[leader[one]]
    return one
