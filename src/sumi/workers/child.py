"""A digest worker's process, seen from outside: start it, read what it left behind, wait for its end."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from typing import IO

from sumi.workers.worker import TALLY_BYTES

# -P: a file in the folder where the crawl was started must not be taken for one of our modules.
WORKER_COMMAND = (sys.executable, "-P", "-m", "sumi.workers.worker")

# Between the closed socket and the end of the process. Whoever needs longer is killed; a crash is faster.
_EXIT_GRACE = 1.0
_LAST_WORDS_BYTES = 4096
_LAST_WORDS_SHOWN = 200
# What an interpreter needs to start. Whatever else is in our environment, passwords above all, a process that
# reads hostile pages has no use for.
_NEEDED = frozenset({"PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH"})
_NEEDED_PREFIXES = ("PYTHON", "LC_", "COVERAGE_")


def with_limits(command: Sequence[str], cpu_seconds: float, memory_bytes: int) -> tuple[str, ...]:
    return (*command, str(float(cpu_seconds)), str(memory_bytes))


class Child:
    """A running worker. Its standard streams are the three things it has: socket, tally and last words."""

    def __init__(self, process: subprocess.Popen[bytes], tally: IO[bytes], last_words: IO[bytes]) -> None:
        self._process = process
        self._tally = tally
        self._last_words = last_words

    @classmethod
    def spawn(cls, command: Sequence[str]) -> tuple["Child", socket.socket]:
        """The child and our end of its socket. Raises OSError: no such program, no process to be had."""
        with ExitStack() as on_failure:
            ours, theirs = socket.socketpair()
            on_failure.enter_context(ours)
            tally = on_failure.enter_context(_scratch_file("tally"))
            last_words = on_failure.enter_context(_scratch_file("last-words"))
            with theirs:
                # Its own session: a Ctrl-C in the terminal is for the crawler alone.
                process = subprocess.Popen(  # noqa: S603 - the command is ours
                    command,
                    stdin=theirs.fileno(),
                    stdout=tally,
                    stderr=last_words,
                    start_new_session=True,
                    env=_environment(),
                )
            ours.setblocking(False)
            on_failure.pop_all()
        return cls(process, tally, last_words), ours

    @property
    def begun(self) -> int:
        """Pages it ever began with, by its own tally."""
        return int.from_bytes(os.pread(self._tally.fileno(), TALLY_BYTES, 0), "big")

    def last_words(self) -> str:
        """The last line it wrote to its standard error; short and printable, for it may quote a page."""
        descriptor = self._last_words.fileno()
        start = max(0, os.fstat(descriptor).st_size - _LAST_WORDS_BYTES)
        lines = os.pread(descriptor, _LAST_WORDS_BYTES, start).decode("utf-8", "replace").strip().splitlines()
        words = lines[-1].strip()[:_LAST_WORDS_SHOWN] if lines else ""
        return "".join(character if character.isprintable() else "?" for character in words)

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> None:
        """For the end of one that was killed."""
        self._process.wait()

    async def reap(self) -> int:
        """Wait for its end, and see to it. Polled, because a child watcher is a thread on some Pythons; the
        wait is short, and there is one per worker."""
        waited, pause = 0.0, 0.001
        while (returncode := self._process.poll()) is None:
            if waited > _EXIT_GRACE:
                self.kill()
            await asyncio.sleep(pause)
            waited, pause = waited + pause, min(2 * pause, 0.05)
        return returncode

    def close(self) -> None:
        self._tally.close()
        self._last_words.close()


def _scratch_file(name: str) -> IO[bytes]:
    """A nameless file shared with the child; in memory if possible: a full disk must not matter."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create(f"sumi-{name}"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def _environment() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name in _NEEDED or name.startswith(_NEEDED_PREFIXES)
    }
