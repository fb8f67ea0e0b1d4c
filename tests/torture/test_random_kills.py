"""Killed at random, while recovering, or under a page limit: nothing lost, nothing twice."""

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests.commands import sumi_environment
from tests.site import MakeSite
from tests.torture.harness import CONCURRENCY, Bench, state_choices, state_options

STATES = pytest.mark.parametrize("state", state_choices())
Enough = Callable[[], bool]


def killed_when(bench: Bench, output: Path, enough: Enough, *extra: str) -> bool:
    """Start a run and kill it with its workers once ``enough``; False if it ended before."""
    process = subprocess.Popen(
        bench.command(output, *extra),
        cwd=bench.folder,
        env=sumi_environment(None),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while process.poll() is None and not enough():
        assert time.monotonic() < deadline, "the run is stuck"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.002)
    alive = process.poll() is None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return alive


def after_requests(bench: Bench, count: int) -> Enough:
    target = len(bench.site.requests()) + count
    return lambda: len(bench.site.requests()) >= target


def after_seconds(seconds: float) -> Enough:
    deadline = time.monotonic() + seconds
    return lambda: time.monotonic() >= deadline


@STATES
def test_killed_at_random_over_and_over(make_site: MakeSite, tmp_path: Path, state: str) -> None:
    bench = Bench(make_site(pages=300, seed=21), tmp_path, (*state_options(state), "--processes", "1"))
    chance = random.Random(21)
    output = bench.output()
    kills = sum(killed_when(bench, output, after_requests(bench, chance.randrange(1, 60))) for _ in range(7))
    assert kills > 3
    assert bench.violations(output, kills=kills) == []


@STATES
def test_killed_while_it_recovers_ten_times_running(make_site: MakeSite, tmp_path: Path, state: str) -> None:
    bench = Bench(make_site(pages=120, seed=22), tmp_path, state_options(state))
    output = bench.output()
    assert killed_when(bench, output, after_requests(bench, 40))
    chance = random.Random(22)
    kills = sum(killed_when(bench, output, after_seconds(chance.uniform(0, 0.2))) for _ in range(10))
    assert bench.violations(output, kills=kills + 1) == []


@STATES
def test_a_page_limit_is_met_exactly_under_kills(make_site: MakeSite, tmp_path: Path, state: str) -> None:
    bench = Bench(make_site(pages=120, seed=23), tmp_path, (*state_options(state), "--max-pages", "40"))
    output = bench.output()
    chance = random.Random(23)
    for _ in range(6):
        killed_when(bench, output, after_requests(bench, chance.randrange(1, 12)))
    assert bench.run(output).code in (0, 1)
    pages = msgspec.json.decode((bench.home(output) / "_manifest.json").read_bytes())["pages"]
    assert len({page["url"] for page in pages}) == len(pages) == 40
    assert len(list(bench.home(output).rglob("index.md"))) <= 40 + 6 * CONCURRENCY


@pytest.mark.parametrize("owner", ["1", str(os.getpid()), "not a number", ""], ids=["1", "own", "no", "none"])
def test_a_lock_that_its_process_left_behind_holds_nobody_up(
    make_site: MakeSite, tmp_path: Path, owner: str
) -> None:
    """The number in it may belong to another process by now; only a lock that is held counts."""
    bench = Bench(make_site(pages=12, seed=4), tmp_path)
    output = bench.output()
    killed_when(bench, output, after_requests(bench, 5))
    (bench.home(output) / ".sumi" / "lock").write_text(owner)
    assert bench.violations(output, kills=1) == []
