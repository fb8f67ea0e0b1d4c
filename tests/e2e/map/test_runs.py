"""Runs of a map: killed and resumed, limited, repeated to find changes, or refused."""

import os
import random
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.commands import RunSumi, SpawnSumi
from tests.e2e.map.map_site import Page, running_web, wait_for_more
from tests.jobs.map.map_world import recorded_depths, recorded_links, states, tables


def contents(database: Path) -> dict[str, Any]:
    """The content of a map without dates and ids."""
    references = "SELECT url, reference_count FROM stubbed_urls ORDER BY url"
    return {
        "states": states(database),
        "links": sorted(recorded_links(database)),
        "depths": dict(recorded_depths(database)),
        "stubbed": tables(database, references),
        "queue": tables(database, "SELECT count(*) FROM frontier"),
        "runs": tables(database, "SELECT id, status FROM runs"),
        "broken references": tables(database, "PRAGMA foreign_key_check"),
    }


def random_web(seed: int) -> dict[str, Page]:
    chance = random.Random(seed)
    hosts = ("good.test", "near.test", "far.test", "wiki.test")
    names = [f"{host}/{n or ''}" for host in hosts for n in range(8)]
    return {name: Page(tuple(chance.sample(names, 4))) for name in names}


def test_many_kills_end_with_the_same_map(tmp_path: Path, run_sumi: RunSumi, spawn_sumi: SpawnSumi) -> None:
    with running_web(random_web(5), tmp_path) as web:
        stub = '[[stub]]\ndomain = "wiki.test"\n'
        config = web.config(tmp_path, {"good.test": "good.test/"}, stub)
        for _ in range(4):
            running = spawn_sumi("map", str(config), "--json")
            wait_for_more(web, 7)
            os.killpg(running.process.pid, signal.SIGKILL)
            running.process.wait()
        assert run_sumi("map", str(config)).returncode == 0
        interrupted = contents(tmp_path / "map.db")
        (tmp_path / "map.db").rename(tmp_path / "first.db")
        assert run_sumi("map", str(config)).returncode == 0
        assert interrupted == contents(tmp_path / "map.db")


def test_a_429_suspends_one_domain_until_the_next_run(tmp_path: Path, run_sumi: RunSumi) -> None:
    pages = {
        "good.test/": Page(("busy.test/1", "busy.test/2", "busy.test/3", "calm.test/")),
        "busy.test/1": Page(status=429),
        "busy.test/2": Page(),
        "busy.test/3": Page(),
        "calm.test/": Page(),
    }
    with running_web(pages, tmp_path) as web:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}))
        first = run_sumi("map", config, "--json")
        assert first.events[-1]["outcomes"] == {"captured": 2, "rate_limited": 3}
        database = tmp_path / "map.db"
        found = {web.address(url): state for url, state in states(database).items()}
        assert {found[f"busy.test/{n}"] for n in (1, 2, 3)} == {"RateLimited"}
        assert (found["calm.test/"], found["good.test/"]) == ("Processed", "Processed")
        assert tables(database, "SELECT domain FROM domain_states WHERE rate_limited") == [("busy.test",)]
        assert [asked.address for asked in web.log if asked.address.startswith("busy.test")] == [
            "busy.test/robots.txt",
            "busy.test/1",
        ]
        web.pages["busy.test/1"] = Page()
        assert run_sumi("map", config, "--update").returncode == 0
        assert set(states(database).values()) == {"Processed"}
        history = "SELECT page_history.state FROM page_history JOIN pages ON pages.id = page_id WHERE url = ?"
        assert [state for (state,) in tables(database, history, web.url("busy.test/2"))] == [
            *("Queued", "RateLimited", "Queued", "Fetching", "Processed")
        ]


def test_the_next_run_does_not_wait_for_a_long_retry_after(tmp_path: Path, run_sumi: RunSumi) -> None:
    busy = Page(status=429, headers=(("Retry-After", "3600"),))
    with running_web({"good.test/": Page(("busy.test/",)), "busy.test/": busy}, tmp_path, tls=False) as web:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}))
        for _ in range(2):
            assert run_sumi("map", config, "--update").returncode == 0
            assert states(tmp_path / "map.db")[web.url("busy.test/")] == "RateLimited"
        assert web.asked("busy.test/") == ["HEAD"]
        assert "busy.test" in (tmp_path / "map-summary.md").read_text()


