"""``python -m benchmarks.startup``: how long `sumi --help` takes, median of 15."""

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

RUNS = 15
HELP = (sys.executable, "-m", "sumi", "--help")
COMMANDS: tuple[tuple[str, Sequence[str]], ...] = (
    ("python -c pass", (sys.executable, "-c", "pass")),
    ("sumi --help", HELP),
    ("sumi mirror --help", (sys.executable, "-m", "sumi", "mirror", "--help")),
)


def median_seconds(command: Sequence[str]) -> float:
    return statistics.median(_seconds(command) for _ in range(RUNS))


def _seconds(command: Sequence[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    for name, command in COMMANDS:
        print(f"{name:20} {1000 * median_seconds(command):6.0f} ms")


if __name__ == "__main__":
    main()
