"""Steering jobs: by the flag files that every run obeys, and by commands in processes of their own.

A job that was started here outlives the window. What a person typed is checked by the command itself, whose
words come back; and the command line that would do the same is always told.
"""

import asyncio
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from sumi.catalogue.find import Job, JobKind
from sumi.errors import UsageError
from sumi.serve.job_logs import CAPTURE_LOG, log_is_free, log_of, opened_log
from sumi.state.folder import CAPTURES
from sumi.state.lock import lock_owner
from sumi.urls.paths import host_folder

_START_SECONDS: Final = 20.0
_COMMAND_SECONDS: Final = 180.0
_LOOK_SECONDS: Final = 0.05
_LOOKS_AT_END: Final = 100
_MOST_ANSWER: Final = 4 * 1024 * 1024


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """For a job that runs; the run itself checks them."""

    rate_limit: float | None = None
    concurrency: int | None = None
    per_host: int | None = None
    max_pages: int | None = None


class JobRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the form for a new job has. Texts are passed on as they are, never to a shell."""

    url: str
    kind: str = "mirror"
    folder: int = 0  # which of the window's folders
    max_pages: str = ""
    rate_limit: str = ""
    concurrency: str = ""
    max_depth: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    contact: str = ""
    follow_links: bool = False
    render: bool = False
    assets: bool = False


# ── running jobs ───────────────────────────────────────────────────────────────────────────────────────────


def pause(job: Job, role: str) -> None:
    _flag(job.home / f"pause.{role}")


def resume(job: Job, role: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(job.home / f"pause.{role}")


def stop(job: Job, role: str) -> None:
    """Like one Ctrl-C: pages in flight finish."""
    resume(job, role)
    _flag(job.home / f"stop.{role}")


def cancel(job: Job) -> None:
    """Like two Ctrl-C: at once. Only the process that holds the job's lock now."""
    owner = lock_owner(job.root if job.kind is JobKind.CAPTURE else job.state)
    if owner is not None:
        with suppress(ProcessLookupError):
            os.kill(owner, signal.SIGTERM)
            os.kill(owner, signal.SIGINT)


def retune(job: Job, role: str, limits: Limits) -> None:
    path = job.home / f"retune.{role}"
    beside = job.home / f".retune.{role}.{os.getpid()}"
    _flag(beside, msgspec.json.encode(limits))
    os.replace(beside, path)


def _flag(path: Path, content: bytes = b"") -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)


# ── commands ───────────────────────────────────────────────────────────────────────────────────────────────


def command_for(request: JobRequest, places: Sequence[Path]) -> list[str]:
    """The words of the command, without ``sumi``."""
    if request.kind not in ("mirror", "capture"):
        raise UsageError(
            "a mirror or a capture can be started here; crawls and maps need a configuration file"
        )
    if not 0 <= request.folder < len(places):
        raise UsageError("this window has no such folder")
    if places[request.folder].is_file():
        raise UsageError(
            f"{places[request.folder]} is a file: open the window on a folder to start jobs in it"
        )
    if not request.url.split():
        raise UsageError("there is no address to start from")
    is_mirror = request.kind == "mirror"
    words = [request.kind, *_flags(request, is_mirror=is_mirror)]
    place = places[request.folder]
    words += ["--output", str(place)] if is_mirror else ["--store", str(store_in(place))]
    return [*words, "--", *request.url.split()]


def store_in(place: Path) -> Path:
    """Of captures: a folder of their own, so that they do not lie among mirrors."""
    is_store = place.name == "captures" or (place / CAPTURES).is_file()
    return place if is_store else place / "captures"


def _flags(request: JobRequest, *, is_mirror: bool) -> list[str]:
    given = {
        "--max-pages" if is_mirror else "--limit": request.max_pages,
        "--rate-limit": request.rate_limit,
        "--concurrency": request.concurrency,
        "--max-depth": request.max_depth if is_mirror else "",
        "--contact": request.contact,
    }
    words = [f"{flag}={value.strip()}" for flag, value in given.items() if value.strip()]
    words += [f"--include={pattern}" for pattern in request.include if pattern.strip()]
    words += [f"--exclude={pattern}" for pattern in request.exclude if pattern.strip()]
    words += ["--render=auto"] if request.render else []
    if is_mirror:
        words += ["--follow-links"] * request.follow_links + ["--assets"] * request.assets
    return words


def plan_command(request: JobRequest) -> list[str]:
    flags = [word for word in _flags(request, is_mirror=True) if not word.startswith("--render")]
    return ["plan", *flags, "--", *request.url.split()[:1]]


