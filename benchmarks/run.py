"""``python -m benchmarks.run``: `sumi mirror` beside a bare loop of the same libraries."""

import argparse
import json
import os
import platform
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.docs_site import build_site, write_entry_points
from benchmarks.measuring import Cost, run_measured
from benchmarks.outputs import Outputs, kept_outputs
from benchmarks.serving import free_port, served

RESULTS = Path(__file__).parent / "results"


class Contender(NamedTuple):
    name: str
    command: Callable[[str, Path], list[str]]


class Result(NamedTuple):
    cost: Cost
    pages: int  # Markdown files of pages, counted on disk


def sumi_command(origin: str, output: Path) -> list[str]:
    mirror = [sys.executable, "-m", "sumi", "mirror", f"{origin}/"]
    return [*mirror, "--rate-limit", "0", "--output", str(output), "--quiet"]


def bare_loop_command(origin: str, output: Path) -> list[str]:
    return [sys.executable, "-m", "benchmarks.bare_loop", origin, str(output), "--list", "/sitemap.xml"]


def pages_only_command(origin: str, output: Path) -> list[str]:
    return [*sumi_command(origin, output), "--no-index", "--no-history"]


CONTENDERS = (
    Contender("bare loop", bare_loop_command),
    Contender("sumi mirror", sumi_command),
    Contender("sumi mirror, no index, no history", pages_only_command),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--pages", type=int, default=2000, help="pages of the site (default: 2000)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each contender (default: 3)")
    parser.add_argument("--quick", action="store_true", help="200 pages, one round: does it work at all?")
    options = parser.parse_args()
    pages, rounds = (200, 1) if options.quick else (options.pages, options.rounds)
    server, results = compete(pages, rounds)
    report(pages, server, results)


def compete(pages: int, rounds: int) -> tuple[str, dict[str, list[Result]]]:
    """Interleaved, so that whatever else the machine does falls on all alike."""
    site, port = build_site(pages), free_port()
    origin = f"http://127.0.0.1:{port}"
    write_entry_points(site, pages, origin)
    results: dict[str, list[Result]] = {contender.name: [] for contender in CONTENDERS}
    with served(site, port) as server, kept_outputs() as outputs:
        for number in range(rounds):
            for contender in CONTENDERS:
                print(f"round {number + 1}: {contender.name}", file=sys.stderr)
                results[contender.name].append(_run(contender, origin, outputs))
    return server, results


def _run(contender: Contender, origin: str, outputs: Outputs) -> Result:
    folder = outputs.fresh()
    cost = run_measured(contender.command(origin, folder / "output"), folder / "log")
    return Result(cost, sum(1 for _ in (folder / "output").rglob("topic-*/index.md")))


def report(pages: int, server: str, results: dict[str, list[Result]]) -> None:
    RESULTS.mkdir(exist_ok=True)
    table = _table(results)
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    heading = f"{pages} pages from {server} on loopback; {machine}; medians, in brackets least and most"
    print(f"\n{heading}\n\n{table}")
    (RESULTS / "mirror.md").write_text(f"{heading}\n\n{table}\n")
    runs = {name: [_as_dict(result) for result in each] for name, each in results.items()}
    facts = {"pages": pages, "server": server, "machine": machine, "runs": runs}
    (RESULTS / "mirror.json").write_text(json.dumps(facts, indent=2) + "\n")


def _as_dict(result: Result) -> dict[str, float]:
    return {"pages": result.pages, **result.cost._asdict()}


def _table(results: dict[str, list[Result]]) -> str:
    base = results[CONTENDERS[0].name]
    lines = [
        "| | pages | wall s | pages/s | CPU ms/page | peak MB, all processes | peak MB, main | speed |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [_row(name, runs, _median_wall(base) / _median_wall(runs)) for name, runs in results.items()]
    return "\n".join(lines)


def _row(name: str, runs: list[Result], ratio: float) -> str:
    pages = min(run.pages for run in runs)
    walls = [run.cost.wall_seconds for run in runs]
    cpu = statistics.median(run.cost.cpu_seconds for run in runs)
    tree = max(run.cost.tree_mb for run in runs)
    main_process = max(run.cost.main_mb for run in runs)
    wall = statistics.median(walls)
    return (
        f"| {name} | {pages} | {wall:.2f} ({min(walls):.2f}-{max(walls):.2f}) | {pages / wall:.0f} "
        f"| {1000 * cpu / max(pages, 1):.2f} | {tree:.0f} | {main_process:.0f} | {ratio:.2f} |"
    )


def _median_wall(runs: list[Result]) -> float:
    return statistics.median(run.cost.wall_seconds for run in runs)


if __name__ == "__main__":
    main()
