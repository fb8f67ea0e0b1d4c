"""Runs in processes that are forked from one which has imported everything: starting is half of a short run.

From ``main`` on nothing differs from a process that was started anew.
"""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

_FORKS = multiprocessing.get_context("forkserver")
_PRELOADED = [
    *(f"sumi.jobs.{job}.{part}" for job in ("mirror", "map", "capture") for part in ("command", "run")),
    *(f"sumi.jobs.pipeline.{part}" for part in ("command_crawl", "command_workspace", "crawl")),
    *(f"sumi.jobs.mirror.{part}" for part in ("command_rebuild", "rebuild")),
    *(f"sumi.cli.{name}" for name in ("state", "state_check", "state_repair", "status", "explain")),
]
_FORKS.set_forkserver_preload([*_PRELOADED, "sumi.parse.page.digester", "sumi.state.migrate", "uvloop"])

_UNTRACED = "TracerPid:\t0\n"


class Warm:
    """A run that goes on beside others. ``said``: where its output goes, all of it."""

    def __init__(self, words: Sequence[str], folder: Path, said: Path) -> None:
        self._process = _FORKS.Process(target=_run, args=(list(words), folder, said, False, True))
        said.touch()
        self._process.start()

    @property
    def code(self) -> int | None:
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()

    def wait(self, seconds: float) -> int | None:
        """Its exit code, negative for a signal; None if it did not end in time, and was killed."""
        self._process.join(seconds)
        ended = self._process.exitcode
        if ended is None:
            self._process.kill()
            self._process.join()
        return ended


def run_warm(
    words: Sequence[str], folder: Path, error: Path, tracer: Sequence[str], seconds: float
) -> int | None:
    """Its exit code, negative for a signal; None if it did not end in time. Nothing of it is left running.

    ``tracer``: what is put beside the run, followed by ``-p`` and its number; the run waits for it.
    """
    process = _FORKS.Process(target=_run, args=(list(words), folder, error, bool(tracer)))
    process.start()
    assert process.pid is not None
    with contextlib.ExitStack() as stack:
        if tracer:
            stack.enter_context(subprocess.Popen([*tracer, "-p", str(process.pid)]))
        process.join(seconds)
        ended = process.exitcode
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.join()
    process.close()
    return ended


def _run(words: list[str], folder: Path, error: Path, is_traced: bool, is_heard: bool = False) -> None:
    from sumi.cli.main import main
    from tests.commands import sumi_environment

    environment = sumi_environment(None)
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    with error.open("wb") as file, open(os.devnull, "r+b") as nowhere:
        for target, stream in enumerate((nowhere, file if is_heard else nowhere, file)):
            os.dup2(stream.fileno(), target)
    while is_traced and _UNTRACED in Path("/proc/self/status").read_text():
        time.sleep(0.002)  # waits for another process
    sys.exit(main(words))
