"""How long the summary, the exports, the measures and the picture of a large map take.

    python -m benchmarks.map_exports --pages 1000000 --links 10000000

Makes a map of random pages in a temporary folder: domains of many sizes, most links to pages nearby.
"""

import argparse
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw

from sumi.jobs.map.analysis import measure
from sumi.jobs.map.database import open_database
from sumi.jobs.map.export import write_gexf, write_graphml, write_parquet_links, write_parquet_nodes
from sumi.jobs.map.graph import Level, domain_graph, page_graph
from sumi.jobs.map.picture import write_picture
from sumi.jobs.map.store.schema import LATE_INDEXES, SCHEMA
from sumi.jobs.map.summary import read_summary, summary_markdown

STATES = ("Processed",) * 16 + ("DeadLink", "Failed", "Unreachable", "Queued")
PAGES_PER_DOMAIN = 50


def make_map(path: Path, pages: int, links: int) -> None:
    chance = random.Random(1)
    db = apsw.Connection(str(path))
    db.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000")
    with db:
        db.execute(SCHEMA)
        # Filling the tables first and the indexes afterwards takes a fraction of the time.
        indexes = db.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql <> ''"
        ).fetchall()
        db.execute(";".join(f"DROP INDEX {name}" for name, _ in indexes))
        db.execute(
            "INSERT INTO runs VALUES (1, '2026-01-01T00:00:00Z', '2026-01-01T04:00:00Z', '', 'completed')"
        )
        db.executemany(
            "INSERT INTO urls (id, url, host, hop, kind, depth, score, redirects, state, attempts, address, "
            "outcome, rule, facts, latest, key) "
            "VALUES (?1, '', '', 'link', 'page', 0, 0, 0, 2, 0, '', 'captured', '', '', 0, ?1)",
            ((number,) for number in range(pages)),
        )
        db.executemany(
            "INSERT INTO pages (id, url, domain, state, title, status_code, discovered_at, discovered_run) "
            "VALUES (?, ?, ?, ?, ?, 200, '', 1)",
            _pages(pages, chance),
        )
        db.executemany(
            "INSERT INTO page_depths (id, page_id, quality_origin, depth) VALUES (?, ?, ?, ?)",
            (
                (page << 20 | number, page, origin, 0 if page < pages // 10 else 1 + page % 3)
                for page in range(1, pages + 1)
                for number, origin in enumerate("ab")
            ),
        )
        db.executemany(
            "INSERT OR IGNORE INTO links (id, from_page_id, to_page_id, discovered_run) "
            "VALUES (?1 << 32 | ?2, ?1, ?2, 1)",
            _links(pages, links, chance),
        )
        db.execute(";".join([*(str(statement) for _, statement in indexes), *LATE_INDEXES]))
    db.close()


def _pages(pages: int, chance: random.Random) -> Iterator[tuple[object, ...]]:
    domain, left = 0, 0
    for page in range(1, pages + 1):
        if not left:
            domain, left = (
                domain + 1,
                min(pages // 20 + 1, round(PAGES_PER_DOMAIN * chance.paretovariate(1.1) / 4)),
            )
        left = max(0, left - 1)
        name = f"site{domain}.example"
        yield page, f"https://{name}/section/{page}", name, STATES[page % len(STATES)], f"Page {page} & more"


def _links(pages: int, links: int, chance: random.Random) -> Iterator[tuple[int, int]]:
    for number in range(links):
        source = 1 + number * pages // links
        if chance.random() < 0.7:
            yield source, min(pages, max(1, source + chance.randint(-30, 30)))
        else:
            yield source, 1 + int(pages * chance.random() ** 3)


def measured(name: str, work: Callable[[], object]) -> None:
    begun, busy = time.perf_counter(), time.process_time()
    work()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    seconds, processor = time.perf_counter() - begun, time.process_time() - busy
    print(
        f"{name:<24}{seconds:8.1f} s  ({processor:.1f} of the processor), {memory:,} MiB at most", flush=True
    )


def run(path: Path, folder: Path) -> None:
    with open_database(path) as db, (folder / "out").open("wb") as file:
        measured("summary", lambda: summary_markdown(read_summary(db)))
        measured("graphml, pages", lambda: write_graphml(page_graph(db), file))
        measured("gexf, pages", lambda: write_gexf(page_graph(db), file))
        measured("parquet, nodes", lambda: write_parquet_nodes(page_graph(db), file))
        measured("parquet, links", lambda: write_parquet_links(page_graph(db), file))
        measured("graphml, domains", lambda: write_graphml(domain_graph(db), file))
        measured("picture", lambda: write_picture(db, Level.PAGE, file))
        measured("measures of domains", lambda: measure(domain_graph(db)))
        measured("measures of pages", lambda: measure(page_graph(db)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--links", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "map.db"
        measured("making the map", lambda: make_map(path, options.pages, options.links))
        print(f"{os.path.getsize(path) / 1e6:,.0f} MB")
        run(path, Path(name))


if __name__ == "__main__":
    main()
