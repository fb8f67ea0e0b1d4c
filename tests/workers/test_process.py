"""A worker that is started early is used or killed: there is never one too many."""

import asyncio
import sys
from pathlib import Path

import pytest

from sumi.model import Kind
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.policy import ParseLimits, Preset
from sumi.workers.pool import WorkerPool
from sumi.workers.process import worker_started_early

LIMITS = ParseLimits()
PAGE = DigestRequest("https://h.example/", b"<p>text", "text/html", Kind.PAGE, Preset.MIRROR)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="children are counted in /proc")


def children() -> set[str]:
    """Processes of ours that have not ended."""
    lists = [path.read_text().split() for path in Path("/proc/self/task").glob("*/children")]
    return {pid for pids in lists for pid in pids if not _is_zombie(pid)}


def _is_zombie(pid: str) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_the_pool_takes_over_the_worker_that_was_started_for_it() -> None:
    before = children()

    async def digest_one() -> tuple[set[str], object]:
        workers = WorkerPool(1, cpu_seconds=LIMITS.cpu_seconds, memory_bytes=LIMITS.memory_bytes)
        try:
            digest = await workers.digest(PAGE)
            return children() - before, digest
        finally:
            await workers.aclose()

    with worker_started_early(None, LIMITS.cpu_seconds, LIMITS.memory_bytes):
        early = children() - before
        meanwhile, digest = asyncio.run(digest_one())
    assert len(early) == 1
    assert meanwhile == early
    assert isinstance(digest, PageDigest)
    assert children() == before


def test_an_unused_one_is_killed() -> None:
    before = children()
    with worker_started_early(2, LIMITS.cpu_seconds, LIMITS.memory_bytes):
        assert len(children() - before) == 1
    assert children() == before


def test_without_worker_processes_none_is_started() -> None:
    before = children()
    with worker_started_early(0, LIMITS.cpu_seconds, LIMITS.memory_bytes):
        assert children() == before
