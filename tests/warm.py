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
from multiprocessing.connection import Connection
from pathlib import Path

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.everything"])

_UNTRACED = "TracerPid:\t0\n"


class Forked:
    """A command of ours in a process of its own, as ``subprocess.Popen`` would show it."""

    def __init__(
        self, words: Sequence[str], folder: Path, out: Path, err: Path, env: dict[str, str] | None = None
    ) -> None:
        for path in (out, err):
            path.touch()
        self._process = _FORKS.Process(target=_command, args=(list(words), folder, out, err, env))
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid
        with contextlib.suppress(ProcessLookupError):  # it may be over
            while os.getpgid(self.pid) != self.pid:  # until then it could not be killed with its children
                time.sleep(0.001)

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        ended = self._process.exitcode
        if ended is None:
            raise subprocess.TimeoutExpired("sumi", timeout or 0.0)
        return ended

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Site:
    """``python -m tests.site.server``, forked. It ends when the other end of its input closes, or with us."""

    def __init__(self, words: Sequence[str]) -> None:
        self._ours, theirs = _FORKS.Pipe()
        self._process = _FORKS.Process(target=_serve, args=(list(words), theirs))
        self._process.start()
        theirs.close()

    def first_line(self) -> bytes:
        """What it says when it listens; less than a line if it does not start."""
        said = b""
        while not said.endswith(b"\n") and (more := os.read(self._ours.fileno(), 4096)):
            said += more
        return said

    def stop(self) -> None:
        self._ours.close()
        self._process.terminate()
        self._process.join()
        self._process.close()


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


def _command(words: list[str], folder: Path, out: Path, err: Path, env: dict[str, str] | None) -> None:
    from sumi.cli.main import main
    from tests.commands import sumi_environment
    from tests.forked_children import fork_instead_of_starting

    fork_instead_of_starting()
    environment = sumi_environment(env)
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    with open(os.devnull, "rb") as nothing, out.open("ab") as stdout, err.open("ab") as stderr:
        for target, stream in enumerate((nothing, stdout, stderr)):
            os.dup2(stream.fileno(), target)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115  as long as the process
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main(words))


def _serve(words: list[str], ours: Connection) -> None:
    from tests.site.server import parse_arguments, run, serve

    os.dup2(ours.fileno(), 0)
    os.dup2(ours.fileno(), 1)
    ours.close()
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  as long as the process
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    run(serve(parse_arguments(words)))
