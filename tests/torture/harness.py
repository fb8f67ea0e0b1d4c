"""A mirror under strace: killed, or failed by the kernel, at one chosen call that changes the disk."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sumi.policy import StateBackend
from tests.commands import sumi_command
from tests.site import RunningSite
from tests.site.oracle import check_mirror
from tests.torture.disk_log import CALLS, STRACE_OPTIONS, Event, read_log
from tests.torture.inspection import state_faults
from tests.torture.trace import DURABLE_CALLS, Traced, read_trace
from tests.warm import run_warm

CONCURRENCY = 8
SECONDS = 60


@dataclass(frozen=True)
class Ended:
    code: int
    error: str

    @property
    def complaints(self) -> list[str]:
        return [line for line in self.error.splitlines() if line.startswith("sumi: error:")]


@dataclass
class Bench:
    """One site, and mirrors of it in folders of their own."""

    site: RunningSite
    folder: Path
    options: tuple[str, ...] = ()
    _made: int = field(default=0, init=False)

    def output(self, like: Path | None = None) -> Path:
        """A new output folder; a copy of ``like`` if given."""
        self._made += 1
        output = self.folder / f"out-{self._made}"
        if like is not None:
            shutil.copytree(like, output)
        return output

    def home(self, output: Path) -> Path:
        return output / f"127.0.0.1_{self.site.port}"

    def command(self, output: Path, *extra: str) -> list[str]:
        return sumi_command(self.words(output, *extra))

    def words(self, output: Path, *extra: str) -> tuple[str, ...]:
        words = ("mirror", self.site.url, "-q", "--rate-limit", "0", "--concurrency", str(CONCURRENCY))
        return (*words, "--processes", "0", "-o", str(output), *self.options, *extra)

    def run(self, output: Path, *extra: str, tracer: tuple[str, ...] = ()) -> Ended:
        """To its end, whatever that is; nothing of it is left running."""
        error = self.folder / "error.txt"
        code = run_warm(self.words(output, *extra), self.folder, error, tracer, SECONDS)
        if code is None:
            return Ended(-signal.SIGKILL, f"did not end within {SECONDS} seconds")
        return Ended(code, error.read_text())

    def trace(self, output: Path) -> Traced:
        """Run to the end and note every durable call on the way."""
        log = self.folder / "strace.log"
        ended = self.run(output, tracer=(*_strace(DURABLE_CALLS), "-y", "-o", str(log)))
        assert ended.code in (0, 1), ended.error
        return read_trace(log.read_text(errors="replace"), output)

    def record(self, output: Path, names: tuple[str, ...]) -> list[Event]:
        """Run to the end and note all that is written to these files of the state, and every sync of them."""
        log, state = self.folder / "written", self.home(output) / ".sumi"
        paths = [word for name in names for word in ("-P", str(state / name))]
        ended = self.run(output, tracer=(*_strace(CALLS), *STRACE_OPTIONS, *paths, "-o", str(log)))
        assert ended.code in (0, 1), ended.error
        return read_log(self.folder.glob("written.*"))

    def inject(self, output: Path, paths: tuple[str, ...], call: str, fault: str) -> Ended:
        """Run with a fault at one call that is about one of ``paths``."""
        where = [word for path in paths for word in ("-P", path.replace("{}", str(output)))]
        inject = ("-e", f"inject={call}:{fault}", "-o", os.devnull, *where)
        return self.run(output, tracer=(*_strace((call,)), *inject))

    def violations(self, output: Path, *, kills: int = 1) -> list[str]:
        """Run again without a fault, and compare with the truth. None: nothing lost, nothing twice."""
        ended = self.run(output)
        if ended.code not in (0, 1) or ended.complaints:
            return [f"the next run ended with {ended.code}: {ended.error.strip()}"]
        requests = self.site.requests()
        return [
            *check_mirror(output, self.site.truth, requests, kills=kills, concurrency=CONCURRENCY),
            *state_faults(self.home(output), self.site.truth),
        ]

    @contextmanager
    def tried(self, like: Path | None = None) -> Iterator[Path]:
        """An output folder and an empty log, for one try."""
        self.site.clear_log()
        output = self.output(like)
        yield output
        shutil.rmtree(output, ignore_errors=True)


def state_choices() -> list[str]:
    """Every backend that keeps its state in the job's folder; a server's have tests of their own."""
    return [backend.value for backend in StateBackend]


def state_options(name: str) -> tuple[str, ...]:
    return ("--state", name)


def why_no_strace() -> str:
    """A reason to skip; empty if strace can trace here."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    tried = subprocess.run([*_strace(("write",)), "true"], capture_output=True, text=True, check=False)
    return f"strace cannot trace here: {tried.stderr.strip()}" if tried.returncode else ""


def _strace(calls: tuple[str, ...]) -> tuple[str, ...]:
    # A leading question mark: no complaint where a kernel has no such call.
    wanted = "trace=" + ",".join(f"?{call}" for call in calls)
    return ("strace", "-f", "-qq", "-e", "signal=none", "-e", wanted)
