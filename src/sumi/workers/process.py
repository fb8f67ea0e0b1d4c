"""One digest worker, seen from the crawler: its process, the connection to it, the pages it was given."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from enum import Enum, auto
from typing import IO, NamedTuple, cast

import msgspec

from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.workers.framing import Answer, FrameReader, FrameSizeError, encode_frame
from sumi.workers.worker import TALLY_BYTES

# -P: a file in the current folder must not shadow one of our modules.
WORKER_COMMAND = (sys.executable, "-P", "-m", "sumi.workers.worker")
# Seconds between the closed socket and the end of the process, after which it is killed.
_EXIT_GRACE = 1.0
_LAST_WORDS_BYTES = 4096
_LAST_WORDS_SHOWN = 200
# What an interpreter needs to start. A process that parses hostile pages must not see the rest of our
# environment, passwords above all.
_NEEDED = frozenset({"PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH"})
_NEEDED_PREFIXES = ("PYTHON", "LC_", "COVERAGE_")
# More than the buffer of a socket holds after the sender is gone.
_MAX_UNREAD = 4 * 1024 * 1024
_decoder = msgspec.msgpack.Decoder(Answer)


def with_limits(command: Sequence[str], cpu_seconds: float, memory_bytes: int) -> tuple[str, ...]:
    return (*command, str(float(cpu_seconds)), str(memory_bytes))


class Child:
    """A running worker. Its standard streams are its socket, its tally and its error output."""

    def __init__(self, process: subprocess.Popen[bytes], tally: IO[bytes], last_words: IO[bytes]) -> None:
        self._process = process
        self._tally = tally
        self._last_words = last_words

    @classmethod
    def spawn(cls, command: Sequence[str]) -> tuple["Child", socket.socket]:
        """The child and our end of its socket. Raises OSError if it cannot be started."""
        with ExitStack() as on_failure:
            ours, theirs = socket.socketpair()
            on_failure.enter_context(ours)
            tally = on_failure.enter_context(_scratch_file("tally"))
            last_words = on_failure.enter_context(_scratch_file("last-words"))
            with theirs:
                # A session of its own: Ctrl-C in the terminal goes only to the crawler.
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
        """How many pages it began, by its own tally."""
        return int.from_bytes(os.pread(self._tally.fileno(), TALLY_BYTES, 0), "big")

    def last_words(self) -> str:
        """The last line of its error output; short and printable, as it may quote a page."""
        descriptor = self._last_words.fileno()
        start = max(0, os.fstat(descriptor).st_size - _LAST_WORDS_BYTES)
        lines = os.pread(descriptor, _LAST_WORDS_BYTES, start).decode("utf-8", "replace").strip().splitlines()
        words = lines[-1].strip()[:_LAST_WORDS_SHOWN] if lines else ""
        return "".join(character if character.isprintable() else "?" for character in words)

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> None:
        """After ``kill``: wait for its end."""
        self._process.wait()

    async def reap(self) -> int:
        """Wait for its end, and enforce it. Polled, because a child watcher is a thread in some Pythons; the
        wait is short, and happens once per worker."""
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
    """An anonymous file shared with the child; in memory if possible, so that a full disk does not matter."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create(f"sumi-{name}"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def _environment() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name in _NEEDED or name.startswith(_NEEDED_PREFIXES)
    }


# A worker takes as long to start as this process needs for its own imports. So a command starts one as soon
# as it knows that there will be pages, and the first pool with the same settings takes it over. An unused one
# is killed at the end, and would end by itself if we did.
_early: dict[tuple[str, ...], tuple[Child, socket.socket]] = {}


@contextmanager
def worker_started_early(processes: int | None, cpu_seconds: float, memory_bytes: int) -> Iterator[None]:
    """Have a worker ready for a run with these settings."""
    command = with_limits(WORKER_COMMAND, cpu_seconds, memory_bytes)
    if processes != 0:
        with suppress(OSError):  # the pool will get the same error and report it
            _early[command] = Child.spawn(command)
    try:
        yield
    finally:
        if (unused := _early.pop(command, None)) is not None:
            _dismiss(*unused)


def early_or_new(command: Sequence[str]) -> tuple[Child, socket.socket]:
    """Raises OSError if it cannot be started."""
    return _early.pop(tuple(command), None) or Child.spawn(command)


def _dismiss(child: Child, connection: socket.socket) -> None:
    connection.close()
    child.kill()
    child.wait()
    child.close()


class Stage(Enum):
    STARTING = auto()  # not ready yet; gets no pages
    SERVING = auto()
    LEAVING = auto()  # gets no further pages; disconnected after the last
    GONE = auto()  # its socket is closed


class Job(NamedTuple):
    request: DigestRequest
    answer: asyncio.Future[PageDigest | Undigested]

    def settle(self, result: PageDigest | Undigested) -> None:
        if not self.answer.done():  # its caller may have been cancelled
            self.answer.set_result(result)


