"""Stops a run before the disk is full: when it starts, and while it runs.

A disk that is really full stops a run safely too, but only after a write has failed.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sumi.engine.control import Control
from sumi.errors import StorageFailed, TooLittleSpace
from sumi.ports import Clock

LOOK_SECONDS = 5.0
MIN_BYTES = 1024**3
MIN_SHARE = 0.05
INODES_PER_PAGE = 2  # its folder and its file
MAX_BYTES = 10 * 1024**3  # on a large disk, 5 % would be far more than needed

_MIB, _GIB = 1024**2, 1024**3


class LowDiskSpace(StorageFailed):
    """Stopped cleanly because the disk ran low; the same command resumes once there is space."""


class DiskSpace(NamedTuple):
    """What an ordinary user may still use of a file system. ``total_inodes`` 0: it does not count them."""

    free_bytes: int
    total_bytes: int
    free_inodes: int
    total_inodes: int


Measure = Callable[[Path], DiskSpace | None]


def disk_space(folder: Path) -> DiskSpace | None:
    """None if it cannot be determined."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return DiskSpace(
        found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize, found.f_favail, found.f_files
    )


def shortage(room: DiskSpace, least_bytes: int | None) -> str | None:
    """What there is too little of, with figures; None if there is enough. ``least_bytes`` 0: no limit."""
    if least_bytes == 0:
        return None
    wanted = _usual_reserve(room) if least_bytes is None else least_bytes
    if room.free_bytes < wanted:
        return f"{_size(room.free_bytes)} of {_size(room.total_bytes)} are free, {_size(wanted)} are needed"
    if room.free_inodes < room.total_inodes * MIN_SHARE:
        return (
            f"{room.free_inodes:,} of {room.total_inodes:,} inodes (files that the disk can hold) are free, "
            f"{MIN_SHARE:.0%} are needed"
        )
    return None


def _usual_reserve(room: DiskSpace) -> float:
    return max(MIN_BYTES, min(room.total_bytes * MIN_SHARE, MAX_BYTES))


def require_disk_space(folder: Path, least_bytes: int | None, measure: Measure = disk_space) -> None:
    room = measure(folder)
    lacking = shortage(room, least_bytes) if room is not None else None
    if lacking is not None:
        raise TooLittleSpace(
            f"not enough space in {folder}: {lacking}; free some, or choose another folder with --output or "
            "another limit with --min-free (0 for none)"
        )


def disk_space_notes(
    folder: Path, pages: int, bytes_per_page: int, least_bytes: int | None, measure: Measure = disk_space
) -> tuple[str, ...]:
    """Warnings before the start that so many pages may not fit."""
    room = measure(folder)
    if room is None or least_bytes == 0:
        return ()
    short = []
    reserve = _usual_reserve(room) if least_bytes is None else least_bytes
    if pages * bytes_per_page > room.free_bytes - reserve:
        short.append(f"may take {_size(pages * bytes_per_page)}, and {_size(room.free_bytes)} are free")
    files = pages * INODES_PER_PAGE
    if room.total_inodes and files > room.free_inodes - room.total_inodes * MIN_SHARE:
        short.append(f"may take {files:,} inodes, and {room.free_inodes:,} are free")
    return tuple(f"{pages:,} pages {one}: the run stops cleanly when the disk runs low" for one in short)


class DiskWatch:
    def __init__(
        self, folder: Path, least_bytes: int | None, control: Control, measure: Measure = disk_space
    ) -> None:
        self._folder = folder
        self._least_bytes = least_bytes
        self._control = control
        self._measure = measure
        self._lacking: str | None = None

    async def watch(self, clock: Clock) -> None:
        """Check every few seconds; runs beside the crawl until cancelled."""
        while True:
            await clock.sleep_until(clock.now() + LOOK_SECONDS)
            self.look()

    def look(self) -> None:
        room = self._measure(self._folder)
        if room is None or self._control.stopping:
            return
        self._lacking = shortage(room, self._least_bytes)
        if self._lacking is not None:
            self._control.stop(f"low on disk space: {self._lacking}")

    def raise_if_low(self) -> None:
        """Raise if the disk watch stopped the run."""
        if self._lacking is not None:
            raise LowDiskSpace(
                f"stopped because space runs low in {self._folder}: {self._lacking}; free some, then run the "
                "same command again to continue"
            )


def _size(count: float) -> str:
    return f"{count / _GIB:.1f} GiB" if count >= _GIB else f"{count / _MIB:.0f} MiB"
