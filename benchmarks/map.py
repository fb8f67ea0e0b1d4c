"""A synthetic web through the whole engine into a map, without a network: pages a second and memory.

    python -m benchmarks.map --pages 1000000 --domains 5000 --links 10

Pages and links are computed, not stored. Every third link goes to one of few popular pages, as on the web;
the rest lead deeper or anywhere. Fetching and parsing cost nothing here: what counts is leasing, judging,
settling, and writing pages, links, depths, states and the queue, the indexes at the end, and the summary.
"""

import argparse
import asyncio
import random
import resource
import shutil
import tempfile
import time
from pathlib import Path

import apsw
import uvloop

from benchmarks.computed_web import ComputedWeb
from sumi.engine.control import Control
from sumi.engine.crawl import Crawl
from sumi.engine.io import Io, SystemClock
from sumi.events import Event, Progress
from sumi.jobs.map.output import MapOutput
from sumi.jobs.map.store.map_store import MapStore
from sumi.jobs.map.store.runs import COMPLETED, MapRun
from sumi.jobs.map.summary import read_summary, summary_markdown
from sumi.model import Candidate, Hop, Request, Response, Timing
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.policy import Durability, FrontierPolicy, PacingPolicy, Preset, RobotsPolicy, TrapPolicy
from sumi.recipe import Recipe
from sumi.scope.hosts import DomainClasses
from sumi.scope.scope import Scope

TELL_SECONDS = 10.0
UNPACED = PacingPolicy(delay=0.0, sitemap_delay=0.0, per_host=4, slow_factor=0.0)


class SyntheticWeb(ComputedWeb):
    def __init__(self, pages: int, domains: int, links: int, clock: SystemClock) -> None:
        super().__init__(pages, domains, links)
        self._clock = clock

    async def fetch(self, request: Request) -> Response:
        now = self._clock.now()
        body = request.url.rpartition("/")[2].encode()
        headers = (("content-type", "text/html"),)
        return Response(request.url, 200, headers, body, Timing(now, now, now))

    async def digest(self, request: DigestRequest) -> PageDigest:
        number = int(request.body)
        return PageDigest(self.targets(number), title=f"Article {number}")

    async def aclose(self) -> None:
        """Nothing is open."""


class Teller:
    def __init__(self, started: float) -> None:
        self._started = started
        self._due = 0.0

    def __call__(self, event: Event) -> None:
        now = time.monotonic()
        if isinstance(event, Progress) and now >= self._due:
            self._due = now + TELL_SECONDS
            rate = event.done / max(now - self._started, 0.001)
            print(
                f"{event.done:>9,} done {event.pending:>9,} queued {rate:>7,.0f}/s {megabytes():>5} MB",
                flush=True,
            )


def megabytes() -> int:
    """The most that was ever resident."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


async def measure(arguments: argparse.Namespace, folder: Path) -> None:
    clock = SystemClock()
    web = SyntheticWeb(arguments.pages, arguments.domains, arguments.links, clock)
    quality = tuple(f"d{n}.example" for n in range(arguments.quality))
    recipe = Recipe(
        job="map",
        seeds=tuple(Candidate(web.url(n), Hop.SEED) for n in range(arguments.quality)),
        preset=Preset.MAP,
        scope=Scope(max_depth=arguments.max_depth),
        user_agent="bench",
        robots=RobotsPolicy(respect=False),
        pacing=UNPACED,
        concurrency=arguments.concurrency,
        record_links=True,
        origins=quality,
        head_first=arguments.head,
        traps=TrapPolicy(hops=0, fruitless=0),
    )
    run = MapRun("bench", DomainClasses(quality), quality, arguments.max_depth)
    store = MapStore(folder / "map.db", FrontierPolicy(pacing=UNPACED), clock.now(), run)
    started = time.monotonic()
    output = MapOutput(folder / "map.db", None)
    io = Io(store, store, web, web, output, clock, Teller(started), random.random)
    await Crawl(recipe, io, Control(), Durability.BATCH).run()
    done = (await store.stats()).captured
    crawled = time.monotonic()
    await store.end_run(COMPLETED, clock.now())
    ended = time.monotonic()
    await store.aclose()
    seconds, busy = ended - started, time.process_time()
    measure_summary(folder / "map.db")
    size = sum(file.stat().st_size for file in folder.iterdir()) // 1024**2
    print(
        f"{done:,} pages, {done * arguments.links:,} links in {seconds:.0f} s: {done / seconds:,.0f} pages/s "
        f"({done / busy:,.0f} per second of processor time), "
        f"{ended - crawled:.1f} s of it for indexes, {megabytes()} MB resident at most, {size:,} MB on disk"
    )


def measure_summary(database: Path) -> None:
    started, busy = time.monotonic(), time.process_time()
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    text = summary_markdown(read_summary(connection))
    connection.close()
    print(
        f"summary of {len(text):,} characters in {time.monotonic() - started:.1f} s "
        f"({time.process_time() - busy:.1f} s of processor time)"
    )


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.map", description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--domains", type=int, default=5_000)
    parser.add_argument("--links", type=int, default=10)
    parser.add_argument("--quality", type=int, default=5, help="domains that distances are measured from")
    parser.add_argument("--max-depth", type=int, default=64)
    parser.add_argument("--concurrency", type=int, default=100)
    parser.add_argument("--head", action="store_true", help="HEAD before GET, as the job does")
    parser.add_argument("--folder", type=Path, help="where the database goes; kept afterwards")
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="sumi-map-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(measure(arguments, folder))
    finally:
        if arguments.folder is None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
