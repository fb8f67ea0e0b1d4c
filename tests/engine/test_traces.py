"""Whoever looks on sees a run's numbers in files, and can change its limits by one."""

import json
import os
from pathlib import Path

import pytest

from sumi.engine.traces import retuned, shorten
from sumi.policy import FetchLimits, FrontierPolicy, NetworkPolicy, PacingPolicy, Retune
from sumi.recipe import Job
from tests.commands import SpawnSumi, wait_until
from tests.engine.world import recipe_for
from tests.site import MakeSite


def _home(folder: Path) -> Path:
    return next((folder / "output").glob("127.0.0.1_*"), folder / "none")


def test_a_run_that_is_watched_shows_its_status_and_takes_new_limits(
    make_site: MakeSite, spawn_sumi: SpawnSumi, tmp_path: Path
) -> None:
    site = make_site(pages=40, seed=3)
    running = spawn_sumi("mirror", site.url, "--rate-limit", "2", "--json", "-o", "output")
    wait_until(running, lambda: (_home(tmp_path) / ".sumi" / "activity.jsonl").is_file())
    home = _home(tmp_path)
    assert not (home / ".sumi" / "now.json").exists()  # nobody watches
    (home / "watch.mirror").touch()
    wait_until(running, (home / ".sumi" / "now.json").is_file)
    now = json.loads((home / ".sumi" / "now.json").read_bytes())
    status = now["status"]
    assert sum(status["outcomes"].values()) + status["pending"] == status["discovered"]
    assert now["limits"]["rate_limit"] == 2.0
    (home / "retune.mirror").write_text('{"rate_limit": 0, "concurrency": 3, "max_pages": 5}')
    wait_until(running, lambda: any(event["event"] == "retuned" for event in running.events))
    assert running.process.wait(60) == 0
    (told,) = [event for event in running.events if event["event"] == "retuned"]
    assert (told["concurrency"], told["delay"], told["max_pages"]) == (3, 0.0, 5)
    assert not (home / "retune.mirror").exists()
    assert not (home / ".sumi" / "now.json").exists()
    lines = [json.loads(line) for line in (home / ".sumi" / "activity.jsonl").read_text().splitlines()]
    summary = running.events[-1]
    done = {name: count for name, count in summary["outcomes"].items() if name not in ("pending", "over_cap")}
    assert lines[-1]["outcomes"] == done
    assert lines[-1]["bytes"] > 0
    assert [line["at"] for line in lines] == sorted(line["at"] for line in lines)


@pytest.mark.parametrize("text", ["nonsense", '{"rate": 1}', '{"concurrency": 0}', '{"rate_limit": -1}'])
def test_limits_that_make_no_sense_change_nothing_and_are_told(
    make_site: MakeSite, spawn_sumi: SpawnSumi, tmp_path: Path, text: str
) -> None:
    site = make_site(pages=3, seed=3)
    home = tmp_path / "output" / site.url.removeprefix("http://").replace(":", "_")
    home.mkdir(parents=True)
    (home / "retune.mirror").write_text(text)
    running = spawn_sumi("mirror", site.url, "--rate-limit", "0", "--json", "-o", "output")
    assert running.process.wait(60) == 0
    (warning,) = [event["message"] for event in running.events if event["event"] == "warning"]
    assert "the limits were not changed: retune.mirror" in warning
    assert not (home / "retune.mirror").exists()


def test_what_is_not_named_stays_as_it_is() -> None:
    pacing = PacingPolicy(delay=2.0, sitemap_delay=3.0, per_host=4)
    job = Job(recipe_for([]), FrontierPolicy(pacing, max_pages=7), NetworkPolicy(), FetchLimits())
    assert retuned(job, Retune()) == job
    changed = retuned(job, Retune(per_host=9))
    assert changed.frontier == FrontierPolicy(PacingPolicy(delay=2.0, sitemap_delay=3.0, per_host=9), 7)
    assert retuned(job, Retune(rate_limit=4)).frontier.pacing.delay == 0.25


def test_a_long_file_forgets_its_older_half(tmp_path: Path) -> None:
    path = tmp_path / "activity.jsonl"
    path.write_text("".join(f'{{"at": {number}}}\n' for number in range(1000)))
    size = os.path.getsize(path)
    shorten(path, size)
    assert os.path.getsize(path) == size
    shorten(path, size - 1)
    lines = [json.loads(line)["at"] for line in path.read_text().splitlines()]
    assert lines[-1] == 999
    assert lines == list(range(lines[0], 1000))
    assert 400 < len(lines) < 600
