"""Stops a run while there is still room to stop in: before it starts, and while it goes on.

A disk that is really full stops a run too, safely, but only after something could not be written.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sumi.engine.control import Control
from sumi.errors import StorageFailed, UsageError
from sumi.ports import Clock

LOOK_SECONDS = 5.0
LEAST_BYTES = 1024**3
LEAST_SHARE = 0.05
INODES_PER_PAGE = 2  # its folder and its file
MOST_BYTES = 10 * 1024**3  # a twentieth of a large disk is plenty, not a shortage

_MIB, _GIB = 1024**2, 1024**3


class LowOnRoom(StorageFailed):
    """Stopped in good order because the disk ran low; the same command goes on once there is room."""

    exit_code = 3


class Room(NamedTuple):
    """What an ordinary user may still take of a file system. No inodes in total: it does not count them."""

    free_bytes: int
    total_bytes: int
    free_inodes: int
    total_inodes: int


Measure = Callable[[Path], Room | None]


def room_at(folder: Path) -> Room | None:
    """None if it cannot be told."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return Room(
        found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize, found.f_favail, found.f_files
    )


def shortage(room: Room, least_bytes: int | None) -> str | None:
    """What there is too little of, with the figures; None if there is enough. 0 asks for nothing."""
    if least_bytes == 0:
        return None
    wanted = _usual_reserve(room) if least_bytes is None else least_bytes
    if room.free_bytes < wanted:
        return f"{_size(room.free_bytes)} of {_size(room.total_bytes)} are free, {_size(wanted)} are needed"
    if room.free_inodes < room.total_inodes * LEAST_SHARE:
        return (
            f"{room.free_inodes:,} of {room.total_inodes:,} inodes (files that the disk can hold) are free, "
            f"{LEAST_SHARE:.0%} are needed"
        )
    return None


def _usual_reserve(room: Room) -> float:
    return max(LEAST_BYTES, min(room.total_bytes * LEAST_SHARE, MOST_BYTES))


def refuse_without_room(folder: Path, least_bytes: int | None, measure: Measure = room_at) -> None:
    room = measure(folder)
    lacking = shortage(room, least_bytes) if room is not None else None
    if lacking is not None:
        raise UsageError(
            f"not enough space in {folder}: {lacking}; free some, or choose another folder with --output or "
            "another limit with --min-free (0 for none)"
        )


def room_notes(
    folder: Path, pages: int, bytes_per_page: int, least_bytes: int | None, measure: Measure = room_at
) -> tuple[str, ...]:
    """Said before the start: that many pages, if there are so many, will not fit."""
    room = measure(folder)
    if room is None or least_bytes == 0:
        return ()
    short = []
    reserve = _usual_reserve(room) if least_bytes is None else least_bytes
    if pages * bytes_per_page > room.free_bytes - reserve:
        short.append(f"may take {_size(pages * bytes_per_page)}, and {_size(room.free_bytes)} are free")
    files = pages * INODES_PER_PAGE
    if room.total_inodes and files > room.free_inodes - room.total_inodes * LEAST_SHARE:
        short.append(f"may take {files:,} inodes, and {room.free_inodes:,} are free")
    return tuple(f"{pages:,} pages {one}: the run stops cleanly when the disk runs low" for one in short)


class DiskWatch:
    def __init__(
        self, folder: Path, least_bytes: int | None, control: Control, measure: Measure = room_at
    ) -> None:
        self._folder = folder
        self._least_bytes = least_bytes
        self._control = control
        self._measure = measure
        self._lacking: str | None = None

    async def watch(self, clock: Clock) -> None:
        """Look every few seconds; runs beside the crawl until cancelled."""
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

    def complain(self) -> None:
        """Raise if it was us who stopped the run."""
        if self._lacking is not None:
            raise LowOnRoom(
                f"stopped because space runs low in {self._folder}: {self._lacking}; free some, then run the "
                "same command again to continue"
            )


def _size(count: float) -> str:
    return f"{count / _GIB:.1f} GiB" if count >= _GIB else f"{count / _MIB:.0f} MiB"
