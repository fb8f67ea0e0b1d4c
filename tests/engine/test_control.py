"""A run can be paused, resumed, stopped and reloaded, reports its status, and makes no illegal transition."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.engine.control import MOVES, Command, Control, ControlLoop, FlagFiles, IllegalMove, RunState, moved
from sumi.engine.io import Io
from sumi.engine.limits import Limits
from sumi.errors import ConfigError
from sumi.events import Event, Retuned, Status, Warned
from sumi.model import Candidate
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import Judged
from sumi.state.memory import MemoryStore

PAUSE, STOP = "pause.mirror", "stop.mirror"


class HandClock:
    """Each sleep is a step of the test's own making; it ends after ``steps``."""

    def __init__(self, steps: Iterable[Callable[[], object]] = ()) -> None:
        self.time = 1000.0
        self._steps = iter(steps)

    def now(self) -> float:
        return self.time

    async def sleep_until(self, when: float) -> None:
        self.time = when
        step = next(self._steps, None)
        if step is None:
            raise asyncio.CancelledError
        step()

    async def wait(self, event: asyncio.Event, until: float) -> None:
        raise NotImplementedError


@pytest.mark.parametrize("current", RunState)
@pytest.mark.parametrize("target", RunState)
def test_only_moves_of_the_table_are_made(current: RunState, target: RunState) -> None:
    if target in MOVES[current]:
        assert moved(current, target) is target
    else:
        with pytest.raises(IllegalMove):
            moved(current, target)


@given(st.lists(st.sampled_from(["pause", "resume", "stop"]), max_size=12))
def test_no_order_of_requests_breaks_a_run_and_stopping_is_final(requests: list[str]) -> None:
    control = Control()
    stops = 0
    for request in requests:
        getattr(control, request)()
        stops += request == "stop"
        if stops:
            assert control.state is (RunState.STOPPING if stops == 1 else RunState.ABORTING)
    assert (control.was_stopped, control.was_aborted) == (stops > 0, stops > 1)
    control.end()
    for request in requests:  # too late: nothing to obey, and nothing to complain about
        getattr(control, request)()
    assert control.state is RunState.ENDED


def test_the_watcher_gets_every_change_with_its_reason() -> None:
    control, heard = Control(), list[tuple[str, str]]()
    control.watch(lambda state, why: heard.append((state, why)))
    control.pause("a file")
    control.pause("again")
    control.resume()
    control.stop("Ctrl-C")
    assert heard == [("paused", "a file"), ("running", ""), ("stopping", "Ctrl-C")]


def test_a_flood_of_requests_is_answered_once() -> None:
    async def scenario() -> list[Command]:
        control = Control()
        for _ in range(1000):
            control.show_status()
            control.reload()
        answered = [await control.next_command(), await control.next_command()]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(control.next_command(), 0)
        return answered

    assert asyncio.run(scenario()) == [Command.STATUS, Command.RELOAD]


# ── files ──────────────────────────────────────────────────────────────────────────────────────────────────


def states_while(home: Path, control: Control, *steps: Callable[[], object]) -> list[str]:
    """The run's state after each look at the files, a step between two looks."""
    states: list[str] = []

    def noting(step: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            states.append(control.state)
            step()

        return run

    async def scenario() -> None:
        clock = HandClock([noting(step) for step in (*steps, lambda: None)])
        await asyncio.gather(FlagFiles(home, "mirror", control).watch(clock), return_exceptions=True)

    asyncio.run(scenario())
    return states


def test_a_run_pauses_while_the_file_exists(tmp_path: Path) -> None:
    file = tmp_path / PAUSE
    states = states_while(tmp_path, Control(), file.touch, lambda: None, file.unlink)
    assert states == ["running", "paused", "paused", "running"]


def test_the_stop_file_stops_once_and_is_used_up(tmp_path: Path) -> None:
    control, file = Control(), tmp_path / STOP
    assert states_while(tmp_path, control, file.touch, file.touch) == ["running", "stopping", "stopping"]
    assert not file.exists()
    assert not control.was_aborted


def test_a_paused_run_can_be_stopped(tmp_path: Path) -> None:
    (tmp_path / PAUSE).touch()
    states = states_while(tmp_path, Control(), (tmp_path / STOP).touch, (tmp_path / PAUSE).unlink)
    assert states == ["paused", "stopping", "stopping"]


def test_a_pause_from_elsewhere_is_not_ended_by_a_file_that_is_not_there(tmp_path: Path) -> None:
    control = Control()
    control.pause("Python")
    file = tmp_path / PAUSE
    assert states_while(tmp_path, control, file.touch, file.unlink) == ["paused", "paused", "paused"]


@pytest.mark.parametrize("name", [PAUSE, STOP])
def test_links_and_folders_of_that_name_mean_nothing(tmp_path: Path, name: str) -> None:
    target = tmp_path / "target"
    target.touch()
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / name).symlink_to(target)
    (tmp_path / "folder" / name).mkdir(parents=True)
    for home in ("linked", "folder", "missing"):
        assert states_while(tmp_path / home, Control(), lambda: None) == ["running", "running"]
    assert target.exists()


# ── reload and status ──────────────────────────────────────────────────────────────────────────────────────


class Crawling:
    def __init__(self) -> None:
        self.limits: Limits | None = None

    def in_flight(self) -> tuple[str, ...]:
        return ("http://a.test/busy",)

    async def retune(self, limits: Limits) -> None:
        self.limits = limits


async def answers(
    crawl: Crawling, read_limits: Callable[[], Limits], *requests: Callable[[Control], None]
) -> list[Event]:
    store = MemoryStore(FrontierPolicy(), 1000.0)
    await store.add([Judged(Candidate("http://a.test/")), Judged(Candidate("http://a.test/b"))])
    await store.hold_host("a.test", 1060.0, "the server asked for a pause")
    control, told = Control(), list[Event]()
    unused = cast("Any", None)
    io = Io(store, store, unused, unused, unused, HandClock(), told.append, unused)

    async def read() -> Limits:
        return read_limits()

    for request in requests:
        request(control)
    task = asyncio.create_task(ControlLoop(crawl, io, control, read).run_commands())
    while len(told) < len(requests):
        await asyncio.sleep(0)
    task.cancel()
    return told


def test_new_limits_are_applied_and_reported() -> None:
    limits = Limits(3, FrontierPolicy(PacingPolicy(delay=0.5, per_host=2), max_pages=7))
    crawl = Crawling()
    told = asyncio.run(answers(crawl, lambda: limits, Control.reload))
    assert crawl.limits == limits
    assert told == [Retuned(3, 2, 0.5, 1.0, 7)]


def test_a_broken_file_changes_nothing_and_says_why_once() -> None:
    def broken() -> Limits:
        raise ConfigError(["site.toml: [mirror] rate-limit is 'fast'", "site.toml: [mirror] colour"])

    crawl = Crawling()
    told = asyncio.run(answers(crawl, broken, Control.reload))
    assert crawl.limits is None
    assert [type(event) for event in told] == [Warned]
    assert "rate-limit is 'fast'" in str(told[0])
    assert "colour" in str(told[0])


def test_the_status_says_what_each_host_waits_for_and_until_when() -> None:
    (status,) = asyncio.run(answers(Crawling(), lambda: Limits(1, FrontierPolicy()), Control.show_status))
    assert isinstance(status, Status)
    assert status.discovered == status.pending == 2
    assert status.in_flight == ("http://a.test/busy",)
    (host,) = status.hosts
    assert (host.pending, host.why, host.ready_at) == (2, "the server asked for a pause", 1060.0)
