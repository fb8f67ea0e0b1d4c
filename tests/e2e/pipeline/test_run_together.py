"""``sumi run`` is one command: signals reach both of its processes, and its verdict is true of both."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import pytest

from tests.commands import RunSumi, SpawnedSumi, SpawnSumi, wait_until
from tests.e2e.pipeline.run_site import LIMITS, PlainSite, configured_crawl, plain_site

MakeSite: TypeAlias = Callable[..., PlainSite]
EVERYTHING = "every page found is here"


def events_of(events: list[dict[str, Any]], process: str, name: str) -> list[dict[str, Any]]:
    return [event for event in events if event.get("process") == process and event["event"] == name]


def both_said(running: SpawnedSumi, name: str) -> bool:
    return all(events_of(running.events, process, name) for process in ("crawler", "scraper"))


def found_in(tmp_path: Path) -> set[str]:
    spool = tmp_path / "workspace" / "spool" / "discoveries"
    lines = [line for path in spool.glob("*.jsonl") for line in path.read_bytes().splitlines()]
    return {msgspec.json.decode(line)["url"] for line in lines}


@pytest.fixture
def make_site() -> Iterator[MakeSite]:
    """``make_site(pages=…, dead=…, delay=…)``; gone when the test ends."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(plain_site(**options))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_to_the_group_lets_pages_in_flight_finish(
    make_site: MakeSite, spawn_sumi: SpawnSumi, tmp_path: Path, number: signal.Signals
) -> None:
    site = make_site(pages=60, delay=0.8)
    configured_crawl(tmp_path, site)
    running = spawn_sumi("run", "--config", "crawl.yaml")
    wait_until(running, lambda: len(site.pages_asked()) >= 4)
    os.killpg(running.process.pid, number)  # as a terminal does
    assert running.process.wait(60) == 3
    said = running.stderr.read_text()
    assert "stopped at once" not in said
    assert said.splitlines()[-1].startswith("interrupted: ")
    assert EVERYTHING not in said
    assert found_in(tmp_path) == site.pages_asked()


def test_a_second_signal_aborts_both(make_site: MakeSite, spawn_sumi: SpawnSumi, tmp_path: Path) -> None:
    site = make_site(pages=60, delay=5.0)
    configured_crawl(tmp_path, site)
    running = spawn_sumi("run", "--config", "crawl.yaml", "--json")
    wait_until(running, lambda: bool(site.pages_asked()))
    os.killpg(running.process.pid, signal.SIGINT)
    wait_until(running, lambda: bool(events_of(running.events, "crawler", "state")))
    os.killpg(running.process.pid, signal.SIGINT)
    assert running.process.wait(60) == 4
    states = [event["state"] for event in events_of(running.events, "crawler", "state")]
    assert states == ["stopping", "aborting"]
    assert (running.events[-1]["process"], running.events[-1]["status"]) == ("run", "aborted")


def test_failed_pages_of_the_crawler_make_the_run_partial(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=10, dead=3)
    configured_crawl(tmp_path, site)
    done = run_sumi("run", "--config", "crawl.yaml", "--json")
    assert done.returncode == 1
    failed = [
        event["url"] for event in events_of(done.events, "crawler", "page") if event["ending"] == "failed"
    ]
    assert failed
    last = done.events[-1]
    assert (last["event"], last["process"], last["status"]) == ("summary", "run", "partial")
    assert sum(last["outcomes"].values()) == last["discovered"]
    assert [event["status"] for event in events_of(done.events, "scraper", "summary")] == ["complete"]
    again = run_sumi("run", "--config", "crawl.yaml", "--again")
    assert again.returncode == 1
    assert again.stderr.splitlines()[-1] == f"partial: crawl: {len(failed)} pages failed"
    assert "scrape: complete: " in again.stderr
    assert EVERYTHING not in again.stderr


def test_failures_of_the_crawler_are_shown_as_they_happen(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=10, dead=3)
    configured_crawl(tmp_path, site)
    done = run_sumi("run", "--config", "crawl.yaml")
    assert f"crawl: failed: {site.url}/" in done.stderr
    quiet = run_sumi("run", "--config", "crawl.yaml", "-q")
    assert quiet.returncode == 1
    assert len(quiet.stderr.splitlines()) == 1
    assert quiet.stderr.startswith("partial: crawl: ")