def test_a_resumed_run_does_not_retry_failures(tmp_path: Path, run_sumi: RunSumi) -> None:
    pages = {"good.test/": Page(("sick.test/", "busy.test/"))}
    pages |= {"sick.test/": Page(status=500), "busy.test/": Page(status=429)}
    with running_web(pages, tmp_path, tls=False) as web:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}))
        run_sumi("map", config)
        with closing(sqlite3.connect(tmp_path / "map.db")) as database, database:
            database.execute("UPDATE runs SET status = 'running'")
        web.log.clear()
        assert run_sumi("map", config).returncode == 0
        assert web.log == []
        assert tables(tmp_path / "map.db", "SELECT count(*) FROM page_history WHERE at < '2000'") == [(0,)]


def test_a_request_limit_ends_a_run_and_the_next_one_continues(tmp_path: Path, run_sumi: RunSumi) -> None:
    pages = {"good.test/": Page(("/a", "/b")), "good.test/a": Page(), "good.test/b": Page()}
    with running_web(pages, tmp_path) as web:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}, max_domain_requests=5))
        run_sumi("map", config)
        database = tmp_path / "map.db"
        assert len(web.log) == 5  # robots.txt, and twice HEAD and GET
        assert sorted(states(database).values()) == ["Processed", "Processed", "RequestLimitHit"]
        assert tables(database, "SELECT request_count FROM domain_states") == [(5,)]
        run_sumi("map", config, "--update")
        assert tables(database, "SELECT count(*) FROM pages WHERE visited_at IS NULL") == [(0,)]
        assert len(web.log) <= 10


def test_an_update_requests_changes_only_and_records_them(tmp_path: Path, run_sumi: RunSumi) -> None:
    def tagged(tag: str, *links: str) -> Page:
        return Page(links, headers=(("ETag", f'"{tag}"'),))

    pages = {
        "good.test/": tagged("one", "/a", "/b"),
        "good.test/a": tagged("two"),
        "good.test/b": tagged("3"),
    }
    with running_web(pages, tmp_path) as web:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}))
        run_sumi("map", config)
        web.pages["good.test/"] = tagged("four", "/a", "/c")
        web.pages["good.test/c"] = tagged("5")
        del web.pages["good.test/b"]
        web.log.clear()
        again = run_sumi("map", config, "--update", "--json")
        assert again.events[-1]["outcomes"] == {"captured": 2, "unchanged": 1, "not_found": 1}
        assert web.asked("good.test/a") == ["GET"]
        database = tmp_path / "map.db"
        changed = {web.address(u): run for u, run in tables(database, "SELECT url, changed_run FROM pages")}
        assert changed == {"good.test/": 2, "good.test/a": 1, "good.test/b": 1, "good.test/c": 2}
        vanished = "SELECT url, run FROM vanished_links JOIN pages ON pages.id = to_page_id"
        assert tables(database, vanished) == [(web.url("good.test/b"), 2)]
        assert tables(database, "SELECT id, status FROM runs") == [(1, "completed"), (2, "completed")]


def test_a_changed_configuration_is_refused_unless_resumed(
    tmp_path: Path, run_sumi: RunSumi, spawn_sumi: SpawnSumi
) -> None:
    pages = {"good.test/": Page(("near.test/",)), "near.test/": Page(("far.test/",)), "far.test/": Page()}
    pages |= {f"good.test/{n}": Page((f"/{n + 1}",)) for n in range(30)}
    pages["good.test/"] = Page(("/0", "near.test/"))
    with running_web(pages, tmp_path) as web:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}, max_depth=1))
        running = spawn_sumi("map", config, "--json")
        wait_for_more(web, 12)
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(30) == 3
        database = tmp_path / "map.db"
        assert tables(database, "SELECT status FROM runs") == [("interrupted",)]
        web.config(tmp_path, {"good.test": "good.test/"}, max_depth=3)
        refused = run_sumi("map", config)
        assert refused.returncode == 2
        assert "the configuration has changed since" in refused.stderr
        run_sumi("map", config, "--resume")
        found = {web.address(url): state for url, state in states(database).items()}
        assert (found["near.test/"], found["far.test/"]) == ("Processed", "Processed")
        assert tables(database, "SELECT status FROM runs ORDER BY id") == [("interrupted",), ("completed",)]


def test_a_damaged_database_is_refused_with_what_to_do(tmp_path: Path, run_sumi: RunSumi) -> None:
    with running_web({"good.test/": Page()}, tmp_path) as web:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}))
        (tmp_path / "map.db").write_bytes(b"not a database, whatever its name says" * 200)
        damaged = run_sumi("map", config)
        assert (damaged.returncode, "restore it from a copy" in damaged.stderr) == (4, True)
        assert web.log == []
