"""``python -m benchmarks.capture``: what a capture costs beside a mirror of the same site, and what its cache
saves: without a rate limit a mirror and two captures, then two polite captures of a few pages."""

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.docs_site import build_site, write_entry_points
from benchmarks.measuring import Cost, run_measured
from benchmarks.serving import free_port, served

FREELY = ("--rate-limit", "0", "--min-free", "0", "-q")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capture", description=__doc__)
    parser.add_argument("--pages", type=int, default=3000, help="pages of the site (default: 3000)")
    parser.add_argument(
        "--polite-pages", type=int, default=40, help="pages half a second apart; 0 for none (default: 40)"
    )
    options = parser.parse_args()
    site, port = build_site(options.pages), free_port()
    write_entry_points(site, options.pages, f"http://127.0.0.1:{port}")
    with tempfile.TemporaryDirectory() as scratch, served(site, port):
        folder, url = Path(scratch), f"http://127.0.0.1:{port}/"
        capture_freely(folder, url, options.pages)
        if options.polite_pages:
            capture_politely(folder, url, options.polite_pages)


def capture_freely(folder: Path, url: str, pages: int) -> None:
    mirror = measured(folder, "mirror", pages, "mirror", url, *FREELY, "--max-pages", "0", "-o", "tree")
    words = ("capture", url, *FREELY, "--workers", "10")
    first = measured(folder, "capture", pages, *words)
    second = measured(folder, "capture again", pages, *words)
    print(f"capture / mirror: {ratio(first, mirror)}; capture / capture again: {ratio(first, second)}")


def capture_politely(folder: Path, url: str, pages: int) -> None:
    words = ("capture", url, "--limit", str(pages), "--store", "polite", "--min-free", "0", "-q")
    first = measured(folder, f"capture, {pages} pages politely", pages, *words)
    second = measured(folder, f"capture, {pages} pages again", pages, *words)
    print(f"capture / capture again: {ratio(first, second)}")


def measured(folder: Path, name: str, pages: int, *words: str) -> Cost:
    cost = run_measured([sys.executable, "-m", "sumi", *words], folder / "log", folder=folder)
    print(
        f"{name:<30} {cost.wall_seconds:7.1f} s {pages / cost.wall_seconds:8.0f} pages/s "
        f"{cost.cpu_seconds:7.1f} s CPU {cost.cpu_seconds / pages * 1000:7.2f} ms CPU/page "
        f"{cost.main_mb:6.0f} MB",
        flush=True,
    )
    return cost


def ratio(one: Cost, other: Cost) -> str:
    wall = one.wall_seconds / other.wall_seconds
    return f"{wall:.2f} in time, {one.cpu_seconds / other.cpu_seconds:.2f} in CPU"


if __name__ == "__main__":
    main()
