"""A process killed amid its batches loses nothing of what it was told is written, and repeats none of it."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sumi.model import Candidate
from sumi.outcomes import Outcome
from sumi.ports import Judged
from tests.commands import ROOT, sumi_environment
from tests.contract.backends import DURABLE
from tests.contract.settling_process import BATCH, POLICY, settle_all

URLS = [f"https://host-{number % 50}.test/{number}" for number in range(24 * BATCH)]


def killed_after(batches: int, backend: str, folder: Path) -> list[str]:
    """What a process had said to be settled by then. It goes on to settle while this is read."""
    command = [sys.executable, "-m", "tests.contract.settling_process", backend, str(folder)]
    env = sumi_environment(None)
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline().split() for _ in range(batches)]
        process.send_signal(signal.SIGKILL)
        said += [line.split() for line in process.stdout if line.endswith("\n")]
    return [url for urls in said for url in urls]


async def _found(backend: str, folder: Path) -> None:
    store = DURABLE[backend](folder, POLICY, 0.0)
    await store.add([Judged(Candidate(url, depth=len(url) % 3)) for url in URLS])
    await store.aclose()


async def _settled(backend: str, folder: Path) -> list[str]:
    store = DURABLE[backend](folder, POLICY, 0.0)
    urls = [record.url async for record in store.records([Outcome.CAPTURED])]
    stats = await store.stats()
    await store.aclose()
    assert (stats.known, stats.pending) == (len(URLS), len(URLS) - len(urls))
    return urls


async def _histories(backend: str, folder: Path) -> list[int]:
    store = DURABLE[backend](folder, POLICY, 0.0)
    lengths = [len(await store.history(url)) for url in URLS[::17]]
    await store.aclose()
    return lengths


@pytest.mark.parametrize("backend", DURABLE)
def test_what_was_said_to_be_settled_is_and_the_rest_is_settled_once(backend: str, tmp_path: Path) -> None:
    asyncio.run(_found(backend, tmp_path))
    said: list[str] = []
    for batches in (2, 5):
        said += killed_after(batches, backend, tmp_path)
        settled = asyncio.run(_settled(backend, tmp_path))
        assert set(said) <= set(settled)
    assert len(said) == len(set(said))  # nobody was handed what was settled before
    asyncio.run(settle_all(backend, tmp_path))
    assert asyncio.run(_settled(backend, tmp_path)) == URLS
    assert set(asyncio.run(_histories(backend, tmp_path))) == {1}
