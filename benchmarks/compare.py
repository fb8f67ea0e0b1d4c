"""``python -m benchmarks.compare``: Sumi beside its peers, on real pages, in one run."""

import argparse
import os
import platform
import signal
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import growth
from benchmarks.compare_page import Comparison, write_results
from benchmarks.competition import Course, Standing, compete, load_average
from benchmarks.computed_web import ComputedWeb
from benchmarks.outputs import Outputs, kept_outputs
from benchmarks.peers.contenders import FEW_PAGES, JOBS
from benchmarks.peers.environments import Environment, environment
from benchmarks.peers.resuming import OF_A_MILLION, Interruption, Resumed, resume, resume_all
from benchmarks.real_site import FEW, SMALL, WHOLE, RealSite, real_site, write_url_list
from benchmarks.server_limit import wrk_rate
from benchmarks.serving import free_port, served
from benchmarks.startup import HELP, median_seconds

PLACE = Path(tempfile.gettempdir()) / "sumi-bench"
STEPS = ("mirror", "archive", "links", "resume", "growth")
SITE_JOBS = tuple(job for job in JOBS if job != "links")


def main() -> None:
    # So that whoever ends us ends the contender that is running, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = _options()
    options.place.mkdir(parents=True, exist_ok=True)
    with kept_outputs(options.place) as outputs:
        write_results(_compared(options, outputs), options.page)


def _compared(options: argparse.Namespace, outputs: Outputs) -> Comparison:
    started = load_average()
    site = real_site(options.place, SMALL if options.quick else WHOLE)
    few = site if options.quick else real_site(options.place, FEW)
    standings = {}
    for job in (job for job in SITE_JOBS if job.removesuffix(FEW_PAGES) in options.steps):
        standings[job] = _on_site(job, few if job.endswith(FEW_PAGES) else site, options, outputs)
    if "links" in options.steps:
        standings["links"] = _links(options, outputs)
    server, limit = _server_limit(options, site)
    return Comparison(
        machine=f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}",
        quick=options.quick,
        rounds=options.rounds,
        limit_seconds=options.limit,
        server=server,
        site=site,
        few=few,
        standings=standings,
        served=limit,
        resumed=_resumed(options, outputs),
        million=_million(options, outputs),
        growth=_growth(options),
        help_seconds=median_seconds(HELP),
        loads=(started, load_average()),
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.compare", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few pages, one round: about two minutes")
    parser.add_argument("--rounds", type=int, help="of each job (default: 3, quick 1)")
    parser.add_argument(
        "--limit", type=float, help="seconds; who takes longer runs only once (default: 30, quick 20)"
    )
    parser.add_argument(
        "--patience", type=float, help="seconds after which that run is cut (default: 600, quick as --limit)"
    )
    parser.add_argument(
        "--place", type=Path, default=PLACE, help=f"environments and sites (default: {PLACE})"
    )
    parser.add_argument("--step", dest="steps", action="append", choices=STEPS, help="only these; repeatable")
    parser.add_argument("--page", type=Path, help="write the documentation's page to this file, too")
    options = parser.parse_args()
    options.steps = options.steps or list(STEPS)
    options.rounds = options.rounds or (1 if options.quick else 3)
    options.limit = options.limit or (20.0 if options.quick else 30.0)
    options.patience = max(options.limit, options.patience or (0.0 if options.quick else 600.0))
    return options


@contextmanager
def _served_site(site: RealSite) -> Iterator[tuple[str, str]]:
    """The server's name, and where it answers."""
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    write_url_list(site, origin)
    with served(site.folder, port) as server:
        yield server, origin


def _on_site(job: str, site: RealSite, options: argparse.Namespace, outputs: Outputs) -> list[Standing]:
    with _served_site(site) as (_, origin):
        return compete(job, JOBS[job], Course(origin, site.paths, 0, *_terms(options), outputs))


def _terms(options: argparse.Namespace) -> tuple[int, float, float, Path]:
    return options.rounds, options.limit, options.patience, options.place


def _server_limit(options: argparse.Namespace, site: RealSite) -> tuple[str, float]:
    with _served_site(site) as (server, origin):
        return server, _served_rate(options, origin, site)


def _served_rate(options: argparse.Namespace, origin: str, site: RealSite) -> float:
    wrk = environment("wrk", options.place)
    if not isinstance(wrk, Environment):
        print(wrk.reason, file=sys.stderr)
        return 0.0
    rates = [wrk_rate(wrk, origin, site.paths, options.place) for _ in range(options.rounds)]
    return statistics.median(rates)


def _links(options: argparse.Namespace, outputs: Outputs) -> list[Standing]:
    pages = 2_000 if options.quick else 20_000
    web = ComputedWeb(pages, 5_000, 10)
    truth = frozenset(web.url(number) for number in range(pages))
    course = Course("", truth, pages, *_terms(options), outputs)
    return compete("links", JOBS["links"], course)


def _resumed(options: argparse.Namespace, outputs: Outputs) -> list[Resumed]:
    if "resume" not in options.steps:
        return []
    urls, done = (5_000, 300) if options.quick else (100_000, 50_000)
    return resume_all(
        options.place,
        outputs,
        Interruption(urls, done, options.limit if options.quick else 2 * options.limit),
    )


def _million(options: argparse.Namespace, outputs: Outputs) -> list[Resumed]:
    if options.quick or "resume" not in options.steps:
        return []
    interruption = Interruption(1_000_000, 2_000, 600.0)
    return [resume(contender, options.place, outputs, interruption) for contender in OF_A_MILLION]


def _growth(options: argparse.Namespace) -> dict[str, list[growth.Size]]:
    if "growth" not in options.steps:
        return {}
    sizes = growth.SIZES[:3] if options.quick else growth.SIZES
    return {backend: growth.measure(backend, sizes) for backend in ("files", "lmdb")}


if __name__ == "__main__":
    main()
