"""Crawl a simulated GitHub by policy into an archive: ``python -m benchmarks.archive [--pages N]``.

The site is served by one process on the same machine, which takes its share of the cores; its time is told
apart. Two modes are measured: unified, and crawler and scraper apart. In both, archive, index and files are
durable. With other work on the machine the rate means little and the CPU time per page still much, so the
load is told, too.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measuring import Cost, run_measured
from benchmarks.outputs import kept_outputs
from benchmarks.serving import free_port, wait_until_open
from tests.site.github import GithubWorld

SEED = 1


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.archive", description=__doc__)
    parser.add_argument("--pages", type=int, default=20_000, help="at least so many")
    parser.add_argument("--backend", default="lmdb", help="files, lmdb or sqlite")
    parser.add_argument("--mode", default="unified,separated", help="which to measure")
    arguments = parser.parse_args()
    repositories, pages = world_of(arguments.pages)
    print(f"{pages:,} pages in {repositories} repositories, state in {arguments.backend}")
    with kept_outputs() as outputs:
        for mode in arguments.mode.split(","):
            cost, server_seconds = crawl(outputs.fresh(), repositories, pages, mode, arguments.backend)
            print(line(mode, pages, cost, server_seconds))


def line(mode: str, pages: int, cost: Cost, server_seconds: float) -> str:
    own, site = (1000 * seconds / pages for seconds in (cost.cpu_seconds, server_seconds))
    return (
        f"{mode:<10} {pages / cost.wall_seconds:7.0f} pages/s  {cost.wall_seconds:6.1f} s  "
        f"CPU {own:5.2f} ms/page (server {site:.2f})  "
        f"memory {cost.tree_mb:.0f} MB, main process {cost.main_mb:.0f} MB  load {os.getloadavg()[0]:.1f}"
    )


def world_of(wanted: int) -> tuple[int, int]:
    """The smallest world, in steps, with so many pages."""
    repositories = 10
    while (pages := sum(1 for _ in GithubWorld(repositories, SEED).pages())) < wanted:
        repositories += max(1, (wanted - pages) // 60)
    return repositories, pages


@contextmanager
def served(repositories: int) -> Iterator[tuple[int, int]]:
    """The port and the process that answers on it."""
    port = free_port()
    words = [str(repositories), str(SEED), str(port)]
    with subprocess.Popen([sys.executable, "-m", "benchmarks.github_server", *words]) as server:
        try:
            wait_until_open(port, server)
            yield port, server.pid
        finally:
            server.terminate()


def crawl(folder: Path, repositories: int, pages: int, mode: str, backend: str) -> tuple[Cost, float]:
    """What the crawl took, and the CPU seconds of the server meanwhile."""
    with served(repositories) as (port, server):
        (folder / "workspace").mkdir()
        origin = f"http://github.com:{port}"
        (folder / "workspace" / "seeds.txt").write_text(f"{origin}/topics\n{origin}/trending\n")
        config = folder / "crawl.yaml"
        config.write_text(f"""
user_agent: benchmark/1.0 (+https://example.org/bot)
scope: {{allowed_hosts: ["github.com:{port}"]}}
limits: {{req_per_sec: 10000, global_concurrency: 64, per_host_concurrency: 64}}
network: {{allow_private: true, resolve: ["github.com:{port}:127.0.0.1"]}}
frontier: {{backend: {backend}}}
index: {{backend: {"lmdb" if backend == "lmdb" else "files"}}}
store: {{compress: true}}
""")
        words = ["run", "--config", str(config), "--run-id", "one", "--min-free", "0", "-q"]
        words += ["--unified"] if mode == "unified" else []
        before = cpu_seconds(server)
        cost = run_measured([sys.executable, "-m", "sumi", *words], folder / "log")
        server_seconds = cpu_seconds(server) - before
    told = "metadata/crawl_metadata.jsonl" if mode == "unified" else "logs/pages-one.csv"
    with (folder / "workspace" / told).open("rb") as lines:
        count = sum(1 for _ in lines) - (mode != "unified")
    if count != pages:
        raise SystemExit(f"{count} pages in {told}, not {pages}")
    return cost, server_seconds


def cpu_seconds(pid: int) -> float:
    """User and system; 0 where there is no /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
