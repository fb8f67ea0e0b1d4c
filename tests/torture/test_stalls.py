"""Hosts that fall silent, in whatever phase, cost their own pages and no others."""

import random
from pathlib import Path

from tests.torture.stalls import PHASES, beside


def test_one_host_that_stalls_in_each_phase_holds_up_none_of_the_others(tmp_path: Path) -> None:
    assert beside(tmp_path / "output", list(PHASES), random.Random(1)) == []


def test_more_names_without_an_answer_than_are_looked_up_at_once(tmp_path: Path) -> None:
    assert beside(tmp_path / "output", ["name"] * 20, random.Random(2)) == []
