"""Too little disk space is refused before a run and stops one cleanly, with the figures."""

import asyncio
from pathlib import Path

import pytest

from sumi.engine.control import Control
from sumi.engine.disk_watch import (
    DiskSpace,
    DiskWatch,
    LowDiskSpace,
    disk_space,
    disk_space_notes,
    require_disk_space,
    shortage,
)
from sumi.engine.io import SystemClock
from sumi.errors import UsageError

MIB, GIB = 1024**2, 1024**3
ROOMY = DiskSpace(50 * GIB, 100 * GIB, 900, 1000)


@pytest.mark.parametrize(
    ("room", "least", "words"),
    [
        (ROOMY, None, None),
        (DiskSpace(GIB - 1, 4 * GIB, 900, 1000), None, "1024 MiB of 4.0 GiB are free, 1.0 GiB are needed"),
        (DiskSpace(GIB, 4 * GIB, 900, 1000), None, None),
        (
            DiskSpace(9 * GIB, 200 * GIB, 900, 1000),
            None,
            "9.0 GiB of 200.0 GiB are free, 10.0 GiB are needed",
        ),
        (DiskSpace(9 * GIB, 200 * GIB, 900, 1000), 8 * GIB, None),
        (
            DiskSpace(300 * MIB, 200 * GIB, 900, 1000),
            500 * MIB,
            "300 MiB of 200.0 GiB are free, 500 MiB are needed",
        ),
        (ROOMY._replace(free_inodes=49), None, "49 of 1,000 inodes"),
        (ROOMY._replace(free_inodes=49), 1, "49 of 1,000 inodes"),
        (ROOMY._replace(free_inodes=0, total_inodes=0), None, None),  # a file system that has no such limit
        (DiskSpace(0, 100, 0, 1000), 0, None),
    ],
)
def test_what_is_too_little(room: DiskSpace, least: int | None, words: str | None) -> None:
    found = shortage(room, least)
    assert found is None if words is None else found is not None and words in found


def test_a_run_is_refused_with_the_figures_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"0 MiB of 1\.0 GiB are free.*--output.*--min-free"):
        require_disk_space(tmp_path, None, lambda _: DiskSpace(0, GIB, 1, 1))
    require_disk_space(tmp_path, 0, lambda _: DiskSpace(0, GIB, 1, 1))
    require_disk_space(tmp_path, None, lambda _: None)


def test_what_may_not_fit_is_said_in_bytes_and_in_inodes(tmp_path: Path) -> None:
    roomy, few = (
        DiskSpace(50 * GIB, 100 * GIB, 90_000, 100_000),
        DiskSpace(50 * GIB, 100 * GIB, 9_000, 100_000),
    )
    assert disk_space_notes(tmp_path, 10_000, MIB // 4, None, lambda _: roomy) == ()
    end = "the run stops cleanly when the disk runs low"
    assert disk_space_notes(tmp_path, 10_000, 10 * MIB, None, lambda _: roomy) == (
        f"10,000 pages may take 97.7 GiB, and 50.0 GiB are free: {end}",
    )
    assert disk_space_notes(tmp_path, 10_000, 1, None, lambda _: few) == (
        f"10,000 pages may take 20,000 inodes, and 9,000 are free: {end}",
    )
    uncounted = few._replace(free_inodes=0, total_inodes=0)
    assert disk_space_notes(tmp_path, 10_000, 1, None, lambda _: uncounted) == ()
    assert disk_space_notes(tmp_path, 10_000, 10 * MIB, 0, lambda _: few) == ()


def test_a_running_job_is_stopped_once_and_says_why(tmp_path: Path) -> None:
    rooms = [ROOMY, DiskSpace(5 * MIB, GIB, 1, 1), DiskSpace(4 * MIB, GIB, 1, 1)]
    control = Control()
    watch = DiskWatch(tmp_path, None, control, lambda _: rooms.pop(0))
    watch.look()
    watch.raise_if_low()
    assert control.leasing
    watch.look()
    watch.look()  # a second stop would abort
    assert (control.stopping, control.was_aborted) == (True, False)
    with pytest.raises(LowDiskSpace, match=r"5 MiB of 1\.0 GiB are free") as raised:
        watch.raise_if_low()
    assert raised.value.exit_code == 8


def test_a_real_disk_can_be_measured(tmp_path: Path) -> None:
    room = disk_space(tmp_path)
    assert room is not None
    assert 0 < room.free_bytes <= room.total_bytes
    assert disk_space(tmp_path / "missing") is None


def test_watching_goes_on_until_cancelled(tmp_path: Path) -> None:
    async def watch_briefly() -> None:
        task = asyncio.create_task(DiskWatch(tmp_path, 0, Control()).watch(SystemClock()))
        await asyncio.sleep(0)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(watch_briefly())
