"""What a capture costs beside a mirror of the same site, and what its cache saves.

``python -m benchmarks.capture [PAGES] [POLITE_PAGES]``: without a rate limit a mirror, a capture and a second
capture of all pages; then, half a second apart as by default, two captures of a few pages.
"""

import sys
import tempfile
from pathlib import Path

from benchmarks.docs_site import build_site, write_entry_points
from benchmarks.measuring import Cost, run_measured
from benchmarks.serving import free_port, served

PAGES = 3000
POLITE_PAGES = 40


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else PAGES
    polite = int(sys.argv[2]) if len(sys.argv) > 2 else POLITE_PAGES
    site = build_site(pages)
    port = free_port()
    write_entry_points(site, pages, f"http://127.0.0.1:{port}")
    with tempfile.TemporaryDirectory() as scratch, served(site, port):
        folder, url = Path(scratch), f"http://127.0.0.1:{port}/"
        unlimited = ("--rate-limit", "0", "--min-free", "0", "-q")
        report("mirror", pages, measure(folder, "mirror", url, *unlimited, "--max-pages", "0", "-o", "tree"))
        report("capture", pages, measure(folder, "capture", url, *unlimited, "--workers", "10"))
        report("capture again", pages, measure(folder, "capture", url, *unlimited, "--workers", "10"))
        gently = ("--limit", str(polite), "--store", "polite", "--min-free", "0", "-q")
        report(f"capture, {polite} pages gently", polite, measure(folder, "capture", url, *gently))
        report(f"capture, {polite} pages again", polite, measure(folder, "capture", url, *gently))


def measure(folder: Path, *words: str) -> Cost:
    return run_measured([sys.executable, "-m", "sumi", *words], folder / "log", folder=folder)


def report(name: str, pages: int, cost: Cost) -> None:
    print(
        f"{name:<28} {cost.wall_seconds:7.1f} s {pages / cost.wall_seconds:8.0f} pages/s "
        f"{cost.cpu_seconds:7.1f} s CPU {cost.main_mb:6.0f} MB",
        flush=True,
    )


if __name__ == "__main__":
    main()
