"""Run a command and learn what it took: wall time, processor time and memory of its whole process tree."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

SAMPLE_SECONDS = 0.1
# The kernel walks all pages to tell who shares what: 7 to 16 µs for each megabyte, for which it may hold up
# the process. After a look there is none for so many times as long, which keeps it below one in a hundred.
PAUSE_PER_LOOK = 120
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Cost(NamedTuple):
    wall_seconds: float
    cpu_seconds: float  # user and system, of the process and all its descendants
    tree_mb: float  # the largest sum over all processes alive at once; what they share counts once
    main_mb: float  # the first process alone, with its part of what is shared
    cut: bool = False  # ended by us because its time was up


def run_measured(
    command: Sequence[str],
    log: Path,
    *,
    folder: Path | None = None,
    limit_seconds: float = 0.0,
    fine: Collection[int] = (0,),
) -> Cost:
    """Raises SystemExit, with the end of what the command said, if it ends with a code that is not fine."""
    with log.open("wb") as out:
        started = time.perf_counter()
        # A group of its own, so that all of it can be ended.
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, cwd=folder, start_new_session=True
        )
        watch = MemoryWatch(process.pid)
        limit = threading.Timer(limit_seconds or threading.TIMEOUT_MAX, end_group, [process.pid])
        limit.start()
        try:
            # wait4 counts children too, once their parent has waited for them.
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - started
        finally:
            end_group(process.pid)  # also when we are interrupted ourselves
            limit.cancel()
            watch.stop()
    cut = 0.0 < limit_seconds <= wall
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in fine and not cut:
        raise SystemExit(f"{command[:4]} failed with {process.returncode}:\n{log.read_text()[-2000:]}")
    cpu = usage.ru_utime + usage.ru_stime
    return Cost(wall, cpu, watch.tree_mb, watch.main_mb, cut)


def end_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


class MemoryWatch:
    """Looks at /proc in a thread; where there is no /proc, it sees nothing and says 0."""

    def __init__(self, pid: int) -> None:
        self.tree_mb = 0.0
        self.main_mb = 0.0
        self._pid = pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _sample(self) -> None:
        pause = SAMPLE_SECONDS
        while not self._ended.wait(pause):
            before = time.thread_time()
            sizes = [_memory_mb(pid) for pid in _tree(self._pid)]
            self.tree_mb = max(self.tree_mb, sum(sizes))
            self.main_mb = max(self.main_mb, sizes[0])
            pause = max(SAMPLE_SECONDS, PAUSE_PER_LOOK * (time.thread_time() - before))


def memory_of_tree(pid: int) -> float:
    """Megabytes in memory now, of a process and all its descendants; what they share counts once."""
    return sum(_memory_mb(each) for each in _tree(pid))


def _tree(pid: int) -> list[int]:
    pids = [pid]
    for parent in pids:  # grows while it is walked
        pids += _children(parent)
    return pids


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _memory_mb(pid: int) -> float:
    """The proportional set size: a page that several processes have counts for each with its share."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return _resident_mb(pid)
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6


def _resident_mb(pid: int) -> float:
    """Where the kernel does not tell the shares: what is shared counts in full for each."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES / 1e6
    except (OSError, IndexError):
        return 0.0
