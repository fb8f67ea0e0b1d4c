"""The events of jobs that were started here: a file for each, below ``.sumi-window`` in its folder."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedWriter
from pathlib import Path
from typing import Any, Final

import msgspec

from sumi.catalogue.find import Job
from sumi.events import time_text
from sumi.state.folder import WINDOW_FOLDER

LOGS: Final = WINDOW_FOLDER
_MOST_BYTES: Final = 16 * 1024 * 1024  # then a new file is begun, and one older one is kept
_READ_BYTES: Final = 512 * 1024


class JobLog:
    def __init__(self, path: Path) -> None:
        self._path = path

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
        return [event for event in map(_decoded, lines) if event is not None]

    def size(self) -> int:
        try:
            return self._path.stat().st_size
        except OSError:
            return -1


def log_of(job: Job) -> JobLog:
    return JobLog(job.root / LOGS / f"{job.name}.jsonl")


@contextmanager
def opened_log(
    root: Path, name: str, words: Sequence[str]
) -> Iterator[tuple[BufferedWriter, BufferedWriter]]:
    """For the events and for the words of a command that is about to start."""
    folder = root / LOGS
    root.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    path, errors = folder / f"{name}.jsonl", folder / f"{name}.err"
    with suppress(FileNotFoundError):
        if path.stat().st_size > _MOST_BYTES:
            path.replace(folder / f"{name}.older.jsonl")
    with open(path, "ab", opener=own_file) as out, open(errors, "wb", opener=own_file) as err:
        event = {"event": "command", "time": time_text(time.time()), "words": list(words)}
        out.write(msgspec.json.encode(event) + b"\n")
        out.flush()
        yield out, err


def own_file(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _decoded(line: bytes) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.MsgspecError:
        return None
