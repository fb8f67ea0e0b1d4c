"""A page that is done takes next to no memory of its own, beside what its URL took when it was found."""

import asyncio
import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from sumi.model import Candidate, Hop, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import HostReport, Judged, Settlement
from sumi.state.journal import FilesStore
from sumi.state.lmdb import LmdbStore
from sumi.state.lmdb.rows import LmdbRows
from sumi.state.sqlite import SqliteStore

URLS, AT_ONCE = 3000, 50
UNPACED = FrontierPolicy(PacingPolicy(delay=0.0, sitemap_delay=0.0, per_host=AT_ONCE, slow_factor=0.0))
BYTES_PER_PAGE = 100
Stored: TypeAlias = FilesStore | SqliteStore | LmdbStore
STORES: dict[str, Callable[[Path], Stored]] = {
    "files": lambda folder: FilesStore(folder, UNPACED, 0.0),
    "sqlite": lambda folder: SqliteStore(folder, UNPACED, 0.0),
    "lmdb": lambda folder: LmdbStore(folder, UNPACED, 0.0),
}


@pytest.mark.parametrize("state", STORES)
def test_a_page_that_is_done_is_nearly_free(
    tmp_path: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LmdbRows, "most_stale", 1000)  # a bound that would not be reached here
    assert asyncio.run(_growth(STORES[state](tmp_path))) < BYTES_PER_PAGE * URLS


async def _growth(store: Stored) -> int:
    urls = [f"https://docs.example.org/part/page-{number}/" for number in range(2 * URLS)]
    await store.add([Judged(Candidate(url, Hop.LINK)) for url in urls])
    await _settle(store, 1.0)  # caches fill
    tracemalloc.start()
    try:
        before = _traced()
        await _settle(store, 2.0)
        return _traced() - before
    finally:
        tracemalloc.stop()
        await store.aclose()


async def _settle(store: Stored, began: float) -> None:
    """So fast that no lease runs out meanwhile."""
    for turn in range(URLS // AT_ONCE):
        now = began + turn / 1000
        leases = await store.lease(AT_ONCE, now)
        assert len(leases) == AT_ONCE
        for lease in leases:
            await store.release_host(lease, HostReport(reached=now, latency=0.1, ok=True))
        await store.settle(
            [
                Settlement(
                    lease,
                    Verdict(Outcome.CAPTURED, f"HTTP {200 + turn % 2}"),
                    now,
                    PageFacts(status=200, title=f"Title of {lease.url}", path=f"{lease.url[8:]}index.md"),
                )
                for lease in leases
            ]
        )
        await store.sync(_nothing)


async def _nothing() -> None:
    """No outputs here."""


def _traced() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]
