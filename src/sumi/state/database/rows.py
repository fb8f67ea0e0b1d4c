"""What an embedded database must be able to do (``Rows``), and the rows that it stores."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

import msgspec

from sumi.errors import StateDamaged
from sumi.model import Candidate, Hop, Kind, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.ports import Attempt, RobotsRecord, UrlRecord
from sumi.state.entries import BEHIND, DELAYED, LEASED, WAITING, Entry, State, StoredUrl

Rank: TypeAlias = tuple[bool, int, float, int]  # as Entry.rank; the last is the row's id

FIRST_RANK: Rank = (False, 0, float("-inf"), 0)

_HOPS = {hop.value: hop for hop in Hop}
_KINDS = {kind.value: kind for kind in Kind}
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
_STATES = {state.value: state for state in State}
_encode_facts = msgspec.json.Encoder().encode
_decode_facts = msgspec.json.Decoder(PageFacts).decode


class Row(NamedTuple):
    """One URL as stored. A tuple, because both libraries take that without a conversion."""

    id: int  # discovery order
    url: str
    host: str
    hop: str
    kind: str
    depth: int
    score: float
    redirects: int
    referrer: str | None
    state: int  # a State, but never LEASED: leases end with the process
    attempts: int
    address: str
    due: float | None  # while delayed or behind
    outcome: str | None
    rule: str
    at: float | None
    facts: str  # JSON, "" before the first settlement
    latest: int  # serial of its latest attempt, 0 before the first

    @property
    def rank(self) -> Rank:
        return (self.kind == "page", self.depth, self.score, self.id)


class AttemptRow(NamedTuple):
    """A URL's attempts are a linked list from the latest to the first: only ``sumi explain`` needs them, so
    there is no index, and no attempt of another URL has to be read."""

    serial: int
    previous: int  # of the same URL, 0 for the first
    id: int  # the URL's
    at: float
    outcome: str
    rule: str


class HostRow(NamedTuple):
    """What must be remembered about a host when the process ends."""

    host: str
    crawl_delay: float
    hold_until: float
    hold_why: str


class OpenHost(NamedTuple):
    """A host with work left, as counted when the state is opened."""

    host: str
    waiting: int
    delayed: int  # and behind


class Totals(msgspec.Struct, frozen=True):
    """Counts that are stored, so that statistics never scan."""

    known: int = 0
    open: dict[Kind, int] = {}
    outcomes: dict[Outcome, int] = {}
    listed: int = 0
    captured: int = 0
    attempts: int = 0  # the last serial
    synced: int = 0  # attempts up to this one are durable, with the files they name


class Change(msgspec.Struct):
    """Everything that one call changes in the store, atomically."""

    inserted: list[Row] = []  # by ascending id, all greater than any stored
    updated: list[tuple[Row, Row]] = []  # old and new
    attempts: list[AttemptRow] = []
    hosts: list[HostRow] = []
    robots: list[RobotsRecord] = []
    notes: list[tuple[str, str]] = []
    totals: Totals | None = None


class Rows(Protocol):
    """A database of URLs. Calls block and never overlap; they raise StorageFailed or StateDamaged."""

    def __init__(self, path: Path, *, strict: bool, readonly: bool = False) -> None:
        """Created if there is none. ``strict``: every write survives a power cut."""
        ...

    def find(self, urls: Sequence[str]) -> list[Row]:
        """Those of ``urls`` that are known, in any order."""
        ...

    def queue(self, host: str, start: Rank, limit: int) -> list[Rank]:
        """The ranks of the host's waiting rows in order, from ``start`` on."""
        ...

    def queued(self, places: Sequence[tuple[str, int]]) -> list[Row]:
        """The rows of these hosts with these ids, in this order."""
        ...

    def due(self, now: float, limit: int) -> list[Row]:
        """Delayed rows whose time has come, earliest first."""
        ...

    def next_due(self) -> float | None: ...

    def first_due(self) -> Iterable[tuple[str, float]]:
        """Hosts with delayed rows, and when the first of those is due."""
        ...

    def behind(self, host: str, is_page: bool, limit: int) -> list[Row]:
        """The host's retries, pages or others, in the order in which they are due."""
        ...

    def first_behind(self) -> Iterable[tuple[str, bool, float]]:
        """Hosts with retries, whether those are pages, and when the first of them is due."""
        ...

    def open_sitemaps(self) -> Iterable[Row]:
        """Sitemaps that are not settled. May be slow: called when a run begins, if there are any."""
        ...

    def write(self, change: Change) -> None:
        """One transaction; on return it survives this process."""
        ...

    def sync_unlocked(self) -> None:
        """The part of ``sync`` during which other calls are allowed, if there is one."""
        ...

    def sync(self) -> None:
        """After ``sync_unlocked``: what was written before that survives a power cut. Both run outside the
        event loop's thread."""
        ...

    def page(self, after: int, limit: int, outcomes: frozenset[Outcome] | None) -> list[Row]:
        """Rows (of these outcomes) by ascending id, from the one after ``after``."""
        ...

    def page_waiting_again(self, after: int, limit: int) -> list[Row]:
        """Likewise rows without an outcome that have facts, from an earlier settlement."""
        ...

    def attempts(self) -> Iterable[AttemptRow]:
        """All of them, oldest first."""
        ...

    def attempts_of(self, row: Row) -> list[AttemptRow]:
        """One URL's, oldest first."""
        ...

    def settled_since(self, serial: int) -> list[str]:
        """Settled URLs with an attempt later than ``serial``."""
        ...

    def totals(self) -> Totals: ...

    def open_hosts(self) -> Iterable[OpenHost]: ...

    def hosts(self) -> Iterable[HostRow]: ...

    def robots(self, origin: str) -> RobotsRecord | None: ...

    def all_robots(self) -> Iterable[RobotsRecord]: ...

    def note(self, key: str) -> str | None: ...

    def notes(self) -> Iterable[tuple[str, str]]: ...

    def close(self) -> None: ...


