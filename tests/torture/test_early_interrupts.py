"""Ctrl-C while a command is still starting ends it in silence, wherever in its imports it is."""

import random
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.commands import sumi_command, sumi_environment
from tests.torture.harness import why_no_strace

REASON = why_no_strace()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "strace works")

# From a signal, which a shell shows as 130, until the command runs; from then on as at any later moment.
ENDED_BY_THE_SIGNAL, INTERRUPTED = -signal.SIGINT, 3
STRACE = ("strace", "-f", "-qq", "-e", "trace=openat", "-e", "signal=none")
OPENED = re.compile(r"^(\d+) +openat\([^\"]*\"([^\"]*)\"")


def hear_interrupts() -> None:
    """Also where the tests run in the background of a shell, which ignores Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run_with(folder: Path, words: tuple[str, ...], *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*STRACE, *options, *sumi_command(words)],
        cwd=folder,
        env=sumi_environment(None),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=hear_interrupts,
    )


def imports(folder: Path, words: tuple[str, ...]) -> list[int]:
    """Which of the main thread's opened files are modules, from the first of ours on."""
    log = folder / "opened.log"
    run_with(folder, words, "-o", str(log))
    opened = [match.groups() for line in log.read_text().splitlines() if (match := OPENED.match(line))]
    paths = [path for thread, path in opened if thread == opened[0][0]]
    modules = [when for when, path in enumerate(paths, 1) if path.endswith((".pyc", ".py", ".so"))]
    ours = next(when for when in modules if "/sumi/cli/" in paths[when - 1])
    return [when for when in modules if when >= ours]


@pytest.mark.parametrize(
    ("words", "tries"),
    [(("version",), 3), (("mirror", "http://127.0.0.1:9/", "-q"), 9)],
    ids=["version", "mirror"],
)
def test_at_any_import(tmp_path: Path, words: tuple[str, ...], tries: int) -> None:
    moments = imports(tmp_path, words)
    assert len(moments) > 20
    for when in random.Random(7).sample(moments, tries):
        ended = run_with(tmp_path, words, "-o", "/dev/null", "-e", f"inject=openat:signal=INT:when={when}")
        assert ended.returncode in (ENDED_BY_THE_SIGNAL, INTERRUPTED), ended.stderr
        assert ended.stderr == ""
