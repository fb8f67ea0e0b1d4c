"""What a run says of itself while it goes on: the files that it keeps for those who look on."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from sumi.catalogue.find import Job, JobKind
from sumi.state.folder import STATE_FOLDER

_FRESH_SECONDS: Final = 20.0
_TOUCH_SECONDS: Final = 3.0
_MOST_BYTES: Final = 8 * 1024 * 1024
_POINTS: Final = 600


class Line(msgspec.Struct, frozen=True):
    at: float
    outcomes: dict[str, int]
    pending: int
    in_flight: int
    bytes: int = 0


def trace(job: Job, role: str, name: str) -> Path:
    match job.kind:
        case JobKind.MAP:
            return job.home / f"{job.state.name}.{name}"
        case JobKind.CRAWL:
            return job.home / f"{role}.{name}"
        case _:
            return job.home / STATE_FOLDER / name


def watch(job: Job, role: str) -> None:
    """Ask a run for its status. It is a hint: a folder that cannot be written to shows older numbers."""
    path = job.home / f"watch.{role}"
    with suppress(OSError):
        try:
            recent = time.time() - os.lstat(path).st_mtime < _TOUCH_SECONDS
        except FileNotFoundError:
            recent = False
        if not recent:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
            try:
                os.utime(descriptor)
            finally:
                os.close(descriptor)


def read_now(job: Job, role: str) -> dict[str, Any] | None:
    """The status that a run wrote a moment ago; None if there is none, or it is old."""
    path = trace(job, role, "now.json")
    try:
        if time.time() - path.stat().st_mtime > _FRESH_SECONDS:
            return None
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError):
        return None


def read_activity(job: Job, role: str, since: float) -> list[Line]:
    """The numbers of all runs since then, thinned to what a curve can show."""
    lines = [line for line in map(_decoded, _tail(trace(job, role, "activity.jsonl"))) if line is not None]
    wanted = [line for line in lines if line.at >= since]
    step = max(1, -(-len(wanted) // _POINTS))
    thinned = wanted[::step]
    return [*thinned, wanted[-1]] if wanted and thinned[-1] is not wanted[-1] else thinned


def _tail(path: Path) -> list[bytes]:
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _MOST_BYTES))
            return file.read(_MOST_BYTES).split(b"\n")
    except OSError:
        return []


def _decoded(line: bytes) -> Line | None:
    try:
        return msgspec.json.decode(line, type=Line)
    except msgspec.MsgspecError:
        return None
