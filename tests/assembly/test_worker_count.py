"""The default number of workers: both of two cores are used, and there is always one."""

import pytest

from sumi.assembly.parts import worker_count, workers_for


@pytest.mark.parametrize(("cores", "workers"), [(1, 1), (2, 2), (3, 2), (4, 3), (16, 15)])
def test_every_core_has_something_to_do(cores: int, workers: int) -> None:
    assert workers_for(cores) == workers


def test_an_explicit_number_is_used() -> None:
    assert [worker_count(processes) for processes in (0, 1, 7)] == [0, 1, 7]
