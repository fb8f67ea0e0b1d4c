"""The tables of a map agree after a kill at any moment: a page is settled together with its links."""

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from tests.engine.world import crawled
from tests.jobs.map.map_world import (
    MapWorld,
    recorded_depths,
    recorded_links,
    searched_depths,
    states,
    tables,
)

HOSTS = ("q.test", "a.test", "b.test")
PAGES = [f"https://{host}/{path}" for host in HOSTS for path in ("", "x", "y", "z")]
COPIES = 40


def small_web(seed: int) -> MapWorld:
    chance = random.Random(seed)
    links = {page: tuple(chance.sample([*PAGES, "https://s.test/1"], 4)) for page in PAGES}
    return MapWorld(links, quality=("q.test",), stub=("s.test",), max_depth=2)


@contextmanager
def copying_at_statements(database: Path, into: Path) -> Iterator[list[Path]]:
    """Copies the files at the start of every statement, as a kill would leave them."""
    copies: list[Path] = []
    chance = random.Random(1)
    begun = 0

    def trace(cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        nonlocal begun
        begun += 1
        if chance.random() < 0.15 and len(copies) < COPIES and tables_exist(database):
            copies.append(copied(database, into / str(len(copies))))
        return True

    def watch(connection: apsw.Connection) -> None:
        connection.exec_trace = trace

    apsw.connection_hooks.append(watch)
    try:
        yield copies
    finally:
        apsw.connection_hooks.remove(watch)


def tables_exist(database: Path) -> bool:
    return database.with_name("map.db-wal").exists()


def copied(database: Path, folder: Path) -> Path:
    folder.mkdir()
    for name in ("map.db", "map.db-wal"):
        shutil.copyfile(database.with_name(name), folder / name)
    return folder / "map.db"


def check_agreement(path: Path, made: MapWorld) -> None:
    assert tables(path, "PRAGMA integrity_check") == [("ok",)]
    if not tables(path, "SELECT 1 FROM sqlite_schema WHERE name = 'pages'"):
        return  # it died before there was anything
    assert tables(path, "PRAGMA foreign_key_check") == []
    assert tables(path, "SELECT id + 1, url FROM urls ORDER BY id") == tables(
        path, "SELECT id, url FROM pages ORDER BY id"
    )
    waiting = tables(path, "SELECT id + 1 FROM urls WHERE outcome IS NULL ORDER BY id")
    assert waiting == tables(path, "SELECT id FROM pages WHERE state = 'Queued' ORDER BY id")
    assert waiting == tables(path, "SELECT page_id FROM frontier ORDER BY page_id")
    links = recorded_links(path)
    for url, state in states(path).items():
        if state == "Processed":
            assert {target for source, target in links if source == url} == set(made.links[url])
    if tables(path, "SELECT count(*) FROM depth_work") == [(0,)]:
        assert recorded_depths(path) == searched_depths(states(path), links, made.classes)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_kill_at_any_statement_leaves_tables_that_agree(seed: int, tmp_path: Path) -> None:
    made, database = small_web(seed), tmp_path / "map.db"
    with copying_at_statements(database, tmp_path) as copies:
        crawled(
            made.web,
            made.recipe(),
            open_store=lambda policy, now: made.open(database, policy, now),
        )
    assert len(copies) == COPIES
    for copy in copies:
        check_agreement(copy, made)
    done = len(states(copies[-1]))
    assert done > 1, "the copies must show a crawl on its way"
    last = copies[-1]
    crawled(made.web, made.recipe(), open_store=lambda policy, now: made.open(last, policy, now))
    assert states(last) == states(database)
    assert recorded_depths(last) == recorded_depths(database)


def test_a_power_cut_that_loses_any_part_of_the_log_does_too(tmp_path: Path) -> None:
    made, database, chance = small_web(3), tmp_path / "map.db", random.Random(3)
    with copying_at_statements(database, tmp_path) as copies:
        crawled(
            made.web,
            made.recipe(),
            open_store=lambda policy, now: made.open(database, policy, now),
        )
    for copy in copies:
        log = copy.with_name("map.db-wal")
        content = log.read_bytes()
        kept = chance.randrange(len(content) + 1)
        log.write_bytes(content[:kept] + bytes(chance.randrange(3) * 512))
        check_agreement(copy, made)
