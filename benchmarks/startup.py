"""``python -m benchmarks.startup``: how long `sumi --help` takes, median of 15."""

import statistics
import subprocess
import sys
import time

RUNS = 15


def seconds_of(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    for name, command in (
        ("python -c pass", [sys.executable, "-c", "pass"]),
        ("sumi --help", [sys.executable, "-m", "sumi", "--help"]),
        ("sumi mirror --help", [sys.executable, "-m", "sumi", "mirror", "--help"]),
    ):
        times = [seconds_of(command) for _ in range(RUNS)]
        print(f"{name:20} {1000 * statistics.median(times):6.0f} ms (least {1000 * min(times):.0f})")


if __name__ == "__main__":
    main()
