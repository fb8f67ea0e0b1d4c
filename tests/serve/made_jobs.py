"""A job as a long run would have left it, without the run."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sumi.model import Candidate, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import HostReport, Judged, Settlement
from sumi.state.journal import FilesStore

HOST = "long.example"
_UNPACED = FrontierPolicy(PacingPolicy(delay=0.0, sitemap_delay=0.0, per_host=200))


def url(number: int) -> str:
    return f"https://{HOST}/page-{number:06}"


def make_mirror(folder: Path, pages: int, title: str = "Page {}") -> Path:
    """All of them are captured, in order; nothing is in its files."""
    home = folder / HOST
    (home / ".sumi").mkdir(parents=True)
    with ThreadPoolExecutor(1) as beside:  # the loop of a browser's tests may run in this thread
        beside.submit(asyncio.run, _fill(home / ".sumi", pages, title)).result()
    return home


async def _fill(state: Path, pages: int, title: str) -> None:
    store = FilesStore(state, _UNPACED, 0.0)
    for start in range(0, pages, 1000):
        numbers = range(start, min(pages, start + 1000))
        await store.add([Judged(Candidate(url(number))) for number in numbers])
    while leases := await store.lease(200, 1.0):
        for lease in leases:
            await store.release_host(lease, HostReport(reached=1.0, latency=0.01))
        await store.settle(
            [
                Settlement(lease, Verdict(Outcome.CAPTURED, "HTTP 200"), 1.0, _facts(lease.url, title))
                for lease in leases
            ]
        )
    await store.aclose()


def _facts(address: str, title: str) -> PageFacts:
    number = int(address.rpartition("-")[2])
    return PageFacts(
        status=200, path=f"{HOST}/{number}.md", size=1, sha256="0" * 64, title=title.format(number)
    )
