"""Steering jobs: by the flag files that every run obeys, and by commands in processes of their own.

A job that was started here outlives the window. What a person typed is checked by the command itself, whose
words come back; and the command line that would do the same is always told.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from sumi.catalogue.find import Job, JobKind
from sumi.catalogue.steering import put_flag
from sumi.errors import UsageError
from sumi.policy import Retune
from sumi.serve.commands import as_process, as_typed
from sumi.serve.job_logs import LOGS, log_is_free, opened_log
from sumi.state.lock import lock_owner

_START_SECONDS: Final = 20.0
_COMMAND_SECONDS: Final = 180.0
_LOOK_SECONDS: Final = 0.05
_LOOKS_AT_END: Final = 100
_MOST_ANSWER: Final = 4 * 1024 * 1024


# ── running jobs ───────────────────────────────────────────────────────────────────────────────────────────


def cancel(job: Job) -> None:
    """Like two Ctrl-C: at once. Only the process that holds the job's lock now."""
    owner = lock_owner(job.root if job.kind is JobKind.CAPTURE else job.state)
    if owner is not None:
        with suppress(ProcessLookupError):
            os.kill(owner, signal.SIGTERM)
            os.kill(owner, signal.SIGINT)


def retune(job: Job, role: str, limits: Retune) -> None:
    """Together with what was told before, if the run has not taken it yet."""
    path = job.home / f"retune.{role}"
    with suppress(OSError, msgspec.MsgspecError):
        earlier = msgspec.json.decode(path.read_bytes(), type=Retune)
        limits = msgspec.convert(msgspec.to_builtins(earlier) | msgspec.to_builtins(limits), Retune)
    beside = job.home / f".retune.{role}.{os.getpid()}"
    put_flag(beside, msgspec.json.encode(limits))
    os.replace(beside, path)


# ── processes ───────────────────────────────────────────────────────────────────────────────────────────────


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
        was_there = await asyncio.to_thread(root.exists)
        try:
            return await self._start(words, root, name)
        except UsageError:
            if not was_there:
                await asyncio.to_thread(_forget, root)
            raise

    async def _start(self, words: Sequence[str], root: Path, name: str) -> int:
        with opened_log(root, name, words) as (out, err):
            begin = out.tell()
            child = subprocess.Popen(  # noqa: ASYNC220, S603 - it must outlive us; no shell is involved
                as_process(words), stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
            )
            self.add(child)
            return await _begun(child, Path(out.name), begin, Path(err.name))


def _forget(root: Path) -> None:
    """What was made only for the log of a job that did not begin."""
    shutil.rmtree(root / LOGS, ignore_errors=True)
    with suppress(OSError):  # the command has left something there
        root.rmdir()


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
    """What a command answers in JSON."""
    answers = await answers_of(words)
    if not answers:
        raise UsageError("no answer")
    return answers[-1]


async def answers_of(words: Sequence[str]) -> list[Any]:
    """Each line that a command answers. It is ended with us, and when it takes too long."""
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
    if process.returncode not in (0, 1):
        said = [line for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
        raise UsageError("; ".join(line.removeprefix("sumi: error: ") for line in said[-3:]) or "no answer")
    return [msgspec.json.decode(line) for line in out[:_MOST_ANSWER].splitlines() if line.startswith(b"{")]
