"""``python -m benchmarks.politeness``: how much of the polite rate is reached over many hosts, at what cost.

Judged from the servers' log. A host that may be asked once a second and is asked every 1.05 s reaches 95 %.
"""

import argparse
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import IO, NamedTuple

RESULTS = Path(__file__).parent / "results"
# After the last host was found, until the rate is the steady one.
WARM_UP_SECONDS = 3.0


class Options(NamedTuple):
    hosts: int
    delay: float
    seconds: float
    concurrency: int


class Verdict(NamedTuple):
    hosts: int
    requests: int
    reached: float  # share of the possible rate in the steady phase
    violations: int  # gaps shorter than the delay
    smallest_gap: float
    median_gap: float
    cpu_seconds: float
    wall_seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.politeness", description=__doc__)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--delay", type=float, default=1.0, help="seconds between requests to one host")
    parser.add_argument("--seconds", type=float, default=30.0, help="of the steady phase")
    parser.add_argument("--concurrency", type=int, default=256)
    options = Options(**vars(parser.parse_args()))
    verdict = measure(options)
    report(options, verdict)


def measure(options: Options) -> Verdict:
    with tempfile.TemporaryDirectory(prefix="sumi-benchmark-") as name:
        folder = Path(name)
        arguments = [str(folder / "arrivals"), str(options.hosts)]
        server = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.many_hosts_server", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with server:
            assert server.stdout is not None
            cpu, wall = crawl(options, server.stdout, folder)
        return judge(options, read_arrivals(folder / "arrivals"), cpu, wall)


def crawl(options: Options, server: IO[str], folder: Path) -> tuple[float, float]:
    """Run the mirror for as long as it takes to see its steady phase, and end it as a user would."""
    port = int(server.readline())
    names = ["hub.test", *(f"h{number}.test" for number in range(options.hosts))]
    config = folder / "sumi.toml"
    pinned = [f"{name}:{port}:127.0.0.1" for name in names]
    config.write_text(f"[mirror]\nhosts = {json.dumps([f'*.test:{port}'])}\nresolve = {json.dumps(pinned)}\n")
    command = [sys.executable, "-m", "sumi", "mirror", f"http://hub.test:{port}/", "--config", str(config)]
    command += ["--follow-links", "--max-pages", "0", "--quiet", "--output", str(folder / "output")]
    command += ["--rate-limit", str(1 / options.delay), "--concurrency", str(options.concurrency)]
    started = time.monotonic()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        server.readline()
        time.sleep(WARM_UP_SECONDS + options.seconds)
        os.kill(process.pid, signal.SIGINT)  # not by Popen, which would look first whether it is over
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        raise SystemExit(f"sumi ended with {process.returncode}:\n{(folder / 'log').read_text()[-2000:]}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - started


def read_arrivals(log: Path) -> dict[str, list[float]]:
    times: dict[str, list[float]] = defaultdict(list)
    for line in log.read_text().splitlines():
        at, host, _ = line.split(" ", 2)
        times[host].append(float(at))
    return times


def judge(options: Options, times: dict[str, list[float]], cpu: float, wall: float) -> Verdict:
    begins = max(each[0] for each in times.values()) + WARM_UP_SECONDS
    ends = begins + options.seconds
    requests = sum(map(len, times.values()))
    del times["hub.test"]
    gaps = [b - a for each in times.values() for a, b in pairwise(sorted(each))]
    steady = [gap for each in times.values() for gap in gaps_within(sorted(each), begins, ends)]
    # A host that fell silent has an open gap at the end, beyond the one that it was due.
    silence = sum(max(0.0, ends - max(each) - options.delay) for each in times.values())
    return Verdict(
        hosts=len(times),
        requests=requests,
        reached=len(steady) * options.delay / (sum(steady) + silence),
        violations=sum(gap < options.delay for gap in gaps),
        smallest_gap=min(gaps),
        median_gap=statistics.median(steady),
        cpu_seconds=cpu,
        wall_seconds=wall,
    )


def gaps_within(times: list[float], begins: float, ends: float) -> list[float]:
    return [b - a for a, b in pairwise(times) if begins <= b < ends]


def report(options: Options, verdict: Verdict) -> None:
    print(
        f"{verdict.hosts} hosts, one request every {options.delay:g} s each, {options.seconds:g} s: "
        f"{verdict.reached:.1%} of the possible rate, {verdict.violations} violations, "
        f"gaps {verdict.smallest_gap:.3f} s at least and {verdict.median_gap:.3f} s usually, "
        f"{verdict.cpu_seconds / verdict.wall_seconds:.0%} of one core"
    )
    RESULTS.mkdir(exist_ok=True)
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    facts = {"machine": machine, **options._asdict(), **verdict._asdict()}
    (RESULTS / "politeness.json").write_text(json.dumps(facts, indent=2) + "\n")


if __name__ == "__main__":
    main()
