"""A run's clock goes forward at the pace of real time, even if the computer's clock is set meanwhile."""

from sumi.engine.io import SystemClock


class Computer:
    def __init__(self) -> None:
        self.wall = 1_700_000_000.0
        self.steady = 500.0

    def pass_time(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds

    def clock(self) -> SystemClock:
        return SystemClock(lambda: self.wall, lambda: self.steady)


def test_it_starts_at_the_wall_clock() -> None:
    assert Computer().clock().now() == 1_700_000_000.0


def test_a_wall_clock_that_is_set_during_a_run_moves_nothing() -> None:
    computer = Computer()
    clock = computer.clock()
    for jump in (2 * 86_400.0, -4 * 86_400.0, 3600.0):
        before = clock.now()
        computer.wall += jump
        computer.pass_time(10.0)
        assert clock.now() == before + 10.0


def test_a_later_run_takes_the_new_wall_clock() -> None:
    computer = Computer()
    computer.clock()
    computer.wall -= 86_400.0
    assert computer.clock().now() == 1_700_000_000.0 - 86_400.0
