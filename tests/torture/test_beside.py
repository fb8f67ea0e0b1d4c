"""A few tries of the campaigns about commands beside a running job; ``make torture`` has the others."""

from pathlib import Path

import pytest

from tests.torture.beside import JOBS, fresh_beside, second_commands


@pytest.mark.parametrize("seed", range(len(JOBS)), ids=JOBS)
def test_a_job_that_is_started_over_beside_itself_ends_whole(tmp_path: Path, seed: int) -> None:
    assert fresh_beside(tmp_path / "try", seed) == []


@pytest.mark.parametrize("seed", range(len(JOBS)), ids=JOBS)
def test_a_job_beside_which_others_are_begun_and_killed_ends_whole(tmp_path: Path, seed: int) -> None:
    assert second_commands(tmp_path / "try", seed) == []
