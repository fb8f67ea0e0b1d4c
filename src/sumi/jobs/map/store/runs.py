"""The runs of a map in one database: started, resumed, ended.

A stopped run is resumed. After a completed one, ``--update`` starts another, which visits everything again to
see what changed. If the configuration has changed, depths are computed again from the known links.
"""

from enum import Enum, auto
from typing import Final

import msgspec

from sumi.errors import StateError
from sumi.jobs.map.store.rows import UNVISITED_TABLES, MapRows, iso_time
from sumi.jobs.map.store.schema import LATE_INDEXES, OPEN, PAGES_BY_DOMAIN, SETTLED, WAITING, forget_visited
from sumi.jobs.map.store.states import S, check_transition
from sumi.model import Kind
from sumi.outcomes import Outcome
from sumi.scope.hosts import DomainClasses
from sumi.state.database.rows import Totals
from sumi.state.sqlite import sql

COMPLETED: Final = "completed"
INTERRUPTED: Final = "interrupted"
RUNNING: Final = "running"
# A note with the number of a completed run, until its summary is written and its webhook was sent.
UNANNOUNCED: Final = "untold run"

BEGIN_RUN: Final = "INSERT INTO runs (started_at, config_hash, status) VALUES (?, ?, 'running') RETURNING id"
RESUME_RUN: Final = "UPDATE runs SET status = 'running', finished_at = NULL WHERE id = ?"
END_RUN: Final = "UPDATE runs SET status = ?, finished_at = ? WHERE id = ?"

# Sorting an index takes as much memory again as the cache may: 140 MB became 226 at 60,000 pages. No later
# query needs a large cache.
SORT_IN_LITTLE_MEMORY: Final = "PRAGMA cache_size = -16384; PRAGMA shrink_memory"

# Request limits are per run.
READMIT_DOMAINS: Final = "UPDATE domain_states SET request_count = 0, rate_limited = 0"
NOTE_READMITTED: Final = f"""
INSERT INTO page_history (page_id, at, run, state, why)
SELECT pages.id, ?, ?, 'Queued', 'another run' FROM pages JOIN urls ON urls.id = pages.id - 1
WHERE pages.state <> 'Queued' AND urls.state IN ({OPEN})
"""  # noqa: S608 - constants only
READMIT_PAGES: Final = f"""
UPDATE pages SET state = 'Queued'
WHERE state <> 'Queued' AND id - 1 IN (SELECT id FROM urls WHERE state IN ({OPEN}))
"""  # noqa: S608
QUEUE_ALL: Final = f"""
INSERT OR REPLACE INTO frontier (id, page_id, priority, added_at)
SELECT id + 1, id + 1, depth, ? FROM urls
WHERE state IN ({OPEN}) AND id + 1 NOT IN (SELECT id FROM frontier)
"""  # noqa: S608
# Not on hosts with pages left unvisited: those come first, or every run would spend its requests on the same
# pages.
REOPEN_URLS: Final = f"""
UPDATE urls SET state = {WAITING}, outcome = NULL, rule = '', attempts = 0
WHERE state = {SETTLED} AND outcome <> '{Outcome.TOO_DEEP.value}'
    AND host NOT IN (SELECT host FROM urls WHERE state IN ({OPEN}))
"""  # noqa: S608
COUNT_OUTCOMES: Final = "SELECT outcome, count(*) FROM urls WHERE outcome IS NOT NULL GROUP BY outcome"
COUNT_OPEN: Final = f"SELECT kind, count(*) FROM urls WHERE state IN ({OPEN}) GROUP BY kind"  # noqa: S608

FORGET_HEADS: Final = "DELETE FROM heads_answered"
FORGET_DEPTHS: Final = "DELETE FROM page_depths; DELETE FROM depth_work;"
ALL_DOMAINS: Final = "SELECT DISTINCT domain FROM pages"
ORIGIN_DEPTHS: Final = (
    "INSERT INTO page_depths (id, page_id, quality_origin, depth) "
    "SELECT id << 20 | ?, id, ?, 0 FROM pages WHERE domain = ?"
)
ORIGIN_WORK: Final = "INSERT INTO depth_work (depth, page_id) SELECT 0, id FROM pages WHERE domain = ?"
ORIGIN_URLS: Final = (
    "UPDATE urls SET depth = 0 WHERE id IN (SELECT id - 1 FROM pages WHERE domain = ?) AND depth <> 0"
)


class MapRun(msgspec.Struct, frozen=True):
    """What a run needs to know of its configuration and options."""

    config_hash: str
    classes: DomainClasses
    origins: tuple[str, ...]  # the quality patterns
    max_depth: int
    accept_changes: bool = False  # resume a stopped run under another configuration
    update: bool = False  # start another run after a completed one


