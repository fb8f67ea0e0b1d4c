"""Moves a journal into a database again and again, each time killed one step later.

A step is whatever this process does to the names in the state's folder. Prints what each kill left, a word a
line, having compared it with what was there before.
"""

import asyncio
import os
import shutil
import sys
from pathlib import Path
from typing import Final

from sumi.model import Candidate, Hop, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import Deferral, Judged, Settlement, UrlRecord
from sumi.state.folder import backend_named, backend_to_use
from sumi.state.growing import GrowingStore

POLICY: Final = FrontierPolicy(PacingPolicy(delay=0.0, sitemap_delay=0.0, per_host=100))
STEPS: Final = frozenset({"os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree"})
KILLED: Final = 9
Contents = tuple[list[UrlRecord], list[int]]


async def nothing() -> None:
    """No page has a file."""


async def prepare(folder: Path) -> None:
    store = GrowingStore(folder, POLICY, 0.0)
    urls = [f"https://h{number % 3}.test/{number}" for number in range(30)]
    await store.add([Judged(Candidate(url, Hop.SEED)) for url in urls])
    leases = await store.lease(12, 1.0)
    ended = [
        Settlement(each, Verdict(Outcome.CAPTURED), 1.0, PageFacts(title=each.url)) for each in leases[:8]
    ]
    await store.settle([*ended, Deferral(leases[8], 1.0, 50.0, why=Verdict(Outcome.TIMED_OUT, "slow"))])
    await store.put_note("a", "note")
    await store.aclose()


async def move(folder: Path) -> None:
    store = GrowingStore(folder, POLICY, 0.0, outgrown=10)
    await store.sync(nothing)
    await store.put_note("after", "the move")
    await store.aclose()


def kill_at(step: int, folder: Path) -> None:
    seen = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        if event in STEPS and str(arguments[0]).startswith(str(folder)):
            seen += 1
            if seen == step:
                os._exit(KILLED)

    sys.addaudithook(hook)


async def contents(folder: Path) -> Contents:
    """As a later run finds it."""
    store = backend_named(backend_to_use(folder, None))(folder, POLICY, 0.0)
    records = [record async for record in store.records()]
    histories = [len(await store.history(record.url)) for record in records]
    assert await store.get_note("a") == "note"
    waiting = {wait.host: wait.pending for wait in await store.waiting_hosts(100.0)}
    assert sum(waiting.values()) == (await store.stats()).pending
    await store.aclose()
    return records, histories


def killed(step: int, folder: Path) -> bool:
    """Whether it came to that; otherwise the move came to its end."""
    child = os.fork()
    if not child:
        kill_at(step, folder)
        asyncio.run(move(folder))
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, KILLED), status
    return status == KILLED


def main(place: Path) -> None:
    prepared = place / "prepared"
    prepared.mkdir()
    asyncio.run(prepare(prepared))
    before = asyncio.run(contents(prepared))
    step, was_killed = 0, True
    while was_killed:
        step += 1
        folder = place / str(step)
        shutil.copytree(prepared, folder)
        was_killed = killed(step, folder)
        assert asyncio.run(contents(folder)) == before, folder
        print(backend_to_use(folder, None))
        asyncio.run(go_on(folder))


async def go_on(folder: Path) -> None:
    """By a run that is not killed: to the end of the move, if it has not got there."""
    if backend_to_use(folder, None) == "files":
        await move(folder)
    assert backend_to_use(folder, None) == "sqlite"
    assert not (folder / "moving").exists()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
