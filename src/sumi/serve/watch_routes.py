"""``/api/due``: what ``sumi watch`` runs, when, and how it went. The window looks; it starts nothing here."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sumi.errors import SumiError
from sumi.serve.commands import as_typed
from sumi.serve.jobs import Jobs
from sumi.serve.window import Window, answer

if TYPE_CHECKING:
    from sumi.watching.watcher import JobWatch

_LOG_BYTES: Final = 2048
_LOG_LINES: Final = 8


class WatchedJob(msgspec.Struct, frozen=True, kw_only=True):
    status: "JobWatch"  # as ``sumi watch status --json`` has it
    job: str | None  # of this window, if one is what the command makes
    log: tuple[str, ...]  # the last words of its last run


class WatchFile(msgspec.Struct, kw_only=True):
    file: str
    watcher: int | None
    command: str
    start: str
    jobs: tuple[WatchedJob, ...] = ()
    problem: str = ""


async def show_due(window: Window, _request: Request) -> Response:
    return answer({"files": await asyncio.to_thread(_files, window.jobs)})


def _files(jobs: Jobs) -> list[WatchFile]:
    from sumi.watching.watcher import found_plans  # it loads the reader of TOML

    folders = [place for place in jobs.places if place.is_dir()]
    named = [*jobs.watch_files, *(path for folder in folders for path in found_plans(folder))]
    targets = {
        (job.kind.value, job.target.rstrip("/")): found for found, job in jobs.all().items() if job.target
    }
    return [_standing(path, targets) for path in dict.fromkeys(named)]


def _standing(path: Path, targets: Mapping[tuple[str, str], str]) -> WatchFile:
    from sumi.watching.watcher import log_of, watch_status, watcher_of

    made = WatchFile(
        file=str(path),
        watcher=None,
        command=as_typed(["watch", "status", str(path)]),
        start=as_typed(["watch", str(path)]),
    )
    try:
        made.watcher, found = watcher_of(path), watch_status(path)
    except SumiError as error:
        made.problem = str(error)
        return made
    made.jobs = tuple(
        WatchedJob(status=status, job=_job(status, targets), log=_last_words(log_of(path, status.name)))
        for status in sorted(found, key=lambda status: (not status.running, status.due))
    )
    return made


def _job(status: "JobWatch", targets: Mapping[tuple[str, str], str]) -> str | None:
    kind, *words = status.command.split()
    return next(
        (found for word in words if (found := targets.get((kind, word.rstrip("/")))) is not None), None
    )


def _last_words(path: Path) -> tuple[str, ...]:
    with suppress(OSError), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _LOG_BYTES))
        lines = file.read(_LOG_BYTES).decode("utf-8", "replace").splitlines()
        return tuple(line for line in lines if line.strip())[-_LOG_LINES:]
    return ()
