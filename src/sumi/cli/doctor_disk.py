"""What is to be known of a disk before a long run is put on it. Tried out in files of our own."""

import os
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sumi.engine.disk_watch import room_at, shortage
from sumi.errors import UsageError
from sumi.files.safe_files import SafeFolder

_TRIES = 9
_GIB = 1024**3
# Locks and syncs on these are whatever the server makes of them.
_REMOTE = ("nfs", "cifs", "smb", "9p", "fuse", "afs", "ceph", "gluster")


def disk_lines(folder: Path) -> Iterator[str]:
    kind = file_system(folder)
    remote = ": over a network or in user space, where locks may not hold" if kind.startswith(_REMOTE) else ""
    yield f"file system     {kind}{remote}"
    yield from _room_lines(folder)
    try:
        with tempfile.TemporaryDirectory(prefix=".sumi-doctor-", dir=folder) as name:
            own = Path(name)
            yield f"fsync           {_fsync_seconds(own) * 1000:.1f} ms for 4 KiB, the median of {_TRIES}"
            yield f"syncfs          {_syncfs_words(own)}"
            yield f"names           {_case_words(own)}"
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}; choose another folder") from None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield f"open files      {_limit(soft)}, can be raised to {_limit(hard)}"


def file_system(folder: Path) -> str:
    """The type of the file system that holds a folder, as the kernel names it."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text()
    except OSError:
        return "unknown"
    where = folder.resolve()
    best, kind = -1, "unknown"
    for line in mounts.splitlines():
        place, _, after = line.partition(" - ")
        point = Path(place.split()[4].replace("\\040", " "))
        if where.is_relative_to(point) and len(point.parts) > best:
            best, kind = len(point.parts), after.split()[0]
    return kind


def _room_lines(folder: Path) -> Iterator[str]:
    room = room_at(folder)
    if room is None:
        return
    yield f"free            {room.free_bytes / _GIB:.1f} GiB of {room.total_bytes / _GIB:.1f} GiB"
    if room.total_inodes:
        yield f"free inodes     {room.free_inodes:,} of {room.total_inodes:,}"
    lacking = shortage(room, None)
    if lacking:
        yield f"too little      {lacking} (see --min-free)"


def _fsync_seconds(folder: Path) -> float:
    seconds = []
    with (folder / "synced").open("wb", buffering=0) as file:
        for _ in range(_TRIES):
            file.write(b"\0" * 4096)
            started = time.perf_counter()
            os.fsync(file.fileno())
            seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def _syncfs_words(folder: Path) -> str:
    files = SafeFolder(folder)
    try:
        files.sync()
        return "works, for a batch of pages at once" if files.syncs_at_once else "none; each file is synced"
    finally:
        files.close()


def _case_words(folder: Path) -> str:
    (folder / "Case").touch()
    same = (folder / "cASE").exists()
    return "upper and lower case are the same" if same else "upper and lower case differ"


def _limit(value: int) -> str:
    return "no limit" if value < 0 else f"{value:,}"
