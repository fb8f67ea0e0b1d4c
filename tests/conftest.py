"""What tests share: the hostile website, and the command line as a process."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import settings

from tests.commands import FinishedSumi, RunSumi, SpawnedSumi, SpawnSumi, sumi_command, sumi_environment
from tests.site import MakeSite, RunningSite, running_site
from tests.warm import Forked

# Shared machines stall now and then, so no example has a deadline. In CI every run tries the same examples:
# a failure there belongs to the change at hand.
settings.register_profile("ci", deadline=None, derandomize=os.environ.get("CI") == "true")
# For `make fuzz`, which has the time: pytest --hypothesis-profile=many.
settings.register_profile("many", deadline=None, max_examples=100_000, database=None)
settings.load_profile("ci")


LONG_ONES = (Path(__file__).parent / "torture", Path(__file__).parent / "e2e")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first: no core waits at the end for another one's."""
    items.sort(key=lambda item: not any(folder in item.path.parents for folder in LONG_ONES))


@pytest.fixture(scope="session")
def small_site() -> Iterator[RunningSite]:
    """Thirty pages, shared: use paths of your own under /bad/, and leave its log to others."""
    with running_site(pages=30, seed=1) as running:
        yield running


@pytest.fixture
def make_site() -> Iterator[MakeSite]:
    """``make_site(pages=…, …)`` as ``running_site``; gone when the test ends."""
    with ExitStack() as stack:

        def make(**options: Any) -> RunningSite:
            return stack.enter_context(running_site(**options))

        yield make


@pytest.fixture
def run_sumi(tmp_path: Path) -> RunSumi:
    """Runs a command to its end in the test's own folder."""

    def run(*args: str, timeout: float = 120, env: dict[str, str] | None = None) -> FinishedSumi:
        with tempfile.TemporaryDirectory() as said:
            out, err = Path(said, "out"), Path(said, "err")
            process = Forked(args, tmp_path, out, err, env)
            try:
                code = process.wait(timeout)
            finally:
                process.kill()
            return FinishedSumi(["sumi", *args], code, out.read_text(), err.read_text())

    return run


@pytest.fixture
def run_installed_sumi(tmp_path: Path) -> RunSumi:
    """As ``run_sumi``, in a process that begins with the interpreter: for tests of how a command starts."""

    def run(*args: str, timeout: float = 120, env: dict[str, str] | None = None) -> FinishedSumi:
        command = sumi_command(args)
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=sumi_environment(env),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return FinishedSumi(command, done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def spawn_sumi(tmp_path: Path) -> Iterator[SpawnSumi]:
    """Starts a command in the test's own folder; what still runs at the end is killed with its children."""
    yield from _spawning(tmp_path, lambda args, out, err, env: Forked(args, tmp_path, out, err, env))


@pytest.fixture
def spawn_installed_sumi(tmp_path: Path) -> Iterator[SpawnSumi]:
    """As ``spawn_sumi``, in a process that begins with the interpreter: for tests of what a process needs."""

    def start(
        args: tuple[str, ...], out: Path, err: Path, env: dict[str, str] | None
    ) -> subprocess.Popen[bytes]:
        with out.open("wb") as stdout, err.open("wb") as stderr:
            return subprocess.Popen(
                sumi_command(args),
                cwd=tmp_path,
                env=sumi_environment(env),
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )

    yield from _spawning(tmp_path, start)


Start: TypeAlias = Callable[
    [tuple[str, ...], Path, Path, dict[str, str] | None], "Forked | subprocess.Popen[bytes]"
]


def _spawning(folder: Path, start: Start) -> Iterator[SpawnSumi]:
    running: list[SpawnedSumi] = []

    def spawn(*args: str, env: dict[str, str] | None = None) -> SpawnedSumi:
        number = len(running) + 1
        out, err = folder / f"sumi-{number}.out", folder / f"sumi-{number}.err"
        running.append(SpawnedSumi(start(args, out, err, env), out, err))
        return running[-1]

    yield spawn
    for spawned in running:
        if spawned.process.poll() is None:
            os.killpg(spawned.process.pid, signal.SIGKILL)
        spawned.process.wait()
