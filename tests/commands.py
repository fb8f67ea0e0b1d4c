"""The command line as tests run it: a process of its own, with nothing of our environment to lean on."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec

from tests.warm import Forked

ROOT = Path(__file__).resolve().parents[1]


def parse_events(text: str) -> list[dict[str, Any]]:
    """The JSON objects among complete lines of ``--json`` output."""
    complete = text.rpartition("\n")[0]
    return [msgspec.json.decode(line) for line in complete.splitlines() if line.startswith("{")]


class FinishedSumi(subprocess.CompletedProcess[str]):
    @property
    def events(self) -> list[dict[str, Any]]:
        return parse_events(self.stdout)


@dataclass(frozen=True)
class SpawnedSumi:
    """A running command whose output goes to files, so that no full pipe ever holds it up."""

    process: Forked | subprocess.Popen[bytes]
    stdout: Path
    stderr: Path

    @property
    def events(self) -> list[dict[str, Any]]:
        return parse_events(self.stdout.read_text())


def wait_until(running: SpawnedSumi, happened: Callable[[], bool]) -> None:
    """Fails with the command's own words if that ends before."""
    deadline = time.monotonic() + 120  # a machine that is busy starts a process in half a minute
    while not happened():
        assert running.process.poll() is None, running.stderr.read_text()
        assert time.monotonic() < deadline, "the run is stuck"
        time.sleep(0.01)  # waits for another process, which no injected clock can hurry


class RunSumi(Protocol):
    def __call__(
        self, *args: str, timeout: float = 120, env: dict[str, str] | None = None
    ) -> FinishedSumi: ...


class SpawnSumi(Protocol):
    def __call__(self, *args: str, env: dict[str, str] | None = None) -> SpawnedSumi: ...


def sumi_command(args: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-m", "sumi", *args]


def sumi_environment(extra: dict[str, str] | None) -> dict[str, str]:
    """Ours, without settings and proxies that a developer may have set."""
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("SUMI_") and not name.lower().endswith("_proxy")
    }
    return own | {"PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1", "SUMI_MIN_FREE": "0"} | (extra or {})
