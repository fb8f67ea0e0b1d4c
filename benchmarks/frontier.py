"""``python -m benchmarks.frontier``: how fast the frontier is on each backend, and what it takes to hold it.

Each backend runs in a process of its own that is killed with SIGKILL when it is through, so that opening is
measured on what a crash leaves behind. Beside it, in the same run, stands what its library does when it puts
the same number of rows of the same size, keyed alike, into a single table without any index.
"""

import argparse
import asyncio
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import apsw
import lmdb

from sumi.engine.settler import BATCH
from sumi.model import Candidate, Hop, PageFacts
from sumi.outcomes import Outcome, Verdict
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.ports import Frontier, HostReport, Judged, Settlement
from sumi.state.database.rows import url_key
from sumi.state.journal import FilesStore
from sumi.state.journal.journal import frame
from sumi.state.lmdb import LmdbStore
from sumi.state.sqlite import SqliteStore
from sumi.state.sqlite.rows import CACHE_KIB

RESULTS = Path(__file__).parent / "results"
ADD_BATCH, LINKS = 1000, 100
SETTLE_BATCH = BATCH  # what the engine writes at once when settlements come this fast
UNPACED = FrontierPolicy(PacingPolicy(delay=0.0, sitemap_delay=0.0, per_host=100))
VERDICT = Verdict(Outcome.CAPTURED, "HTTP 200")
BACKENDS: dict[str, Callable[[Path], Frontier]] = {
    "files": lambda folder: FilesStore(folder, UNPACED, 0.0),
    "sqlite": lambda folder: SqliteStore(folder, UNPACED, 0.0),
    "lmdb": lambda folder: LmdbStore(folder, UNPACED, 0.0),
}


