"""Run a command and learn what it took: wall time, processor time and memory of its whole process tree."""

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

SAMPLE_SECONDS = 0.05
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Cost(NamedTuple):
    wall_seconds: float
    cpu_seconds: float  # user and system, of the process and all its descendants
    tree_mb: float  # the largest sum over all processes alive at once; shared pages count in each
    main_mb: float  # the first process alone


def run_measured(command: Sequence[str], log: Path) -> Cost:
    """Raises SystemExit, with the end of what the command said, if it fails."""
    with log.open("wb") as out:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        watch = _MemoryWatch(process.pid)
        # wait4 counts children too, once their parent has waited for them.
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    watch.stop()
    if process.returncode != 0:
        raise SystemExit(f"{command[:4]} failed with {process.returncode}:\n{log.read_text()[-2000:]}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, watch.tree_mb, watch.main_mb)


class _MemoryWatch:
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
        while not self._ended.wait(SAMPLE_SECONDS):
            sizes = [_resident_mb(pid) for pid in _tree(self._pid)]
            self.tree_mb = max(self.tree_mb, sum(sizes))
            self.main_mb = max(self.main_mb, *sizes[:1], 0.0)


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


def _resident_mb(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES / 1e6
    except (OSError, IndexError):
        return 0.0
