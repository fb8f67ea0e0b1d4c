"""``python -m benchmarks.big_site``: 50,000 pages mirrored in one go, killed over and over, and updated."""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from benchmarks.docs_site import build_site, write_entry_points
from benchmarks.measuring import memory_of_tree
from benchmarks.serving import free_port, served

RESULTS = Path(__file__).parent / "results"
SAMPLE_SECONDS = 1.0
FETCHED_AT = re.compile(rb'^fetched_at: "[^"]*"\n', re.MULTILINE)


class Run(NamedTuple):
    seconds: float
    cpu_seconds: float
    memory_mb: list[float]  # of all processes together, once a second; what they share counts once


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.big_site", description=__doc__)
    parser.add_argument("--pages", type=int, default=50_000, help="pages of the site (default: 50,000)")
    parser.add_argument("--kills", type=int, default=4, help="how often the second mirror is killed")
    parser.add_argument("--no-raw", action="store_true", help="do not keep the pages as they came")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sumi-big-site-"))
    try:
        report(options.pages, compare(options.pages, options.kills, options.no_raw, folder))
    finally:
        shutil.rmtree(folder)


def compare(pages: int, kills: int, no_raw: bool, folder: Path) -> dict[str, object]:
    site, port = build_site(pages), free_port()
    origin = f"http://127.0.0.1:{port}"
    write_entry_points(site, pages, origin)
    further = ["--no-raw"] if no_raw else []
    with served(site, port) as server:
        say("mirroring in one go")
        whole = mirrored(origin, folder / "whole", further)
        say("bringing it up to date")
        update = mirrored(origin, folder / "whole", [*further, "--update", "--no-trust-lastmod"])
        say(f"mirroring again, killed {kills} times")
        killed = killed_and_resumed(origin, folder / "killed", further, kills, whole.seconds)
    there, again = tree_of(folder / "whole"), tree_of(folder / "killed")
    return {
        "server": server,
        "pages": len(there),
        "pages_per_second": round(pages / whole.seconds, 1),
        "cpu_ms_per_page": round(1000 * whole.cpu_seconds / pages, 2),
        "seconds": round(whole.seconds, 1),
        "memory_mb": memory_in_quarters(whole.memory_mb),
        "update_seconds": round(update.seconds, 1),
        "update_times_faster": round(whole.seconds / update.seconds, 1),
        "update_memory_mb": max(update.memory_mb),
        "kills": killed,
        "differing_after_kills": len(there.items() ^ again.items()),
    }


def command(origin: str, output: Path, further: list[str]) -> list[str]:
    mirror = [sys.executable, "-m", "sumi", "mirror", f"{origin}/", "--rate-limit", "0", "--max-pages", "0"]
    return [*mirror, "--output", str(output), "--quiet", *further]


def mirrored(origin: str, output: Path, further: list[str]) -> Run:
    started = time.perf_counter()
    process = subprocess.Popen(command(origin, output, further))
    memory: list[float] = []
    watch = threading.Thread(target=_watch, args=(process, memory))
    watch.start()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    watch.join()
    if process.returncode != 0:
        raise SystemExit(f"sumi mirror ended with {process.returncode}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, memory)


def _watch(process: "subprocess.Popen[bytes]", memory: list[float]) -> None:
    while process.returncode is None:
        memory.append(round(memory_of_tree(process.pid), 1))
        time.sleep(SAMPLE_SECONDS)


def killed_and_resumed(origin: str, output: Path, further: list[str], kills: int, usual: float) -> int:
    """Each time at another moment, so that all together falls within the time of one whole run."""
    chance, done = random.Random(kills), 0
    for _ in range(kills):
        process = subprocess.Popen(command(origin, output, further), start_new_session=True)
        try:
            process.wait(chance.uniform(0.5, 1.0) * usual / (kills + 1))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            done += 1
    mirrored(origin, output, further)
    return done


def tree_of(output: Path) -> dict[str, str]:
    """Every page and what is in it, the time of its fetching aside."""
    return {
        path.relative_to(output).as_posix(): sha256(FETCHED_AT.sub(b"", path.read_bytes())).hexdigest()
        for path in _pages(output)
    }


def _pages(output: Path) -> Iterator[Path]:
    for place, _, names in os.walk(output):
        if "index.md" in names:
            yield Path(place) / "index.md"


def memory_in_quarters(samples: list[float]) -> list[float]:
    """The most in each quarter of the run: flat, or growing?"""
    length = max(1, -(-len(samples) // 4))
    return [max(samples[start : start + length]) for start in range(0, len(samples), length)]


def say(words: str) -> None:
    print(words, file=sys.stderr)


def report(pages: int, facts: dict[str, object]) -> None:
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"site": pages, "cores": os.cpu_count(), "load": os.getloadavg(), **facts}, indent=2)
    print(text)
    (RESULTS / "big_site.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