class End(NamedTuple):
    """How a worker ended."""

    culprit: Job | None  # the page it was at
    verdict: Verdict  # on that page
    bystanders: tuple[Job, ...]  # given but never begun
    useless: bool  # it never began a page
    last_words: str


class DigestProcess(asyncio.Protocol):
    def __init__(
        self, cpu_seconds: float, on_ready: Callable[[], None], on_answer: Callable[["DigestProcess"], None]
    ) -> None:
        self.stage = Stage.STARTING
        self.jobs: deque[Job] = deque()  # given and not answered, in order
        self.load = 0  # bytes of those pages
        self.answered = 0
        self.silence = 0  # ticks since its last answer, counted by the pool
        self._on_ready = on_ready
        self._on_answer = on_answer
        self._cpu_seconds = cpu_seconds
        self._frames = FrameReader()
        self._killed_for: Verdict | None = None  # why we killed it, if we did
        self._child: Child | None = None
        self._transport: asyncio.WriteTransport | None = None
        self._hung_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self, command: Sequence[str]) -> End:
        """Start the process and wait until it is gone."""
        if self._killed_for is not None:  # killed before it started
            return self._end_of(self._killed_for, 0, "")
        try:
            self._child, connection = early_or_new(command)
        except OSError as error:
            return self._end_of(Verdict(Outcome.PARSE_FAILED, "no worker"), 0, str(error))
        with connection.dup() as ours:
            await asyncio.get_running_loop().create_unix_connection(lambda: self, sock=connection)
            await self._hung_up
            self._read_rest(ours)
        returncode = await self._child.reap()
        begun, last_words = self._child.begun, self._child.last_words()
        self._child.close()
        return self._end_of(self._verdict_on(returncode, last_words), begun, last_words)

    def _read_rest(self, connection: socket.socket) -> None:
        """Read its last answers. If a worker dies while pages are being sent to it, the event loop closes the
        connection when sending fails, with answers still unread."""
        with suppress(OSError):  # there is nothing more
            self.data_received(connection.recv(_MAX_UNREAD))

    def _end_of(self, verdict: Verdict, begun: int, last_words: str) -> End:
        culprit = self.jobs.popleft() if begun > self.answered and self.jobs else None
        return End(culprit, verdict, tuple(self.jobs), begun == 0, last_words or verdict.rule)

    def _verdict_on(self, returncode: int, last_words: str) -> Verdict:
        if self._killed_for is not None:
            return self._killed_for
        if returncode == -signal.SIGPROF:
            return Verdict(Outcome.PARSE_LIMIT, f"more than {self._cpu_seconds:g} s of CPU time")
        if returncode < 0:
            return Verdict(Outcome.PARSE_FAILED, f"worker died: signal {-returncode}{_name_of(-returncode)}")
        return Verdict(
            Outcome.PARSE_FAILED, f"worker died: exit code {returncode}, {last_words}".rstrip(", ")
        )

    @property
    def given(self) -> int:
        return self.answered + len(self.jobs)

    def give(self, job: Job) -> None:
        """Raises FrameSizeError or UnicodeEncodeError for a request that cannot be sent."""
        frame = encode_frame(job.request)
        if not self.jobs:
            self.silence = 0
        self.jobs.append(job)
        self.load += len(job.request.body)
        assert self._transport is not None
        self._transport.write(frame)

    def leave(self) -> None:
        """Finish the pages that it has, then end."""
        self.stage = Stage.LEAVING
        self._hang_up_if_idle()

    def kill(self, why: Verdict) -> None:
        self._killed_for = self._killed_for or why
        if self._child is not None:
            self._child.kill()
        self._hang_up()

    def _hang_up(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _hang_up_if_idle(self) -> None:
        if self.stage is Stage.LEAVING and not self.jobs:
            self._hang_up()

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)  # uvloop's does not inherit from it

    def data_received(self, data: bytes) -> None:
        try:
            for payload in self._frames.feed(data):
                self._receive(payload)
        except (FrameSizeError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self.kill(Verdict(Outcome.PARSE_FAILED, f"worker sent an invalid message: {error}"))

    def _receive(self, payload: bytes) -> None:
        self.silence = 0
        if self.stage is Stage.STARTING and not payload:
            self.stage = Stage.SERVING
            self._on_ready()
            return
        result = _decoder.decode(payload).result
        if not self.jobs:
            raise msgspec.DecodeError("an answer to nothing")
        job = self.jobs.popleft()
        self.load -= len(job.request.body)
        self.answered += 1
        job.settle(result)
        self._hang_up_if_idle()
        self._on_answer(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.stage = Stage.GONE
        self._hung_up.set_result(None)


def _name_of(number: int) -> str:
    try:
        return f" ({signal.Signals(number).name})"
    except ValueError:
        return ""