def test_a_run_without_problems_is_complete(make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path) -> None:
    configured_crawl(tmp_path, make_site(pages=6))
    done = run_sumi("run", "--config", "crawl.yaml")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == f"complete: {EVERYTHING}"


def test_a_killed_crawler_is_reported(
    make_site: MakeSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=60, delay=0.3)
    configured_crawl(tmp_path, site)
    running = spawn_sumi("run", "--config", "crawl.yaml")
    wait_until(running, lambda: len(site.pages_asked()) >= 3)
    status = run_sumi("crawl", "status", "--config", "crawl.yaml", "--json")
    os.kill(msgspec.json.decode(status.stdout)["process"], signal.SIGKILL)
    assert running.process.wait(60) == 4
    said = running.stderr.read_text()
    assert said.splitlines()[-1].startswith("aborted: the crawler was killed by SIGKILL")
    assert EVERYTHING not in said


def test_a_crawler_that_refused_to_start_is_reported(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    configured_crawl(tmp_path, make_site(pages=6))
    (tmp_path / "workspace" / "seeds.txt").write_text("# none\n")
    done = run_sumi("run", "--config", "crawl.yaml")
    assert done.returncode == 2
    assert "has no URL in it" in done.stderr.splitlines()[-1]
    assert done.stderr.splitlines()[-1].startswith("aborted: the crawler refused to start: ")
    assert EVERYTHING not in done.stderr


def test_a_page_limit_makes_it_limited(make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path) -> None:
    configured_crawl(tmp_path, make_site(pages=30), caps={"max_pages": 3})
    done = run_sumi("run", "--config", "crawl.yaml")
    assert done.returncode == 0, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("limited: crawl: ")
    assert last.endswith(" pages left out: the page limit was reached (caps.max_pages)")
    assert EVERYTHING not in done.stderr


def test_reload_and_status_signals_reach_both_processes(
    make_site: MakeSite, spawn_sumi: SpawnSumi, tmp_path: Path
) -> None:
    site = make_site(pages=60)
    config = configured_crawl(tmp_path, site, limits=LIMITS | {"req_per_sec": 10})
    running = spawn_sumi("run", "--config", "crawl.yaml", "--json")
    wait_until(running, lambda: len(site.pages_asked()) >= 3)
    config.write_text(config.read_text().replace("req_per_sec: 10", "req_per_sec: 0.01"))
    running.process.send_signal(signal.SIGHUP)
    wait_until(running, lambda: both_said(running, "retuned"))
    running.process.send_signal(signal.SIGUSR1)
    wait_until(running, lambda: both_said(running, "status"))
    for process in ("crawler", "scraper"):
        assert events_of(running.events, process, "retuned")[0]["delay"] == 100.0
    asked = len(site.asked)
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(60) == 3
    assert len(site.asked) <= asked + 1


def test_both_together_keep_the_rate_limit(make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path) -> None:
    site = make_site(pages=6)
    slow = LIMITS | {"req_per_sec": 4, "per_host_concurrency": 1}
    configured_crawl(tmp_path, site, limits=slow, spool={"hand_over": False})
    done = run_sumi("run", "--config", "crawl.yaml")
    assert done.returncode == 0, done.stderr
    times = [when for when, _ in site.asked]
    assert len(times) >= 2 * len(site.pages_asked())
    assert min(later - earlier for earlier, later in pairwise(times)) > 0.25 * 0.9
    assert "the scraper waits while the crawler fetches" in done.stderr


def test_the_scraper_may_contact_what_a_seed_names_as_the_crawler_may(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=6)
    configured_crawl(tmp_path, site, spool={"hand_over": False})
    assert run_sumi("crawl", "run", "--config", "crawl.yaml").returncode == 0
    found = len(site.pages_asked())
    scraped = run_sumi("scrape", "run", "--config", "crawl.yaml", "--json")
    assert scraped.returncode == 0, scraped.stderr
    assert scraped.events[-1]["outcomes"] == {"captured": found}


def test_the_scraper_fetches_while_the_crawler_waits_for_it(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=40)
    slow = LIMITS | {"req_per_sec": 15, "per_host_concurrency": 1}
    configured_crawl(tmp_path, site, limits=slow, spool={"hand_over": False, "max_backlog_gb": 0.000001})
    done = run_sumi("run", "--config", "crawl.yaml", "--json")
    assert done.returncode == 0, done.stderr
    assert "paused" in [event["state"] for event in events_of(done.events, "crawler", "state")]
    assert done.events[-1]["outcomes"] == {"captured": 41}
