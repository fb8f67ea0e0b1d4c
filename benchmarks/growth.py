"""``python -m benchmarks.growth``: does a page cost the same with 1,000 known URLs and 1,000,000?"""

import argparse
from typing import Final, NamedTuple

from benchmarks.frontier import run

SIZES: Final = (1_000, 10_000, 100_000, 1_000_000)
SETTLED: Final = 10_000  # pages that are leased and settled, if there are as many
BAR: Final = 40


class Size(NamedTuple):
    urls: int
    cpu_us: float  # of the store for one page: leased, released, settled
    links: float  # known links looked up, a second
    peak_mb: float
    reopened_s: float  # after a kill


def measure(backend: str, sizes: tuple[int, ...] = SIZES) -> list[Size]:
    found = []
    for urls in sizes:
        figures = run(backend, None, urls, max(1, urls // 100), min(urls, SETTLED))
        found.append(
            Size(urls, figures.settled_cpu_us, figures.known_links, figures.rss_mb, figures.reopened_s)
        )
    return found


def drawn(backend: str, sizes: list[Size]) -> str:
    most = max(size.cpu_us for size in sizes)
    lines = [f"{backend}: processor time of the store for one page, known links a second, memory, reopening"]
    for size in sizes:
        bar = "█" * max(1, round(BAR * size.cpu_us / most))
        lines.append(
            f"{size.urls:>9,} URLs {bar:<{BAR}} {size.cpu_us:5.0f} µs {size.links:>9,.0f}/s "
            f"{size.peak_mb:4.0f} MB {size.reopened_s:5.2f} s"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--backend", action="append", choices=("files", "sqlite", "lmdb"))
    for backend in parser.parse_args().backend or ["files", "lmdb"]:
        print(drawn(backend, measure(backend)))


if __name__ == "__main__":
    main()
