"""A map in SQLite: the rows of the crawl, and the pages, links and depths that follow from them.

``pages``, ``frontier`` and ``domain_states`` are projections of the crawl's own rows, written in the same
transaction, so a crash cannot leave them inconsistent.
"""

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec
from msgspec import field

from sumi.errors import StateDamaged
from sumi.files.sqlite_file import transaction
from sumi.jobs.map.store import schema as sql
from sumi.jobs.map.store.schema import APPLICATION_ID, HEADS_ANSWERED, SCHEMA, USER_VERSION
from sumi.jobs.map.store.states import BARRED, UNVISITED, PageState, check_transition, state_of, transitions
from sumi.model import PageFacts
from sumi.policy import Preset
from sumi.state.database.rows import Change, Row, url_key
from sumi.state.entries import State
from sumi.state.sqlite.rows import SqliteRows
from sumi.urls import normalize, split
from sumi.urls.parts import split_authority

UNVISITED_TABLES = {PageState.BLACKLISTED: "blacklisted", PageState.STUBBED: "stubbed"}
_decode_facts = msgspec.json.Decoder(PageFacts).decode


def pairs(items: Iterable[tuple[int, int]] = ()) -> "array[int]":
    return array("q", [first << 32 | second for first, second in items])


class Work(NamedTuple):
    """A page whose depth dropped, and whose links have yet to be updated."""

    depth: int
    page: int


class NewDepths(NamedTuple):
    """Depths of pages from one origin."""

    number: int  # of the origin, in sorted order
    origin: str
    depths: "array[int]"  # pairs of page and depth


class DomainRow(NamedTuple):
    domain: str
    requests: int
    suspended: bool


class MapChange(Change):
    """What one call adds to a map besides the rows of the crawl itself.

    Links and depths come by the thousand. They are pairs of 32 bits, packed into one number of 64 bits, in
    arrays that are bound to a statement without copying.
    """

    at: float = 0.0
    links: "array[int]" = field(default_factory=pairs)  # source and target
    revisited: list[tuple[int, set[int]]] = field(default_factory=list)  # page and all its current links
    depths: "list[NewDepths]" = field(default_factory=list)
    work_done: list[Work] = field(default_factory=list)  # stored work that is done
    work: list[Work] = field(default_factory=list)  # new work for later
    heads: list[tuple[int]] = field(default_factory=list)  # pages whose HEAD was answered
    heads_done: list[tuple[int]] = field(default_factory=list)  # and those that were settled since
    domains: dict[str, DomainRow] = field(default_factory=dict)
    # Domains whose waiting pages leave this run.
    barred: list[tuple[str, PageState]] = field(default_factory=list)
    readmitted: list[str] = field(default_factory=list)  # domains whose pages join it again
    # When URLs were found that come from another store, by row.
    found_at: dict[int, float] = field(default_factory=dict)


class PageBatch:
    """Bindings of the statements that update ``pages`` and ``frontier``, one ``executemany`` each."""

    def __init__(self) -> None:
        self.new: list[tuple[Any, ...]] = []
        self.ended: list[tuple[Any, ...]] = []
        self.moved: list[tuple[Any, ...]] = []
        self.queued: list[tuple[Any, ...]] = []
        self.unqueued: list[tuple[Any, ...]] = []
        self.prioritized: list[tuple[Any, ...]] = []
        self.history: list[tuple[Any, ...]] = []
        self.unvisited: list[tuple[PageState, Row]] = []


