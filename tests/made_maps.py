"""Databases of maps, made to measure: pages, links and references as a crawl would have left them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from sumi.jobs.map.store.schema import SCHEMA
from sumi.urls import split

_NOTED = {"Blacklisted": "blacklisted", "Stubbed": "stubbed"}


@dataclass(frozen=True)
class Page:
    url: str
    state: str = "Processed"
    title: str | None = None
    depth: int | None = 1
    outcome: str = "captured"
    run: int = 1  # in which it was discovered
    history: Mapping[int, str] = field(default_factory=dict)  # what each later run found
    changed_run: int | None = None
    status: int | None = None


def make_map(
    path: Path,
    pages: Iterable[Page],
    links: Iterable[tuple[int, ...]] = (),
    *,
    runs: int = 1,
    vanished: Iterable[tuple[int, int, int]] = (),
    rate_limited: Mapping[str, int] | None = None,
) -> Path:
    """``links`` are between positions in ``pages``, and the run that found them (1)."""
    db = apsw.Connection(str(path))
    db.execute("PRAGMA foreign_keys = ON; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    with db:
        db.execute(SCHEMA)
        for run in range(1, runs + 1):
            times = (f"2026-01-0{run}T10:00:00.000Z", f"2026-01-0{run}T14:15:23.000Z")
            db.execute("INSERT INTO runs VALUES (?, ?, ?, 'hash', 'completed')", (run, *times))
        for number, page in enumerate(pages, 1):
            _add_page(db, number, page)
        for source, target, *found in links:
            run = found[0] if found else 1
            db.execute(
                "INSERT INTO links VALUES (?1 << 32 | ?2, ?1, ?2, ?3)",
                (source + 1, target + 1, run),
            )
        for source, target, run in vanished:
            db.execute("INSERT INTO vanished_links VALUES (?, ?, ?)", (source + 1, target + 1, run))
        for name in _NOTED.values():
            db.execute(
                f"INSERT INTO {name}_referrers ({name}_url_id, referrer_page_id, discovered_run) "
                f"SELECT to_page_id, from_page_id, discovered_run FROM links "
                f"WHERE to_page_id IN (SELECT id FROM {name}_urls)"
            )
        for domain, requests in (rate_limited or {}).items():
            db.execute(
                "INSERT INTO domain_states (domain, request_count, rate_limited) VALUES (?, ?, 1)",
                (domain, requests),
            )
    db.close()
    return path


def _add_page(db: apsw.Connection, number: int, page: Page) -> None:
    domain = split(page.url).host
    db.execute(
        "INSERT INTO urls (id, url, host, hop, kind, depth, score, redirects, state, attempts, address, "
        "outcome, rule, facts, latest, key) "
        "VALUES (?1, ?2, ?3, 'link', 'page', 0, 0, 0, 2, 0, '', ?4, '', '', 0, ?1)",
        (number - 1, page.url, domain, page.outcome),
    )
    state = [page.state, *page.history.values()][-1]
    db.execute(
        "INSERT INTO pages (id, url, domain, state, title, status_code, discovered_at, discovered_run, "
        "changed_run) VALUES (?, ?, ?, ?, ?, ?, '2026-01-01T10:00:00.000Z', ?, ?)",
        (number, page.url, domain, state, page.title, page.status, page.run, page.changed_run or page.run),
    )
    for run, entered in {page.run: page.state, **page.history}.items():
        for step in ("Queued", entered):
            db.execute("INSERT INTO page_history VALUES (?, '', ?, ?, '')", (number, run, step))
    if page.depth is not None:
        db.execute(
            "INSERT INTO page_depths (page_id, quality_origin, depth) VALUES (?, 'good.test', ?)",
            (number, page.depth),
        )
    if page.state in _NOTED:
        db.execute(
            f"INSERT INTO {_NOTED[page.state]}_urls (id, url, domain, reference_count, first_seen_run) "
            "VALUES (?, ?, ?, 0, 1)",
            (number, page.url, domain),
        )


GOOD = Page("https://good.test/", depth=0, title="Home")
SMALL = [
    GOOD,
    Page("https://good.test/a", depth=0),
    Page("https://near.test/", depth=1),
    Page("https://near.test/two", depth=2),
    Page("https://good.test/missing", "DeadLink", depth=0, outcome="not_found"),
    Page("https://ads.test/pixel", "Blacklisted", depth=1, outcome="blacklisted"),
    Page("https://wiki.test/Page", "Stubbed", depth=1, outcome="stubbed"),
    Page("https://slow.test/", "RateLimited", depth=1, outcome="rate_limited"),
    Page("https://near.test/x", "Failed", depth=2, outcome="timed_out"),
    Page("https://near.test/y", "Failed", depth=2, outcome="robots_denied"),
    Page("https://dark.test/", "Unreachable", depth=2, outcome="connect_failed"),
]
SMALL_LINKS = [(0, 1), (0, 2), (1, 4), (0, 5), (1, 5), (0, 6), (2, 3), (2, 7), (3, 8), (3, 9), (3, 10)]


def small_map(folder: Path) -> Path:
    return make_map(folder / "map.db", SMALL, SMALL_LINKS, rate_limited={"slow.test": 45})
