"""A killed map repeats only the requests of pages in flight, and a finished one none."""

import os
import signal
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from tests.commands import RunSumi, SpawnSumi
from tests.e2e.map.map_site import Page, Web, running_web, wait_for_more
from tests.e2e.map.test_control import wait_until
from tests.jobs.map.map_world import tables

HOSTS = [f"h{n}.test" for n in range(30)]
AT_ONCE = 3
KILLS = 5


def many_hosts() -> dict[str, Page]:
    pages = {f"{host}/": Page(("/1", "/2")) for host in HOSTS}
    pages |= {f"{host}/{n}": Page() for host in HOSTS for n in (1, 2)}
    return pages | {"good.test/": Page(tuple(f"{host}/" for host in HOSTS))}


def repeated(web: Web) -> int:
    asked = Counter((asked.method, asked.address) for asked in web.log)
    return sum(count - 1 for count in asked.values())


def test_a_kill_repeats_at_most_the_pages_in_flight(
    tmp_path: Path, run_sumi: RunSumi, spawn_sumi: SpawnSumi
) -> None:
    with running_web(many_hosts(), tmp_path, tls=False) as web:
        config = web.config(
            tmp_path,
            {"good.test": "good.test/"},
            max_concurrent_pages_open=AT_ONCE,
            minimum_time_on_page=1000,  # so that every host has a page between its HEAD and its GET
        )
        for kill in range(1, KILLS + 1):
            running = spawn_sumi("map", str(config), "--json")
            wait_for_more(web, 33)
            os.killpg(running.process.pid, signal.SIGKILL)
            running.process.wait()
            assert repeated(web) <= kill * AT_ONCE
        assert run_sumi("map", str(config)).returncode == 0
        assert repeated(web) <= KILLS * AT_ONCE
        assert {asked.address for asked in web.log} >= many_hosts().keys()


def asked_for_pages(web: Web) -> list[str]:
    return [asked.address for asked in web.log if asked.method != "POST"]


SMALL = {
    "good.test/": Page(("/a", "/dead", "busy.test/", "gone.test/")),
    "good.test/a": Page(),
    "busy.test/": Page(status=429),
    "hooks.test/done": Page(),
}


UNTIMED = {"seconds": 0, "time": ""}


def test_a_finished_run_says_so_and_requests_nothing(tmp_path: Path, run_sumi: RunSumi) -> None:
    with running_web(dict(SMALL), tmp_path, tls=False) as web:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}, max_domain_requests=3))
        first = run_sumi("map", config, "--json")
        assert first.events[-1]["outcomes"]["over_budget"]  # also where pages are left over
        database = (tmp_path / "map.db").read_bytes()
        web.log.clear()
        for option in ((), ("--resume",)):
            again = run_sumi("map", config, "--json", *option)
            assert again.returncode == first.returncode
            assert [event["event"] for event in again.events] == ["finished", "summary"]
            assert again.events[-1] | UNTIMED == first.events[-1] | UNTIMED
        said = run_sumi("map", config).stderr
        assert "finished at 20" in said
        assert "give --update to look for changes" in said
        assert web.log == []
        assert tables(tmp_path / "map.db", "SELECT count(*) FROM runs") == [(1,)]
        assert len((tmp_path / "map.db").read_bytes()) == len(database)
        run_sumi("map", config, "--update")
        assert "good.test/a" in asked_for_pages(web)
        assert tables(tmp_path / "map.db", "SELECT count(*) FROM runs") == [(2,)]


def test_a_run_killed_after_its_end_was_recorded_completes_the_rest(
    tmp_path: Path, run_sumi: RunSumi, spawn_sumi: SpawnSumi
) -> None:
    with running_web(dict(SMALL), tmp_path, tls=False) as web:
        hook = f'[webhooks]\non-complete = "{web.url("hooks.test/done")}"\n'
        config = str(web.config(tmp_path, {"good.test": "good.test/"}, hook))
        web.held.add("hooks.test/done")  # the webhook comes last of all, and waits for its answer
        running = spawn_sumi("map", config, "--json")
        wait_until(lambda: bool(web.asked("hooks.test/done")))
        os.killpg(running.process.pid, signal.SIGKILL)
        running.process.wait()
        web.held.clear()
        summary = tmp_path / "map-summary.md"
        written = summary.read_text()
        summary.unlink()
        web.log.clear()
        assert run_sumi("map", config).returncode == 1  # gone.test is not there
        assert summary.read_text() == written
        assert [asked.address for asked in web.log] == ["hooks.test/done"]
        summary.unlink()
        assert run_sumi("map", config).returncode == 1
        assert len(web.log) == 1  # nobody is told twice by a run that was not killed


@pytest.mark.parametrize("before_the_end", [True, False])
def test_a_run_killed_around_its_end_repeats_no_request(
    before_the_end: bool, tmp_path: Path, run_sumi: RunSumi
) -> None:
    """Whether its last transaction was committed or not."""
    with running_web(dict(SMALL), tmp_path, tls=False) as web:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}))
        run_sumi("map", config)
        with closing(sqlite3.connect(tmp_path / "map.db")) as database, database:
            if before_the_end:
                database.execute("UPDATE runs SET status = 'running', finished_at = NULL")
            else:
                database.execute("UPDATE notes SET value = '1' WHERE key = 'untold run'")
        (tmp_path / "map-summary.md").unlink()
        web.log.clear()
        assert run_sumi("map", config).returncode == 1
        assert web.log == []
        assert "**Status:** Completed" in (tmp_path / "map-summary.md").read_text()
        assert tables(tmp_path / "map.db", "SELECT id, status FROM runs") == [(1, "completed")]


def test_a_killed_update_resumes_and_requests_nothing_twice(
    tmp_path: Path, run_sumi: RunSumi, spawn_sumi: SpawnSumi
) -> None:
    with running_web(many_hosts(), tmp_path, tls=False) as web:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}, max_concurrent_pages_open=AT_ONCE))
        run_sumi("map", config)
        with closing(sqlite3.connect(tmp_path / "map.db")) as database, database:
            database.execute("DROP TABLE heads_answered")  # a map from before there was one
        web.log.clear()
        for _ in range(2):
            running = spawn_sumi("map", config, "--update", "--json")
            wait_for_more(web, 20)
            os.killpg(running.process.pid, signal.SIGKILL)
            running.process.wait()
        assert run_sumi("map", config, "--update").returncode == 0
        assert repeated(web) <= 2 * AT_ONCE
        assert tables(tmp_path / "map.db", "SELECT id, status FROM runs") == [
            (1, "completed"),
            (2, "completed"),
        ]
