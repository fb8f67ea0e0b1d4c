"""A running map can be paused, stopped and given other limits; `sumi status` says that it is a map."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

from sumi.frontier.pacing import SUSPENDED
from tests.commands import RunSumi, SpawnSumi
from tests.e2e.map.map_site import Page, running_web
from tests.jobs.map.map_world import states, tables

CHAIN = {f"good.test/{n or ''}": Page((f"/{n + 1}",)) for n in range(200)}


def wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)  # waits for another process, which no injected clock can hurry


def test_files_next_to_the_database_pause_and_stop_a_run(
    tmp_path: Path, run_sumi: RunSumi, spawn_sumi: SpawnSumi
) -> None:
    with running_web(dict(CHAIN), tmp_path, tls=False) as web:
        running = spawn_sumi("map", str(web.config(tmp_path, {"good.test": "good.test/"})), "--json")

        def told(state: str) -> bool:
            return any(event.get("state") == state for event in running.events)

        wait_until(lambda: len(web.log) > 3)
        (tmp_path / "pause.map").touch()
        wait_until(lambda: told("paused"))
        status = run_sumi("status", str(tmp_path / "map.db"))
        assert status.stdout.startswith("map ")
        assert "paused" in status.stdout.splitlines()[0]
        (tmp_path / "pause.map").unlink()
        wait_until(lambda: told("running"))
        asked = len(web.log)
        wait_until(lambda: len(web.log) > asked)
        (tmp_path / "stop.map").touch()
        assert running.process.wait(60) == 3
        assert tables(tmp_path / "map.db", "SELECT status FROM runs") == [("interrupted",)]
        assert "Queued" in states(tmp_path / "map.db").values()


def test_a_larger_request_limit_read_on_sighup_releases_pages(tmp_path: Path, spawn_sumi: SpawnSumi) -> None:
    pages = {
        "good.test/": Page(("/a", "/b", "/c")),
        **{f"good.test/{name}": Page() for name in "abc"},
        "slow.test/": Page(("/1",)),
        "slow.test/1": Page(("/2",)),
        "slow.test/2": Page(),
        "slow.test/robots.txt": Page(content_type="text/plain", body="User-agent: *\nCrawl-delay: 1.5\n"),
    }
    quality = {"good.test": "good.test/", "slow.test": "slow.test/"}
    with running_web(pages, tmp_path, tls=False) as web:
        config = web.config(tmp_path, quality, max_domain_requests=5)
        running = spawn_sumi("map", str(config), "--json")
        database = tmp_path / "map.db"
        held_back = "SELECT count(*) FROM pages WHERE state = 'RequestLimitHit' AND domain = 'good.test'"
        wait_until(lambda: len(web.asked("good.test/a")) == 2 and tables(database, held_back) == [(2,)])
        web.config(tmp_path, quality, max_domain_requests=50)
        running.process.send_signal(signal.SIGHUP)
        assert running.process.wait(60) == 0
        assert set(states(database).values()) == {"Processed"}
        assert [event["event"] for event in running.events].count("retuned") == 1


def test_the_status_of_a_run_names_hosts_that_left_it(
    tmp_path: Path, run_sumi: RunSumi, spawn_sumi: SpawnSumi
) -> None:
    pages = dict(CHAIN) | {"good.test/": Page(("/1", "busy.test/1", "busy.test/2"))}
    pages |= {"busy.test/1": Page(status=429), "busy.test/2": Page()}
    with running_web(pages, tmp_path, tls=False) as web:
        running = spawn_sumi("map", str(web.config(tmp_path, {"good.test": "good.test/"})))
        suspended = "SELECT count(*) FROM domain_states WHERE rate_limited"
        wait_until(lambda: "HEAD" in web.asked("busy.test/1"))
        wait_until(lambda: tables(tmp_path / "map.db", suspended) == [(1,)])
        running.process.send_signal(signal.SIGUSR1)
        wait_until(lambda: "left alone for this run" in running.stderr.read_text())
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(60) == 3
        status = json.loads(run_sumi("status", str(tmp_path / "map.db"), "--json").stdout)
        assert SUSPENDED in {host["why"] for host in status["hosts"]}
