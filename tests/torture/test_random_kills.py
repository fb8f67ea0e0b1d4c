"""Killed at random, while recovering, or under a page limit: nothing lost, nothing twice."""

import os
import random
from pathlib import Path

import pytest

from tests.site import MakeSite
from tests.torture.harness import Bench, state_choices, state_options
from tests.torture.kills import (
    after_requests,
    after_seconds,
    cap_violations,
    killed_again_and_again,
    killed_when,
)

STATES = pytest.mark.parametrize("state", state_choices())


@STATES
def test_killed_at_random_over_and_over(make_site: MakeSite, tmp_path: Path, state: str) -> None:
    bench = Bench(make_site(pages=300, seed=21), tmp_path, (*state_options(state), "--processes", "1"))
    output = bench.output()
    kills = killed_again_and_again(bench, output, 7, pages_between=60, seed=21)
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
    kills = killed_again_and_again(bench, output, 6, pages_between=12, seed=23)
    assert kills > 3
    assert cap_violations(bench, output, 40, kills) == []


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
