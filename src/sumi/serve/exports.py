"""Exports of a job: made by the commands in processes of their own, kept below ``.sumi-window``, offered as
downloads. Nothing here is named after what a request says: formats come from a list."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from sumi.catalogue.find import Job, JobKind
from sumi.errors import UsageError
from sumi.serve.commands import as_process
from sumi.serve.job_logs import LOGS, JobLog, is_free, own_file
from sumi.serve.jobs import job_id

_MAP_FORMATS: Final = {
    "gexf": ("a graph for Gephi", ".gexf"),
    "graphml": ("a graph for other programs", ".graphml"),
    "html": ("a picture that opens in any browser, offline", ".html"),
    "svg": ("a picture for a document", ".svg"),
}
_WORDS_BYTES: Final = 4096


class ExportFormat(msgspec.Struct, frozen=True):
    name: str
    summary: str
    suffix: str  # "" for a folder


class Export(msgspec.Struct, frozen=True, kw_only=True):
    format: str
    state: str  # running | there | failed
    path: str
    at: float
    bytes: int | None = None
    written: int | None = None
    total: int | None = None
    problem: str = ""


def formats_for(job: Job) -> dict[str, ExportFormat]:
    if job.kind is JobKind.MAP:
        return {name: ExportFormat(name, *about) for name, about in _MAP_FORMATS.items()}
    from sumi.exchange.formats import FORMATS  # only the few who export need it

    return {name: ExportFormat(name, kind.summary, kind.suffix) for name, kind in FORMATS.items()}


def format_of(job: Job, name: str) -> ExportFormat:
    found = formats_for(job).get(name)
    if found is None:
        raise UsageError(f"{name!r} is not a format of a {job.kind}")
    return found


def export_path(job: Job, kind: ExportFormat) -> Path:
    return _folder(job) / f"{job.name.replace('/', '-')}{kind.suffix or f'-{kind.name}'}"


def export_command(job: Job, kind: ExportFormat) -> list[str]:
    target = str(export_path(job, kind))
    if job.kind is JobKind.MAP:
        return ["map", "export", "--format", kind.name, "--output", target, str(job.state)]
    of_crawl = job.kind is JobKind.CRAWL
    return ["export", kind.name, "--output", target, str(job.state if of_crawl else job.home)]


def start_export(job: Job, kind: ExportFormat) -> "subprocess.Popen[bytes]":
    """It goes on when the window is closed. While it runs it holds a lock on the log that it writes."""
    folder = _folder(job)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    words = export_command(job, kind)
    with open(_log(job, kind), "ab", opener=own_file) as out:
        if not is_free(out.fileno()):
            raise UsageError(f"this export to {kind.name} is running already")
        out.truncate(0)
        if kind.suffix:
            export_path(job, kind).unlink(missing_ok=True)  # what is there afterwards is of this run
        with open(_errors(job, kind), "wb", opener=own_file) as err:
            # It must outlive us; no shell is involved.
            child = subprocess.Popen(  # noqa: S603
                as_process(words, json=job.kind is not JobKind.MAP),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
    return child


def exports_of(job: Job) -> list[Export]:
    """The newest first."""
    found = [made for kind in formats_for(job).values() if (made := _look(job, kind)) is not None]
    return sorted(found, key=lambda made: -made.at)


def _look(job: Job, kind: ExportFormat) -> Export | None:
    try:
        with _log(job, kind).open("rb") as log:
            began = os.fstat(log.fileno()).st_mtime
            running = not is_free(log.fileno())
    except OSError:
        return None
    events = JobLog(_log(job, kind)).tail()
    last: Mapping[str, Any] = events[-1] if events else {}
    path = export_path(job, kind)
    if running:
        started = next((event for event in events if event.get("event") == "started"), {})
        return Export(
            format=kind.name,
            state="running",
            path=str(path),
            at=began,
            written=last.get("done"),
            total=started.get("pending"),
        )
    if last.get("event") == "error" or not path.exists():
        problem = str(last.get("message") or _last_words(_errors(job, kind)) or "It ended without a result.")
        return Export(format=kind.name, state="failed", path=str(path), at=began, problem=problem)
    status = path.stat()
    return Export(
        format=kind.name,
        state="there",
        path=str(path),
        at=status.st_mtime,
        bytes=status.st_size if path.is_file() else None,
        written=last.get("written"),
    )


def _last_words(path: Path) -> str:
    try:
        lines = path.read_bytes()[-_WORDS_BYTES:].decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    said = [line for line in lines if line.strip()]
    return said[-1].removeprefix("sumi: error: ") if said else ""


def _folder(job: Job) -> Path:
    return job.root / LOGS / "exports" / job_id(job)


def _log(job: Job, kind: ExportFormat) -> Path:
    return _folder(job) / f".{kind.name}.jsonl"


def _errors(job: Job, kind: ExportFormat) -> Path:
    return _folder(job) / f".{kind.name}.err"
