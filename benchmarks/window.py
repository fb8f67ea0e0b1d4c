"""``python -m benchmarks.window``: the window on a job of a million URLs, and what watching costs a crawl."""

import argparse
import asyncio
import http.client
import json
import os
import platform
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final
from urllib.parse import quote

from benchmarks.docs_site import build_site, write_entry_points
from benchmarks.frontier import ADD_BATCH, UNPACED, VERDICT
from benchmarks.serving import free_port, served
from sumi.model import Candidate, PageFacts
from sumi.ports import HostReport, Judged, Settlement
from sumi.state.journal import FilesStore

RESULTS = Path(__file__).parent / "results"
HOST: Final = "big.example.org"
ASKED: Final = 40  # times, each address
ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)")


class Window:
    """``sumi serve`` and a connection to it that is kept, as a browser's is."""

    def __init__(self, folder: Path, cache: Path) -> None:
        began = time.perf_counter()
        words = [sys.executable, "-m", "sumi", "serve", str(folder), "--port", "0"]
        self.process = subprocess.Popen(
            words, stderr=subprocess.PIPE, text=True, env=os.environ | {"XDG_CACHE_HOME": str(cache)}
        )
        assert self.process.stderr is not None
        lines = (ADDRESS.search(line) for line in self.process.stderr)
        found = next(found for found in lines if found is not None)
        self.port, self.token = int(found[1]), found[2]
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        self._cookie = ""
        while True:
            try:
                self._connection.request("GET", f"/?token={self.token}")
                break
            except ConnectionRefusedError:
                time.sleep(0.002)
        answer = self._connection.getresponse()
        answer.read()
        self.up_seconds = time.perf_counter() - began
        self._cookie = answer.headers["Set-Cookie"].partition(";")[0]

    def ask(self, path: str) -> Any:
        self._connection.request("GET", path, headers={"Cookie": self._cookie})
        answer = self._connection.getresponse()
        body = answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise SystemExit(f"{path}: {answer.status} {body[:200]!r}")
        return json.loads(body)

    def milliseconds(self, path: str) -> float:
        began = time.perf_counter()
        self.ask(path)
        return 1000 * (time.perf_counter() - began)

    def events(self, job: str) -> Iterator[tuple[float, dict[str, Any]]]:
        """What the page of a job is told, and when."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", f"/api/events?job={job}", headers={"Cookie": self._cookie})
        answer = connection.getresponse()
        while line := answer.readline():
            if line.startswith(b"data: "):
                yield time.time(), json.loads(line[6:])

    def memory_mb(self) -> float:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return max(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM"))

    def close(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


@contextmanager
def opened(folder: Path, cache: Path) -> Iterator[Window]:
    window = Window(folder, cache)
    try:
        yield window
    finally:
        window.close()


# ── a large job ────────────────────────────────────────────────────────────────────────────────────────────


def url(number: int) -> str:
    return f"https://{HOST}/part-{number // 5000}/section-{number // 100 % 50}/page-{number}.html"


async def make_job(state: Path, urls: int, done: int) -> None:
    state.mkdir(parents=True)
    store = FilesStore(state, UNPACED, 0.0)
    for start in range(0, urls, ADD_BATCH):
        numbers = range(start, min(start + ADD_BATCH, urls))
        await store.add([Judged(Candidate(url(n), depth=n % 5, referrer=url(n // 7))) for n in numbers])
    settled = 0
    while settled < done and (leases := await store.lease(200, 1.0)):
        for lease in leases:
            await store.release_host(lease, HostReport(reached=1.0, latency=0.01))
        await store.settle(
            [Settlement(lease, VERDICT, 1.0, _facts(settled + n)) for n, lease in enumerate(leases)]
        )
        settled += len(leases)
    await store.aclose()


def _facts(number: int) -> PageFacts:
    return PageFacts(
        status=200,
        path=f"{HOST}/page-{number}/index.md",
        size=12_345,
        sha256="0" * 64,
        title=f"Page {number} of the handbook",
        fidelity=1.0 if number % 50 else 0.8,
    )


def addresses(job: str, urls: int) -> dict[str, list[str]]:
    """Each as a page asks it, for all parts of the lists."""
    chance = Random(1)
    numbers = [chance.randrange(urls // 2) for _ in range(ASKED)]
    base = f"/api/jobs/{job}"
    fixed = {
        "session": "/api/session",
        "jobs": "/api/jobs",
        "job": base,
        "overview": f"{base}/overview",
        "failures": f"{base}/failures",
        "activity": f"{base}/activity?seconds=0",
        "hosts": f"{base}/hosts",
        "pages below 0.9": f"{base}/pages?below=1",
    }
    return {name: [path] * ASKED for name, path in fixed.items()} | {
        "URLs of an outcome": [f"{base}/urls?outcome=captured&after={n}" for n in numbers],
        "pages": [f"{base}/pages?after={quote(url(n), safe='')}" for n in numbers],
        "tree": [f"{base}/tree?under={quote(url(n).rpartition('/')[0] + '/', safe='')}" for n in numbers],
        "one page": [f"/api/page?job={job}&url={quote(url(n), safe='')}" for n in numbers],
    }


def large(folder: Path, urls: int) -> dict[str, Any]:
    say(f"making a job of {urls:,} URLs, half of them captured")
    asyncio.run(make_job(folder / "library" / HOST / ".sumi", urls, urls // 2))
    with opened(folder / "library", folder / "cache") as window:
        say("reading it for the first time")
        job = window.ask("/api/jobs")[0]["id"]
        began = time.perf_counter()
        while window.ask(f"/api/jobs/{job}")["state"] == "reading":
            time.sleep(0.2)
        read = time.perf_counter() - began
        took: dict[str, list[float]] = {}
        for name, paths in addresses(job, urls).items():
            took[name] = [window.milliseconds(path) for path in paths]
        filtered = [window.milliseconds(f"/api/jobs/{job}/pages?q=page%20{n}%20of") for n in (7, 77_777, 9)]
        every = sorted(one for some in took.values() for one in some)
        return {
            "urls": urls,
            "first_read_s": round(read, 1),
            "view_mb": round(sum(p.stat().st_size for p in (folder / "cache").rglob("*.sqlite")) / 1e6),
            "median_ms": round(statistics.median(every), 1),
            "p95_ms": round(every[int(0.95 * len(every))], 1),
            "by_address_p95_ms": {
                name: round(sorted(some)[int(0.95 * len(some))], 1) for name, some in took.items()
            },
            "filter_by_title_ms": [round(one) for one in filtered],
            "memory_mb": round(window.memory_mb()),
        }


# ── a crawl that is watched ────────────────────────────────────────────────────────────────────────────────


def watched(folder: Path, pages: int, rounds: int) -> dict[str, Any]:
    """The same mirror with and without a page that follows it, in turns."""
    site, port = build_site(pages), free_port()
    write_entry_points(site, pages, origin := f"http://127.0.0.1:{port}")
    ratios: list[float] = []
    walls: list[float] = []
    delays: list[float] = []
    with served(site, port):
        _mirrored(origin, folder / "warm")
        for turn in range(rounds):
            order = (False, True) if turn % 2 else (True, False)
            found = {
                follow: _followed(origin, folder / f"{turn}-{follow}", delays, follow=follow)
                for follow in order
            }
            ratios.append(found[True][1] / found[False][1])
            walls.append(found[True][0] / found[False][0])
            say(f"round {turn + 1}: processor time {ratios[-1]:.3f}, time {walls[-1]:.3f}")
    delays.sort()
    return {
        "pages": pages,
        "rounds": rounds,
        "cpu_ratio": round(statistics.median(ratios), 3),
        "time_ratio": round(statistics.median(walls), 3),
        "time_ratios": [round(one, 3) for one in walls],
        "event_ms_median": round(1000 * statistics.median(delays)),
        "event_ms_p95": round(1000 * delays[int(0.95 * len(delays))]),
    }


def _followed(origin: str, output: Path, delays: list[float], *, follow: bool) -> tuple[float, float]:
    """Both times a window is open; once a page follows the job."""
    output.mkdir()
    with opened(output, output / "cache") as window:
        watch = threading.Thread(target=_watch, args=(window, delays), daemon=True)
        if follow:
            watch.start()
        return _mirrored(origin, output)


def _watch(window: Window, delays: list[float]) -> None:
    """As a page does; how long after a run said something it is on the screen."""
    while not (jobs := window.ask("/api/jobs")):
        time.sleep(0.1)
    seen = 0.0
    try:
        for at, told in window.events(jobs[0]["id"]):
            job = told["jobs"][0]
            if job["now"] and job["at"] != seen:
                seen = job["at"]
                delays.append(at - seen)
    except (OSError, http.client.HTTPException):
        return


def _mirrored(origin: str, output: Path) -> tuple[float, float]:
    words = [sys.executable, "-m", "sumi", "mirror", f"{origin}/", "--rate-limit", "0", "--max-pages", "0"]
    began = time.perf_counter()
    process = subprocess.Popen([*words, "--output", str(output), "--quiet"])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"sumi mirror ended with {process.returncode}")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime


def up(folder: Path) -> dict[str, Any]:
    (folder / "empty").mkdir()
    times, cpu = [], []
    for _ in range(9):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with opened(folder / "empty", folder / "cache") as window:
            times.append(window.up_seconds)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {"up_s": round(statistics.median(times), 2), "up_cpu_s": round(statistics.median(cpu), 2)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.window", description=__doc__)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument(
        "--pages", type=int, default=3000, help="of the site that is mirrored (default: 3,000)"
    )
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sumi-window-"))
    try:
        figures = {
            "machine": platform.platform(),
            "load": os.getloadavg(),
            **up(folder),
            "large": large(folder, options.urls),
            "watched": watched(folder, options.pages, options.rounds),
        }
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "window.json").write_text(json.dumps(figures, indent=2) + "\n")
        print(json.dumps(figures, indent=2))
    finally:
        shutil.rmtree(folder)


def say(words: str) -> None:
    print(words, file=sys.stderr)


if __name__ == "__main__":
    main()