def again_command(job: Job, saved: dict[str, Any] | None, *, update: bool) -> list[str]:
    """The command that goes on with a job, or brings it up to date: the last one that was given here, or one
    made of what the job has saved."""
    if job.kind is JobKind.CAPTURE:
        return ["capture", "resume", job.name, "--store", str(job.root)]
    if job.kind is not JobKind.MIRROR:
        raise UsageError("this job has a configuration file: run its command again in a terminal")
    last = log_of(job).command()
    words = (
        [word for word in last if word not in ("--update", "--fresh")] if last else _from_saved(job, saved)
    )
    return [words[0], "--update", *words[1:]] if update else words


def _from_saved(job: Job, saved: dict[str, Any] | None) -> list[str]:
    kept = saved or {}
    words = ["mirror", "--output", str(job.root)]
    named = ("max_pages", "max_depth", "contact", "user_agent", "robots_on_error", "min_fidelity")
    given = [name for name in named if kept.get(name) not in (None, "", 0)]
    words += [f"--{name.replace('_', '-')}={kept[name]}" for name in given]
    for name in ("include", "exclude", "hosts"):
        words += [f"--{name}={pattern}" for pattern in kept.get(name) or ()]
    for name in ("follow_links", "loose_paths", "rewrite_links", "assets"):
        words += [f"--{name.replace('_', '-')}"] * bool(kept.get(name))
    if kept.get("respect_robots") is False:
        words.append("--no-respect-robots")
    return [*words, "--", str(kept.get("url") or job.target)]


def as_typed(words: Sequence[str]) -> str:
    return shlex.join(["sumi", *words])


def as_process(words: Sequence[str], *, json: bool = True) -> list[str]:
    split = list(words).index("--") if "--" in words else len(words)
    return [sys.executable, "-m", "sumi", *words[:split], *["--json"] * json, *words[split:]]


class Children:
    """The processes that were started here. They are in sessions of their own and are never waited for, only
    looked at, so that none stays behind as a zombie."""

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[bytes]] = []

    def add(self, child: "subprocess.Popen[bytes]") -> None:
        self._started.append(child)

    def look(self) -> None:
        self._started = [child for child in self._started if child.poll() is None]

    async def start(self, words: Sequence[str], root: Path, name: str) -> int:
        """Returns its process once it works. UsageError with the command's own words if it ends at once."""
        for _ in range(_LOOKS_AT_END):
            if log_is_free(root, name):
                break
            await asyncio.sleep(_LOOK_SECONDS)  # the last one is just ending
        with opened_log(root, name, words) as (out, err):
            begin = out.tell()
            child = subprocess.Popen(  # noqa: ASYNC220, S603 - it must outlive us; no shell is involved
                as_process(words), stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
            )
            self.add(child)
            return await _begun(child, Path(out.name), begin, Path(err.name))


async def _begun(child: "subprocess.Popen[bytes]", out: Path, begin: int, err: Path) -> int:
    """Its first events tell whether it works: an error, or anything else."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        ended = child.poll()
        first = await asyncio.to_thread(_first_event, out, begin)
        if first.get("event") == "error":
            raise UsageError(str(first.get("message")))
        if ended is not None and not first:
            words = await asyncio.to_thread(_last_words, err)
            raise UsageError(words or f"the command ended with exit code {ended}")
        if first:
            break
        await asyncio.sleep(_LOOK_SECONDS)
    return child.pid


def _first_event(path: Path, begin: int) -> dict[str, Any]:
    """That is more than a warning; empty while there is none."""
    with path.open("rb") as file:
        file.seek(begin)
        lines = file.read(_MOST_ANSWER).split(b"\n")[:-1]
    for line in lines:
        with suppress(msgspec.MsgspecError):
            event = msgspec.json.decode(line, type=dict[str, Any])
            if event.get("event") != "warning":
                return event
    return {}


def _last_words(path: Path) -> str:
    text = path.read_bytes()[-4096:].decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.strip()]
    return "; ".join(line.removeprefix("sumi: error: ") for line in lines[-5:])


async def answer_of(words: Sequence[str]) -> Any:
    """What a command answers in JSON. It is ended with us, and when it takes too long."""
    process = await asyncio.create_subprocess_exec(
        *as_process(words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_COMMAND_SECONDS):
            out, err = await process.communicate()
    except TimeoutError:
        raise UsageError(f"{as_typed(words)} took more than {_COMMAND_SECONDS:.0f} seconds") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    lines = [line for line in out[:_MOST_ANSWER].splitlines() if line.startswith(b"{")]
    if not lines or process.returncode not in (0, 1):
        said = [line for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
        raise UsageError("; ".join(line.removeprefix("sumi: error: ") for line in said[-3:]) or "no answer")
    return msgspec.json.decode(lines[-1])


def log_place(words: Sequence[str]) -> tuple[Path, str]:
    """Where the events of a new job go: a mirror is known by its host, a capture only once it has begun."""
    if words[0] == "mirror":
        return Path(words[words.index("--output") + 1]), host_folder(words[-1])
    return Path(words[words.index("--store") + 1]), CAPTURE_LOG
