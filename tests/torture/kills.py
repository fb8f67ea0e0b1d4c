"""Runs that are killed with all their workers at moments of chance, and what is left of a page limit then."""

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from tests.torture.harness import CONCURRENCY, Bench
from tests.warm import Forked

Enough = Callable[[], bool]


def killed_when(bench: Bench, output: Path, enough: Enough, *extra: str) -> bool:
    """Start a run and kill it with its workers once ``enough``; False if it ended before."""
    said = bench.folder / "killed.txt"
    process = Forked(bench.words(output, *extra), bench.folder, said, said)
    deadline = time.monotonic() + 60
    while process.poll() is None and not enough():
        assert time.monotonic() < deadline, "the run is stuck"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.002)
    alive = process.poll() is None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return alive


def after_requests(bench: Bench, count: int) -> Enough:
    target = len(bench.site.requests()) + count
    return lambda: len(bench.site.requests()) >= target


def after_seconds(seconds: float) -> Enough:
    deadline = time.monotonic() + seconds
    return lambda: time.monotonic() >= deadline


def killed_again_and_again(bench: Bench, output: Path, kills: int, pages_between: int, seed: int) -> int:
    """Until that many runs were killed, or one came to its end; returns how many were."""
    chance = random.Random(seed)
    for done in range(kills):
        if not killed_when(bench, output, after_requests(bench, chance.randrange(1, pages_between))):
            return done
    return kills


def cap_violations(bench: Bench, output: Path, cap: int, kills: int) -> list[str]:
    """Finish the run, and look whether exactly as many pages as allowed are there."""
    ended = bench.run(output)
    if ended.code not in (0, 1):
        return [f"the next run ended with {ended.code}: {ended.error.strip()}"]
    pages = msgspec.json.decode((bench.home(output) / "_manifest.json").read_bytes())["pages"]
    urls = {page["url"] for page in pages}
    faults = (
        [] if len(urls) == len(pages) == cap else [f"{len(pages)} pages, {len(urls)} different, of {cap}"]
    )
    files = len(list(bench.home(output).rglob("index.md")))
    return faults + ([f"{files} files"] if files > cap + kills * CONCURRENCY else [])