class Beginning(Enum):
    FIRST = auto()
    RESUMED = auto()  # a stopped run
    CHANGED = auto()  # a stopped run, resumed as a new run under another configuration
    AGAIN = auto()  # a new run that visits known pages again
    FINISHED = auto()  # no run: the last one completed, and --update was not given


def begin_run(rows: MapRows, run: MapRun, now: float) -> Beginning:
    """Sets ``rows.run_id``."""
    last = rows.last_run()
    if last is None:
        rows.in_one_transaction(lambda: _new_run(rows, run, now))
        return Beginning.FIRST
    number, config_hash, status = last
    changed = config_hash != run.config_hash
    if status != COMPLETED and changed and not run.accept_changes:
        raise StateError(
            f"{rows.path} holds run {number}, which was stopped, and the configuration has changed since: "
            "undo the change to continue it, give --resume to continue under the new configuration, "
            "or --fresh to start over"
        )
    ended = status == COMPLETED
    if ended and not changed and not run.update:
        rows.run_id = number
        return Beginning.FINISHED
    if not ended and not changed:
        rows.in_one_transaction(lambda: _resume(rows, number))
        return Beginning.RESUMED
    rows.in_one_transaction(lambda: _follow_up(rows, run, now, ended=ended, changed=changed))
    return Beginning.AGAIN if ended else Beginning.CHANGED


def end_run(rows: MapRows, status: str, now: float) -> None:
    """Blocks for seconds when a large map completes for the first time."""
    if status == COMPLETED:
        rows.run_sql(SORT_IN_LITTLE_MEMORY)
        for statement in LATE_INDEXES:
            rows.run_sql(statement)
    rows.in_one_transaction(lambda: _end(rows, status, now))


def _end(rows: MapRows, status: str, now: float) -> None:
    if status == COMPLETED:
        for state, name in UNVISITED_TABLES.items():
            rows.run_sql(forget_visited(name, state))
        rows.run_sql(sql.PUT_NOTE, (UNANNOUNCED, str(rows.run_id)))
    rows.run_sql(END_RUN, (status, iso_time(now), rows.run_id))


def _new_run(rows: MapRows, run: MapRun, now: float) -> None:
    rows.run_id = rows.run_sql(BEGIN_RUN, (iso_time(now), run.config_hash))


def _resume(rows: MapRows, number: int) -> None:
    rows.run_id = number
    rows.run_sql(RESUME_RUN, (number,))


def _follow_up(rows: MapRows, run: MapRun, now: float, *, ended: bool, changed: bool) -> None:
    last = rows.last_run()
    if last is not None and not ended:
        rows.run_sql(END_RUN, (INTERRUPTED, iso_time(now), last[0]))
    _new_run(rows, run, now)
    if ended:
        rows.run_sql(REOPEN_URLS)
    for state in (S.PROCESSED, S.RATE_LIMITED, S.REQUEST_LIMIT_HIT):
        check_transition(state, S.QUEUED)
    rows.run_sql(NOTE_READMITTED, (iso_time(now), rows.run_id))
    rows.run_sql(READMIT_PAGES)
    rows.run_sql(QUEUE_ALL, (iso_time(now),))
    rows.run_sql(READMIT_DOMAINS)
    rows.run_sql(FORGET_HEADS)
    _recount(rows)
    if changed:
        _recompute_depths(rows, run)


def _recount(rows: MapRows) -> None:
    outcomes = {Outcome(name): count for name, count in rows.run_query(COUNT_OUTCOMES)}
    captured = outcomes.get(Outcome.CAPTURED, 0) + outcomes.get(Outcome.UNCHANGED, 0)
    waiting = {Kind(name): count for name, count in rows.run_query(COUNT_OPEN)}
    totals: Totals = msgspec.structs.replace(
        rows.totals(), open=waiting, outcomes=outcomes, captured=captured
    )
    rows.run_sql(sql.PUT_TOTALS, (msgspec.json.encode(totals).decode(),))


def _recompute_depths(rows: MapRows, run: MapRun) -> None:
    """Only pages of origins have a depth now; the others get theirs through the stored links, as usual."""
    rows.run_sql(FORGET_DEPTHS)
    rows.run_sql(PAGES_BY_DOMAIN)  # a stopped run has none, and the queries below need it
    numbers = {origin: number for number, origin in enumerate(sorted(run.origins))}
    for (domain,) in rows.run_query(ALL_DOMAINS):
        origin = run.classes.origin_of(domain)
        if origin is not None:
            rows.run_sql(ORIGIN_DEPTHS, (numbers[origin], origin, domain))
            rows.run_sql(ORIGIN_WORK, (domain,))
            rows.run_sql(ORIGIN_URLS, (domain,))
