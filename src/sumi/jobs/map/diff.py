"""The differences between two runs of a map: pages, links and domains added, removed or changed.

A page's state in a run is the last one learnt up to that run, so a page that waits to be visited again has
not changed. Content is compared by its hash. Only the last change of content is recorded: a change found by a
still later run hides earlier ones.
"""

import os
from collections.abc import Iterator
from enum import StrEnum
from os import PathLike
from typing import Final

import apsw
import msgspec

from sumi.errors import UsageError
from sumi.jobs.map.database import open_map

_READ: Final = "Processed"
_GONE: Final = "DeadLink"
_UNKNOWN: Final = "Queued"
_NOT_VISITED: Final = {"Blacklisted": "blacklisted", "Stubbed": "stubbed"}

# In a group, SQLite takes the other columns from the row with the maximum.
_PAGES = """
    WITH learnt AS (
        SELECT rowid AS number, page_id, run, state FROM page_history
        WHERE state NOT IN ('Discovered', 'Queued', 'Fetching')
    ),
    before AS MATERIALIZED (
        SELECT page_id, state, max(number) FROM learnt WHERE run <= :old GROUP BY page_id
    ),
    after AS MATERIALIZED (
        SELECT page_id, state, max(number) FROM learnt WHERE run <= :new GROUP BY page_id
    )
    SELECT url, domain, discovered_run, changed_run, before.state, after.state
    FROM pages LEFT JOIN before ON before.page_id = pages.id LEFT JOIN after ON after.page_id = pages.id
    WHERE discovered_run <= :new ORDER BY pages.id
"""
_NEW_LINKS = """
    SELECT a.url, b.url FROM links JOIN pages a ON a.id = from_page_id JOIN pages b ON b.id = to_page_id
    LEFT JOIN vanished_links USING (from_page_id, to_page_id)
    WHERE links.discovered_run > :old AND links.discovered_run <= :new
        AND (vanished_links.run IS NULL OR vanished_links.run > :new)
    ORDER BY links.id
"""
_LOST_LINKS = """
    SELECT a.url, b.url FROM vanished_links JOIN links USING (from_page_id, to_page_id)
    JOIN pages a ON a.id = from_page_id JOIN pages b ON b.id = to_page_id
    WHERE vanished_links.run > :old AND vanished_links.run <= :new AND links.discovered_run <= :old
    ORDER BY links.id
"""


class Subject(StrEnum):
    PAGE = "page"
    LINK = "link"
    DOMAIN = "domain"


class Event(StrEnum):
    CAME = "came"
    WENT = "went"
    CHANGED = "changed"


class Difference(msgspec.Struct, frozen=True, omit_defaults=True):
    subject: Subject
    event: Event
    name: str  # a URL or a domain; for a link, the page that has it
    target: str = ""  # only for links
    before: str = ""
    after: str = ""


def diff_map(place: str | PathLike[str], old: int, new: int) -> Iterator[Difference]:
    """``sumi map diff``: what was added, removed or changed between two runs, given by number. ``place`` is
    the map's database, or its configuration (.toml)."""
    with open_map(os.fspath(place)) as db:
        yield from differences(db, old, new)


def differences(db: apsw.Connection, old: int, new: int) -> Iterator[Difference]:
    """Streamed: pages, then links, then domains. Each in order of discovery; links in the order of their
    pages."""
    _check_runs(db, old, new)
    runs = {"old": old, "new": new}
    domains: dict[str, _Domain] = {}
    for url, domain, found, changed, before, after in db.execute(_PAGES, runs):
        known = domains.setdefault(domain, _Domain())
        known.add(before if found <= old else None, after, existed=found <= old)
        difference = _page(url, found <= old, before or _UNKNOWN, after or _UNKNOWN)
        if difference is not None:
            yield difference
        elif found <= old and changed is not None and old < changed <= new:
            yield Difference(Subject.PAGE, Event.CHANGED, url, before="content", after="other content")
    for event, query in ((Event.CAME, _NEW_LINKS), (Event.WENT, _LOST_LINKS)):
        for source, target in db.execute(query, runs):
            yield Difference(Subject.LINK, event, source, target)
    for domain, known in domains.items():
        yield from known.difference(domain)


def _check_runs(db: apsw.Connection, old: int, new: int) -> None:
    runs = [number for (number,) in db.execute("SELECT id FROM runs ORDER BY id")]
    for run in (old, new):
        if run not in runs:
            there = ", ".join(map(str, runs[-10:])) or "none yet"
            raise UsageError(f"the map has no run {run}; its last runs are: {there}")
    if old >= new:
        raise UsageError(f"run {old} is not before run {new}; give the earlier one first")


def _page(url: str, existed: bool, before: str, after: str) -> Difference | None:
    if not existed:
        return Difference(Subject.PAGE, Event.CAME, url, after=after)
    if before == after:
        return None
    event = Event.WENT if (before, after) == (_READ, _GONE) else Event.CHANGED
    return Difference(Subject.PAGE, event, url, before=before, after=after)


class _Domain:
    """The state of a domain in both runs: that of its best page, so one page read means visited."""

    __slots__ = ("after", "before", "existed")

    def __init__(self) -> None:
        self.existed = False
        self.before = ""
        self.after = ""

    def add(self, before: str | None, after: str | None, *, existed: bool) -> None:
        self.existed = self.existed or existed
        if existed:
            self.before = _better(self.before, before)
        self.after = _better(self.after, after)

    def difference(self, name: str) -> Iterator[Difference]:
        if not self.existed:
            yield Difference(Subject.DOMAIN, Event.CAME, name, after=self.after)
        elif self.before != self.after:
            event = Event.WENT if (self.before, self.after) == ("visited", "not reached") else Event.CHANGED
            yield Difference(Subject.DOMAIN, event, name, before=self.before, after=self.after)


def _better(known: str, state: str | None) -> str:
    words = "visited" if state == _READ else _NOT_VISITED.get(state or "", "not reached")
    return words if known in ("", "not reached") or words == "visited" else known
