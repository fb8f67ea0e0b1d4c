"""The events of jobs that were started here: a file for each, below ``.sumi-window`` in its folder."""

import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedWriter
from pathlib import Path
from typing import Any, Final

import msgspec

from sumi.catalogue.find import Job, JobKind
from sumi.errors import UsageError
from sumi.events import time_text
from sumi.state.folder import WINDOW_FOLDER

LOGS: Final = WINDOW_FOLDER
CAPTURE_LOG: Final = "captures"  # one for all of a store: a capture has its name once it has begun
_MOST_BYTES: Final = 16 * 1024 * 1024  # then a new file is begun, and one older one is kept
_READ_BYTES: Final = 512 * 1024


class JobLog:
    def __init__(self, path: Path, capture: str = "") -> None:
        self._path = path
        self._capture = capture  # only the events of this one

    def command(self) -> list[str]:
        """The words of the last command that was given here; none if there was none."""
        for event in reversed(self.tail(4 * _READ_BYTES)):
            words = event.get("words")
            if event.get("event") == "command" and isinstance(words, list):
                return [str(word) for word in words]
        return []

    def tail(self, most: int = _READ_BYTES) -> list[dict[str, Any]]:
        """The last events, oldest first."""
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - most))
                lines = file.read(most).split(b"\n")
        except OSError:
            return []
        events = [event for event in map(_decoded, lines) if event is not None]
        return _of_capture(events, self._capture) if self._capture else events

    def size(self) -> int:
        try:
            return self._path.stat().st_size
        except OSError:
            return -1


def log_of(job: Job) -> JobLog:
    return JobLog(job.root / LOGS / f"{log_name(job)}.jsonl", job.name if job.kind is JobKind.CAPTURE else "")


def log_name(job: Job) -> str:
    match job.kind:
        case JobKind.CAPTURE:
            return CAPTURE_LOG
        case JobKind.CRAWL:
            return job.state.name
        case _:
            return job.name


def _of_capture(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Those from its commands on. What precedes every command that is left belongs to the last one before."""
    runs: list[list[dict[str, Any]]] = [[]]
    for event in events:
        if event.get("event") == "command":
            runs.append([])
        runs[-1].append(event)
    ours = [run for run in runs if _capture_in(run) == name]
    if not ours and _capture_in(runs[0]) is None:
        ours = runs[:1]
    return [event for run in ours for event in run]


def _capture_in(run: list[dict[str, Any]]) -> str | None:
    started = (event for event in run if event.get("event") == "started")
    return next((Path(str(event.get("output"))).name for event in started), None)


@contextmanager
def opened_log(
    root: Path, name: str, words: Sequence[str]
) -> Iterator[tuple[BufferedWriter, BufferedWriter]]:
    """For the events and for the words of a command that is about to start. Who writes the events holds a
    lock on them, so that one never takes another's for its own: UsageError if one does."""
    folder = root / LOGS
    root.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    path, errors = folder / f"{name}.jsonl", folder / f"{name}.err"
    with suppress(FileNotFoundError):
        if path.stat().st_size > _MOST_BYTES:
            path.replace(folder / f"{name}.older.jsonl")
    with open(path, "ab", opener=own_file) as out:
        if not is_free(out.fileno()):
            raise UsageError(f"what was started here for {name} still runs: stop it, or wait for its end")
        event = {"event": "command", "time": time_text(time.time()), "words": list(words)}
        out.write(msgspec.json.encode(event) + b"\n")
        out.flush()
        with open(errors, "wb", opener=own_file) as err:
            yield out, err


def own_file(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def log_is_free(root: Path, name: str) -> bool:
    try:
        with (root / LOGS / f"{name}.jsonl").open("rb") as log:
            return is_free(log.fileno())
    except OSError:
        return True


def is_free(descriptor: int) -> bool:
    """Takes the lock that a process and its children hold as long as they have this file open."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _decoded(line: bytes) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.MsgspecError:
        return None