@lru_cache(maxsize=4096)  # a new URL was looked up just before, with the same key
def url_key(url: str) -> bytes:
    """What a URL is looked up by: 16 bytes however long it is.

    BLAKE2, because pages choose their links: with a faster hash that is not collision resistant, a hostile
    site could hide a URL behind another one. It costs under a microsecond.
    """
    return hashlib.blake2b(url.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def entry_of(row: Row) -> Entry:
    """Without its facts: only the ledger reads those."""
    hop, kind = _HOPS[row.hop], _KINDS[row.kind]
    candidate = Candidate(row.url, hop, kind, row.depth, row.referrer, row.score, row.redirects, row.address)
    return Entry(
        candidate,
        row.host,
        row.id,
        _STATES[row.state],
        row.attempts,
        None if row.outcome is None else Verdict(_OUTCOMES[row.outcome], row.rule),
        row.at,
        None,
        row.latest,
        row.due or 0.0,
        # An earlier version had no retry lane and stored retries as delayed.
        behind=row.state == BEHIND or (row.attempts > 0 and row.outcome is None),
    )


def row_of(entry: Entry, stored: Row | None) -> Row:
    c, verdict, state = entry.candidate, entry.verdict, entry.state
    if isinstance(entry.facts, PageFacts):
        facts = _encode_facts(entry.facts).decode()
    else:
        facts = stored.facts if stored else ""
    return Row(
        entry.sequence,
        c.url,
        entry.host,
        c.hop,
        c.kind,
        c.depth,
        c.score,
        c.redirects,
        c.referrer,
        WAITING if state is LEASED else state,
        entry.attempts,
        c.address,
        entry.deadline if state is DELAYED or state is BEHIND else None,
        verdict.outcome if verdict else None,
        verdict.rule if verdict else "",
        entry.at,
        facts,
        entry.latest,
    )


def record_of(row: Row) -> UrlRecord:
    return UrlRecord(
        url=row.url,
        hop=_HOPS[row.hop],
        kind=_KINDS[row.kind],
        depth=row.depth,
        referrer=row.referrer,
        outcome=_OUTCOMES[row.outcome] if row.outcome else Outcome.PENDING,
        rule=row.rule,
        at=row.at,
        attempts=row.attempts,
        facts=_decode_facts(row.facts) if row.facts else PageFacts(),
        address=row.address,
    )


def stored_of(row: Row, history: tuple[Attempt, ...]) -> StoredUrl:
    entry = entry_of(row)
    return StoredUrl(
        candidate=entry.candidate,
        refused=entry.state is State.REFUSED,
        verdict=entry.verdict,
        at=row.at,
        attempts=row.attempts,
        not_before=row.due or 0.0,
        behind=entry.behind,
        facts=_decode_facts(row.facts) if row.facts else PageFacts(),
        history=history,
    )


def attempt_of(row: AttemptRow) -> Attempt:
    return Attempt(row.at, _OUTCOMES[row.outcome], row.rule)


def chain_of(row: Row, attempt: Callable[[int], AttemptRow | None]) -> list[AttemptRow]:
    """A URL's attempts, oldest first, found by following the list from its latest one."""
    chain: list[AttemptRow] = []
    serial = row.latest
    while serial:
        found = attempt(serial)
        if found is None or found.id != row.id or found.previous >= serial:
            raise StateDamaged(f"attempt {serial} of {row.url[:200]} is not where it was written")
        chain.append(found)
        serial = found.previous
    return chain[::-1]
