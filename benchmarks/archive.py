"""Crawl a simulated GitHub by policy into an archive: ``python -m benchmarks.archive [--pages N]``.

The site is served by one process on the same machine, which takes its share of the cores. Two modes are
measured: unified, and crawler and scraper apart. In both, archive, index and files are durable.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import Cost, run_measured
from tests.site import running_site
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
    for mode in arguments.mode.split(","):
        with tempfile.TemporaryDirectory(prefix="sumi-archive-") as folder:
            cost = crawl(Path(folder), repositories, pages, mode, arguments.backend)
        print(
            f"{mode:<10} {pages / cost.wall_seconds:7.0f} pages/s  {cost.wall_seconds:6.1f} s  "
            f"CPU {cost.cpu_seconds:6.1f} s  memory {cost.tree_mb:.0f} MB, main process {cost.main_mb:.0f} MB"
        )


def world_of(wanted: int) -> tuple[int, int]:
    """The smallest world, in steps, with so many pages."""
    repositories = 10
    while (pages := sum(1 for _ in GithubWorld(repositories, SEED).pages())) < wanted:
        repositories += max(1, (wanted - pages) // 60)
    return repositories, pages


def crawl(folder: Path, repositories: int, pages: int, mode: str, backend: str) -> Cost:
    with running_site(pages=1, seed=SEED, github=repositories) as site:
        (folder / "workspace").mkdir()
        origin = f"http://github.com:{site.port}"
        (folder / "workspace" / "seeds.txt").write_text(f"{origin}/topics\n{origin}/trending\n")
        config = folder / "crawl.yaml"
        config.write_text(f"""
user_agent: benchmark/1.0 (+https://example.org/bot)
scope: {{allowed_hosts: ["github.com:{site.port}"]}}
limits: {{req_per_sec: 10000, global_concurrency: 64, per_host_concurrency: 64}}
network: {{allow_private: true, resolve: ["github.com:{site.port}:127.0.0.1"]}}
frontier: {{backend: {backend}}}
index: {{backend: {"lmdb" if backend == "lmdb" else "files"}}}
store: {{compress: true}}
""")
        words = ["run", "--config", str(config), "--run-id", "one", "--min-free", "0", "-q"]
        words += ["--unified"] if mode == "unified" else []
        cost = run_measured([sys.executable, "-m", "sumi", *words], folder / "log")
    told = "metadata/crawl_metadata.jsonl" if mode == "unified" else "logs/pages-one.csv"
    with (folder / "workspace" / told).open("rb") as lines:
        count = sum(1 for _ in lines) - (mode != "unified")
    if count != pages:
        raise SystemExit(f"{count} pages in {told}, not {pages}")
    shutil.rmtree(folder / "workspace")
    return cost


if __name__ == "__main__":
    main()
