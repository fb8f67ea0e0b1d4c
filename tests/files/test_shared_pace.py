"""Jobs on one machine share the pace of a host, over kills and restarts, and never wait for a dead one."""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.files import shared_pace
from sumi.files.shared_pace import BUCKETS, SharedPace

HOST = "docs.example.org"


class Time:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "pace"


@pytest.fixture
def jobs(file: Path, clock: Time) -> Iterator[tuple[SharedPace, SharedPace]]:
    first, second = SharedPace(file, clock), SharedPace(file, clock)
    yield first, second
    first.close()
    second.close()


def test_the_pause_of_one_job_holds_for_another(jobs: tuple[SharedPace, SharedPace], clock: Time) -> None:
    first, second = jobs
    assert first.claim(HOST, 2.0) == 0.0
    assert second.claim(HOST, 2.0) == pytest.approx(2.0)
    clock.now += 0.5
    first.answered(HOST, 2.0, since=0.25)  # so the host had the request 0.25 s after it was claimed
    assert second.claim(HOST, 2.0) == pytest.approx(1.75)
    assert second.claim("other.example.org", 2.0) == 0.0
    clock.now += 1.75
    assert second.claim(HOST, 2.0) == 0.0
    assert first.claim(HOST, 2.0) > 0


def test_nobody_asks_while_a_slow_answer_is_awaited(jobs: tuple[SharedPace, SharedPace], clock: Time) -> None:
    first, second = jobs
    assert first.claim(HOST, 1.0) == 0.0
    clock.now += 30
    assert second.claim(HOST, 1.0) > 0
    first.unsent(HOST)
    assert second.claim(HOST, 1.0) == 0.0


def test_a_pause_that_the_host_asked_for_holds_for_all(
    jobs: tuple[SharedPace, SharedPace], clock: Time
) -> None:
    first, second = jobs
    first.claim(HOST, 1.0)
    first.answered(HOST, 600.0)
    clock.now += 599
    assert second.claim(HOST, 1.0) == pytest.approx(1.0)


def test_a_job_alone_is_never_held_by_its_own_entries(
    jobs: tuple[SharedPace, SharedPace], clock: Time
) -> None:
    """Its own queue paces it: a microsecond of difference must not cost it a turn."""
    first, _ = jobs
    for _ in range(3):
        assert first.claim(HOST, 1.0) == 0.0
        first.answered(HOST, 1.0)


def test_a_job_may_ask_a_host_several_times_at_once(jobs: tuple[SharedPace, SharedPace], clock: Time) -> None:
    first, second = jobs
    assert [first.claim(HOST, 0.1), first.claim(HOST, 0.1)] == [0.0, 0.0]
    clock.now += 1
    first.answered(HOST, 0.1)
    assert second.claim(HOST, 0.1) > 0
    first.answered(HOST, 0.1)
    clock.now += 1
    assert second.claim(HOST, 0.1) == 0.0


def _claim_and_hang(file: Path, ready: "multiprocessing.synchronize.Event") -> None:
    assert SharedPace(file).claim(HOST, 60.0) == 0.0
    ready.set()
    signal.pause()


def test_after_a_kill_its_request_counts_as_sent_late_and_its_lock_is_gone(file: Path) -> None:
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    child = context.Process(target=_claim_and_hang, args=(file, ready))
    child.start()
    assert ready.wait(30)
    mine = SharedPace(file)
    assert 0 < mine.claim(HOST, 60.0) <= 60  # it is under way
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    assert 60 < mine.claim(HOST, 60.0) <= 120  # nobody knows when it arrived: the pause is kept twice
    mine.close()


def test_times_from_before_a_restart_of_the_machine_mean_nothing(
    file: Path, clock: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = SharedPace(file, clock)
    before.claim(HOST, 60.0)
    before.answered(HOST, 60.0)
    before.close()
    monkeypatch.setattr(shared_pace, "_boot", lambda: b"another start...")
    after = SharedPace(file, clock)
    assert after.claim(HOST, 60.0) == 0.0
    after.close()


@pytest.mark.parametrize("content", [b"", b"x", b"SUMIPAC1", os.urandom(1 << 16), b"\xff" * 5000])
def test_a_damaged_file_is_used_as_an_empty_one(file: Path, clock: Time, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    job = SharedPace(file, clock)
    assert job.claim(HOST, 1.0) == 0.0
    job.close()


def test_a_damaged_entry_holds_nobody_for_long(file: Path, clock: Time) -> None:
    job = SharedPace(file, clock)
    job.claim(HOST, 1.0)
    job.answered(HOST, 1e18)
    job.close()
    other = SharedPace(file, clock)
    assert other.claim(HOST, 1.0) <= 6 * 3600
    other.close()


def test_a_file_that_cannot_be_used_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "pace").mkdir()
    with pytest.raises(OSError, match="directory"):
        SharedPace(tmp_path / "pace")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="link"):
        SharedPace(tmp_path / "link")


def test_the_file_does_not_grow_with_the_hosts(file: Path, clock: Time) -> None:
    job = SharedPace(file, clock)
    for number in range(3000):
        assert job.claim(f"{number}.example.org", 1.0) == 0.0
        job.answered(f"{number}.example.org", 1.0)
    assert file.stat().st_size <= 64 + BUCKETS * 128
    job.close()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.floats(0.0, 3.0)), max_size=40))
def test_no_gap_is_shorter_than_the_pause(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, int, float]]
) -> None:
    """Three jobs, two hosts, at any times: between two requests to one host lies its pause."""
    clock, file = Time(), tmp_path_factory.mktemp("pace") / "pace"
    jobs = [SharedPace(file, clock) for _ in range(3)]
    pause, last = 1.0, dict.fromkeys((0, 1), 0.0)
    due = dict.fromkeys([(job, host) for job in range(3) for host in (0, 1)], 0.0)  # by each job's own queue
    for number, host, later in steps:
        clock.now += later
        if clock.now < due[number, host] or jobs[number].claim(f"host-{host}", pause):
            continue
        assert clock.now - last[host] >= pause - 1e-9
        clock.now += 0.1
        jobs[number].answered(f"host-{host}", pause)
        last[host] = clock.now
        due[number, host] = clock.now + pause
    for job in jobs:
        job.close()
