"""The processes that a command starts, forked from it instead of started anew: a worker imports for 0.3 s.

What they do, are allowed to and may see of their parent is as in a process that was started.
"""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import time
import types
from collections.abc import Sequence
from typing import IO, Any, NoReturn

from sumi.cli import with_parent
from sumi.jobs.pipeline import crawler_process
from sumi.workers import process as worker_process
from sumi.workers import worker

_MOST_DESCRIPTORS = 4096


def fork_instead_of_starting() -> None:
    """For the rest of this process: workers, and the crawler of ``sumi run``."""
    forking = types.SimpleNamespace(**vars(subprocess) | {"Popen": ForkedChild})
    for module in (worker_process, crawler_process):
        vars(module)["subprocess"] = forking


class ForkedChild:
    """As much of ``subprocess.Popen`` as those two need."""

    def __init__(
        self,
        command: Sequence[str],
        stdin: int | IO[bytes],
        stdout: int | IO[bytes],
        stderr: int | IO[bytes],
        env: dict[str, str] | None = None,
        *,
        start_new_session: bool,
        **text: Any,
    ) -> None:
        assert start_new_session
        assert command[0] == sys.executable
        self.returncode: int | None = None
        self.stdout, theirs_out = _stream(stdout, text)
        self.stderr, theirs_err = _stream(stderr, text)
        theirs_in = os.open(os.devnull, os.O_RDONLY) if stdin == subprocess.DEVNULL else _number(stdin)
        self.pid = os.fork()
        if self.pid == 0:
            _become(command, (theirs_in, theirs_out, theirs_err), dict(os.environ) if env is None else env)
        for stream, theirs in ((self.stdout, theirs_out), (self.stderr, theirs_err)):
            if stream is not None:
                os.close(theirs)
        if stdin == subprocess.DEVNULL:
            os.close(theirs_in)

    def poll(self) -> int | None:
        return self._reap(os.WNOHANG)

    def wait(self, timeout: float | None = None) -> int | None:
        """Polled where there is a limit: no signal of ours may be taken away from the command."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while deadline is not None and self.poll() is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("a forked child", timeout or 0.0)
            time.sleep(0.005)
        return self._reap(0)

    def _reap(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _number(stream: int | IO[bytes]) -> int:
    return stream if isinstance(stream, int) else stream.fileno()


def _stream(wanted: int | IO[bytes], text: dict[str, Any]) -> tuple[IO[Any] | None, int]:
    """Our end, if there is to be a pipe, and theirs."""
    if wanted != subprocess.PIPE:
        return None, _number(wanted)
    ours, theirs = os.pipe()
    return open(ours, encoding=text["encoding"], errors=text["errors"]), theirs


def _become(command: Sequence[str], streams: tuple[int, int, int], environment: dict[str, str]) -> NoReturn:
    code: object = 1
    try:
        gc.freeze()  # nothing of our parent's may be closed by its destructor: the numbers are taken anew
        os.setsid()
        _forget_signals()
        for target, number in enumerate([os.dup(number) for number in streams]):
            os.dup2(number, target)
        os.closerange(3, _MOST_DESCRIPTORS)
        os.environ.clear()
        os.environ.update(environment)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        module, words = command[command.index("-m") + 1], list(command[command.index("-m") + 2 :])
        if module == "sumi.workers.worker":
            worker.main(words)
            code = 0
        else:
            assert module == "sumi.cli.with_parent"
            sys.argv = [module, *words]
            code = with_parent.main()
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code if isinstance(code, int) else 1)


def _forget_signals() -> None:
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