def iso_time(at: float) -> str:
    """``2025-01-15T10:30:00.000Z``, which sorts by time as text."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def page_id(row_id: int) -> int:
    return row_id + 1


@lru_cache(maxsize=20_000)
def domain_of(host: str) -> str:
    """A host without its port."""
    return split_authority(host)[0]


class MapRows(SqliteRows):
    schema = SCHEMA
    application_id = APPLICATION_ID
    user_version = USER_VERSION
    # For a million pages: keys and URLs are both accessed in random order.
    cache_kib = first_cache_kib = 128 * 1024

    def __init__(self, path: Path, *, strict: bool, readonly: bool = False) -> None:
        super().__init__(path, strict=strict, readonly=readonly)
        if not readonly:
            self.run_sql(HEADS_ANSWERED)
        self.run_id = 0  # set when a run begins
        self._barred: dict[str, PageState] = {}

    # ── reading ────────────────────────────────────────────────────────────────────────────────────────

    def ids_of(self, urls: Sequence[str]) -> dict[str, int]:
        if not urls:
            return {}
        with self._errors_translated():
            wanted = {url_key(url): url for url in urls}
            found = self._db.execute(sql.FIND_IDS, (apsw.carray(tuple(sorted(wanted))),))
            return {wanted[key]: row_id for row_id, key in found}

    def by_id(self, row_ids: Iterable[int]) -> list[Row]:
        with self._errors_translated():
            found = self._db.executemany(sql.BY_ID, [(row_id,) for row_id in row_ids])
            return [Row._make(row) for row in found]

    def depths_of(self, pages: Collection[int]) -> list[tuple[int, int, int]]:
        with self._errors_translated():
            found: list[Any] = self._db.execute(sql.DEPTHS, (_bound(sorted(pages)),)).fetchall()
            return found

    def targets_of(self, pages: Collection[int]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        if pages:
            with self._errors_translated():
                for source, target in self._db.execute(sql.TARGETS, (_bound(pages),)):
                    found.setdefault(source, []).append(target)
        return found

    def depth_work(self, limit: int) -> list[Work]:
        with self._errors_translated():
            return [Work._make(row) for row in self._db.execute(sql.GET_WORK, (limit,))]

    def domains(self) -> list[DomainRow]:
        """Domains with requests in this run."""
        with self._errors_translated():
            rows = self._db.execute(sql.GET_DOMAINS)
            return [DomainRow(domain, requests, bool(limited)) for domain, requests, limited in rows]

    def load_barred(self, barred: Mapping[str, PageState]) -> None:
        """Domains that left this run before it was interrupted; their pages were moved then."""
        self._barred.update(barred)

    # ── runs ───────────────────────────────────────────────────────────────────────────────────────────

    @property
    def path(self) -> Path:
        return self._path

    def last_run(self) -> tuple[int, str, str] | None:
        """Number, configuration hash and status."""
        return next(iter(self.run_query(sql.LAST_RUN)), None)

    def in_one_transaction(self, work: Callable[[], object]) -> None:
        with self._errors_translated(), transaction(self._db):
            work()

    def run_sql(self, statement: str, bindings: tuple[object, ...] = ()) -> Any:
        """Returns the first value of the first row, if any."""
        with self._errors_translated():
            return self._db.execute(statement, bindings).get

    def run_query(self, statement: str) -> list[Any]:
        with self._errors_translated():
            return self._db.execute(statement).fetchall()

    # ── writing ────────────────────────────────────────────────────────────────────────────────────────

    def _put(self, change: Change) -> None:
        super()._put(change)
        if isinstance(change, MapChange):
            try:
                self._project(change)
            except msgspec.MsgspecError as error:
                raise StateDamaged(f"{self._path}: the facts of a page cannot be read: {error}") from None

    def _project(self, change: MapChange) -> None:
        now = iso_time(change.at)
        self._put_pages(change, now)
        self._put_links(change)
        many = self._db.executemany
        for number, origin, depths in change.depths:
            self._db.execute(sql.PUT_DEPTHS, (_bound(depths), origin, number))
        many(sql.CLEAR_WORK, change.work_done)
        many(sql.PUT_WORK, change.work)
        many(sql.PUT_HEAD, change.heads)
        many(sql.CLEAR_HEAD, change.heads_done)
        many(sql.PUT_DOMAIN, list(change.domains.values()))
        robots = [
            (_site_domain(r.origin), _text(r.body) or None, iso_time(r.fetched_at)) for r in change.robots
        ]
        many(sql.PUT_DOMAIN_ROBOTS, robots)
        for domain, state in change.barred:
            self._move_domain(domain, PageState.QUEUED, state, now)
            self._barred[domain] = state
        for domain in change.readmitted:
            self._move_domain(domain, self._barred.pop(domain), PageState.QUEUED, now)

    def _put_pages(self, change: MapChange, now: str) -> None:
        batch = PageBatch()
        for row in change.inserted:
            at = change.found_at.get(row.id)
            self._enter_page(row, now if at is None else iso_time(at), batch)
        for old, row in change.updated:
            self._update_page(old, row, now, batch)
        many = self._db.executemany
        many(sql.ADD_PAGE, batch.new)
        self._put_unvisited(batch)
        many(sql.END_PAGE, batch.ended)
        many(sql.MOVE_PAGE, batch.moved)
        many(sql.UNQUEUE_PAGE, batch.unqueued)
        many(sql.QUEUE_PAGE, batch.queued)
        many(sql.PRIORITIZE, batch.prioritized)
        many(sql.ADD_HISTORY, batch.history)

    def _enter_page(self, row: Row, now: str, batch: PageBatch) -> None:
        """One that is settled already comes from another store."""
        page, run = page_id(row.id), self.run_id
        is_settled = row.state == State.SETTLED.value
        settled = iso_time(row.at) if is_settled and row.at is not None else now
        state = PageState.DISCOVERED
        for state in self._transitions(PageState.DISCOVERED, row):
            waits = state is PageState.QUEUED
            why = "" if waits and is_settled else row.rule
            batch.history.append((page, now if waits else settled, run, state, why))
        error = row.rule if state is PageState.FAILED else None
        batch.new.append((page, row.url, domain_of(row.host), state, now, run, error, row.attempts))
        if state is PageState.QUEUED:
            batch.queued.append((page, row.depth, now))
        elif state in UNVISITED:
            batch.unvisited.append((state, row))
        if is_settled:
            batch.ended.append(self._ending(page, state, row))

    def _put_unvisited(self, batch: PageBatch) -> None:
        """URLs that are not visited. Counts the references recorded before a URL became one; a new one has
        none."""
        many, run = self._db.executemany, self.run_id
        for state, name in UNVISITED_TABLES.items():
            rows = [row for its_state, row in batch.unvisited if its_state is state]
            many(sql.add_unvisited(name), [(page_id(r.id), r.url, domain_of(r.host), run) for r in rows])
            known = [page_id(row.id) for row in rows if row.state == State.SETTLED.value]
            if known:
                self._db.execute(sql.count_known_references(name), (_bound(known), run))

    def _update_page(self, old: Row, row: Row, now: str, batch: PageBatch) -> None:
        page, before = page_id(row.id), self._page_state(old)
        stays = self._page_state(row) is before and row.outcome == old.outcome
        states = () if stays else self._transitions(before, row)
        batch.history += [(page, now, self.run_id, state, row.rule) for state in states]
        after = states[-1] if states else before
        if row.state == State.SETTLED.value and states:
            batch.ended.append(self._ending(page, after, row))
        elif after is not before or row.attempts != old.attempts:
            batch.moved.append((after, row.attempts, page))
        was_queued, is_queued = before is PageState.QUEUED, after is PageState.QUEUED
        if was_queued and not is_queued:
            batch.unqueued.append((page,))
        elif is_queued and not was_queued:
            batch.queued.append((page, row.depth, now))
        elif is_queued and row.depth != old.depth:
            batch.prioritized.append((row.depth, page))
        if after in UNVISITED and after is not before:
            batch.unvisited.append((after, row))

    def _ending(self, page: int, state: PageState, row: Row) -> tuple[object, ...]:
        facts = _decode_facts(row.facts) if row.facts else PageFacts()
        visited = None if facts.status is None or row.at is None else iso_time(row.at)
        error = None if state is PageState.PROCESSED else row.rule
        return (
            state,
            facts.title,
            facts.status,
            facts.content_type,
            facts.last_modified,
            visited,
            error,
            row.attempts,
            facts.sha256,
            self.run_id,
            page,
        )

    def _page_state(self, row: Row) -> PageState:
        """As in ``pages``: a waiting page of a barred domain is not in the queue."""
        state = state_of(row.outcome)
        return self._barred.get(domain_of(row.host), state) if state is PageState.QUEUED else state

    def _transitions(self, before: PageState, row: Row) -> tuple[PageState, ...]:
        target = state_of(row.outcome)
        bar = self._barred.get(domain_of(row.host)) if target is PageState.QUEUED else None
        return _steps(before, target, bar)

    def _put_links(self, change: MapChange) -> None:
        many, run = self._db.executemany, self.run_id
        for page, targets in change.revisited:
            known = self.targets_of([page]).get(page, [])
            many(sql.ADD_VANISHED, [(page, target, run) for target in known if target not in targets])
            many(sql.FORGET_VANISHED, [(page, target) for target in targets])
        if change.links:
            self._db.execute(sql.ADD_LINKS, (_bound(change.links), run))
            for state, name in UNVISITED_TABLES.items():
                self._db.execute(sql.add_references(name, state), (_bound(change.links), run))

    def _move_domain(self, domain: str, old: PageState, new: PageState, now: str) -> None:
        check_transition(old, new)
        pages = array("q", sorted(page for (page,) in self._db.execute(sql.OPEN_OF_DOMAIN, (domain,))))
        if not pages:
            return
        run = self._db.execute
        run(sql.NOTE_MOVED, (_bound(pages), old, now, self.run_id, new, "as its whole domain"))
        if old is PageState.QUEUED:
            run(sql.UNQUEUE_PAGES, (_bound(pages), old))
        else:
            run(sql.QUEUE_PAGES, (_bound(pages), old, now))
        run(sql.MOVE_PAGES, (_bound(pages), old, new))


@cache  # called for every row, with few different arguments
def _steps(before: PageState, target: PageState, bar: PageState | None) -> tuple[PageState, ...]:
    steps: list[PageState] = []
    if before in BARRED and target is not PageState.QUEUED:
        steps += transitions(before, PageState.QUEUED)  # its domain was barred during the fetch
        before = PageState.QUEUED
    steps += transitions(before, target)
    if bar is not None:
        check_transition(PageState.QUEUED, bar)
        steps.append(bar)
    return tuple(steps)


def _site_domain(site: str) -> str:
    """The domain of its pages: robots.txt may be fetched from www. of it, or without."""
    return split(normalize(f"{site}/", Preset.MAP_WITH_HTTP) or site).host


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def _bound(numbers: "Collection[int] | array[int]") -> object:
    return apsw.carray(numbers if isinstance(numbers, array) else array("q", numbers))