class Figures(NamedTuple):
    raw_adds: float  # per second, as are the next three
    adds: float
    known_links: float  # looked up and found known
    settled: float  # leased, released and settled
    settled_cpu_us: float  # processor time for one of those; says more than the rate where others work too
    rss_mb: float  # peak; pages of a mapped file count as well
    anonymous_mb: float  # at the end, without those
    disk_mb: float
    reopened_s: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frontier", description=__doc__)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=10_000)
    parser.add_argument("--settle", type=int, default=200_000, help="how many of them are fetched")
    parser.add_argument("--backend", choices=BACKENDS, action="append")
    parser.add_argument("--folder", default=None, help="on the disk to measure (default: a temporary folder)")
    parser.add_argument("--inside", choices=BACKENDS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        asyncio.run(
            measure(options.inside, Path(options.folder), options.urls, options.hosts, options.settle)
        )
        return
    figures = {
        backend: run(backend, options.folder, options.urls, options.hosts, options.settle)
        for backend in options.backend or BACKENDS
    }
    report(options.urls, options.hosts, options.settle, figures)


def run(backend: str, place: str | None, urls: int, hosts: int, settle: int) -> Figures:
    print(f"measuring {backend}", file=sys.stderr)
    folder = Path(tempfile.mkdtemp(prefix="sumi-frontier-", dir=place))
    sizes = ["--urls", str(urls), "--hosts", str(hosts), "--settle", str(settle)]
    command = [
        sys.executable,
        "-m",
        "benchmarks.frontier",
        "--inside",
        backend,
        "--folder",
        str(folder),
        *sizes,
    ]
    try:
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            process.send_signal(signal.SIGKILL)
        if not line:
            raise SystemExit(f"{backend} failed")
        return Figures(**json.loads(line))._replace(reopened_s=_reopened(backend, folder / "state"))
    finally:
        shutil.rmtree(folder)


def _reopened(backend: str, state: Path) -> float:
    started = time.perf_counter()
    store = BACKENDS[backend](state)
    seconds = time.perf_counter() - started
    asyncio.run(store.aclose())
    return seconds


async def measure(backend: str, folder: Path, urls: int, hosts: int, settle: int) -> None:
    """Says what was measured, then waits to be killed."""
    for name in ("raw", "state"):
        (folder / name).mkdir()
    raw = _timed(lambda: RAW[backend](folder / "raw", urls, hosts))
    shutil.rmtree(folder / "raw")
    _forget_peak()
    store = BACKENDS[backend](folder / "state")
    started = time.perf_counter()
    for batch in _batches(urls, hosts):
        await store.add(batch)
    adds = time.perf_counter() - started
    links = await _look_up_known(store, urls, hosts)
    cpu = time.process_time()
    settled = await _settle(store, settle)
    cpu = time.process_time() - cpu
    await store.sync(_nothing)
    memory = _memory()
    figures = Figures(
        raw_adds=urls / raw,
        adds=urls / adds,
        known_links=links,
        settled=settled,
        settled_cpu_us=cpu / settle * 1e6,
        rss_mb=memory["VmHWM"],
        anonymous_mb=memory["RssAnon"],
        disk_mb=sum(path.stat().st_size for path in (folder / "state").iterdir()) / 1e6,
    )
    print(json.dumps(figures._asdict()), flush=True)
    signal.pause()


async def _look_up_known(store: Frontier, urls: int, hosts: int) -> float:
    pages = 200
    started = time.perf_counter()
    for page in range(pages):
        step = urls // LINKS  # all over the store, as the links of a large site are
        await store.unseen([_url((n * step + page) % urls, hosts) for n in range(LINKS)], 9, Hop.LINK)
    return pages * LINKS / (time.perf_counter() - started)


async def _settle(store: Frontier, wanted: int) -> float:
    facts = PageFacts(
        status=200, path="host/section/page/index.md", size=12_345, sha256="0" * 64, title="A page"
    )
    done, started = 0, time.perf_counter()
    while done < wanted and (leases := await store.lease(SETTLE_BATCH, 1.0)):
        for lease in leases:
            await store.release_host(lease, HostReport(reached=1.0, latency=0.01))
        await store.settle([Settlement(lease, VERDICT, 1.0, facts) for lease in leases])
        done += len(leases)
    return done / (time.perf_counter() - started)


def _batches(urls: int, hosts: int) -> Iterator[list[Judged]]:
    for start in range(0, urls, ADD_BATCH):
        numbers = range(start, min(start + ADD_BATCH, urls))
        yield [Judged(Candidate(_url(n, hosts), depth=n % 5, referrer=_url(n // 7, hosts))) for n in numbers]


def _url(number: int, hosts: int) -> str:
    """Ten in a row are of one host: links come in clumps."""
    return f"https://host-{number // 10 % hosts}.example.org/section-{number % 97}/page-{number}.html"


async def _nothing() -> None:
    """The benchmark writes no files."""


def _timed(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _forget_peak() -> None:
    """What the library alone took is not the store's."""
    Path("/proc/self/clear_refs").write_text("5")


def _memory() -> dict[str, float]:
    """Of this process, in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return {line.split(":")[0]: int(line.split()[1]) / 1000 for line in lines if line.endswith(" kB")}


# ── the libraries alone ────────────────────────────────────────────────────────────────────────────────


def _raw_rows(urls: int, hosts: int) -> Iterator[list[tuple[bytes, str]]]:
    for batch in _batches(urls, hosts):
        yield [(url_key(j.candidate.url), f"{j.candidate.url} {j.candidate.referrer}") for j in batch]


def _raw_sqlite(folder: Path, urls: int, hosts: int) -> None:
    db = apsw.Connection(str(folder / "raw.sqlite"))
    db.pragma("journal_mode", "WAL")
    db.pragma("synchronous", "NORMAL")
    db.pragma("cache_size", -CACHE_KIB)
    db.execute("CREATE TABLE rows (key BLOB PRIMARY KEY, value TEXT) WITHOUT ROWID")
    for rows in _raw_rows(urls, hosts):
        db.execute("BEGIN")
        db.executemany("INSERT INTO rows VALUES (?, ?)", rows)
        db.execute("COMMIT")
    db.close()


def _raw_lmdb(folder: Path, urls: int, hosts: int) -> None:
    with lmdb.open(str(folder), map_size=1 << 36, metasync=False) as env:
        for rows in _raw_rows(urls, hosts):
            with env.begin(write=True) as tx:
                tx.cursor().putmulti([(key, value.encode()) for key, value in rows])


def _raw_files(folder: Path, urls: int, hosts: int) -> None:
    with (folder / "raw.log").open("wb", buffering=0) as file:
        for rows in _raw_rows(urls, hosts):
            file.write(b"".join(frame(value.encode()) for _, value in rows))


RAW = {"files": _raw_files, "sqlite": _raw_sqlite, "lmdb": _raw_lmdb}


# ── the report ─────────────────────────────────────────────────────────────────────────────────────────


def report(urls: int, hosts: int, settle: int, figures: dict[str, Figures]) -> None:
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    print(f"\n{urls:,} URLs over {hosts:,} hosts, {settle:,} of them settled; {machine}\n")
    print(
        "| | library alone/s | adds/s | known links/s | settled/s | CPU µs each "
        "| peak MB | own MB | disk MB | reopened s |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for backend, f in figures.items():
        print(
            f"| {backend} | {f.raw_adds:,.0f} | {f.adds:,.0f} | {f.known_links:,.0f} "
            f"| {f.settled:,.0f} | {f.settled_cpu_us:.0f} "
            f"| {f.rss_mb:.0f} | {f.anonymous_mb:.0f} | {f.disk_mb:.0f} | {f.reopened_s:.2f} |"
        )
    RESULTS.mkdir(exist_ok=True)
    facts = {
        "urls": urls,
        "hosts": hosts,
        "settle": settle,
        "machine": machine,
        "backends": {backend: f._asdict() for backend, f in figures.items()},
    }
    (RESULTS / "frontier.json").write_text(json.dumps(facts, indent=2) + "\n")


if __name__ == "__main__":
    main()
