"""Memory and time of exports: ``python -m benchmarks.exports 100000``.

A store of captures with as many pages, each of 4 KB and different, is made directly; then each format is
exported by the command, in a process of its own.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from sumi.jobs.capture.database import CaptureDatabase
from sumi.jobs.capture.rows import CacheLevel, CapturedPage, CaptureJob, JobStatus
from sumi.parse.page.raw import packed
from sumi.state.folder import CAPTURES

FORMATS: Final = (
    "jsonl",
    "parquet",
    "llms",
    "llms-full",
    "markdown",
    "epub",
    "sitemap",
    "obsidian",
    "mkdocs",
)
JOB: Final = "20260101-000000-0000"
SITE: Final = "https://docs.example.org/"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    formats = sys.argv[2:] or FORMATS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_store(folder / "captures", count)
        print(f"{count:,} pages of 4 KB")
        for form in formats:
            report(folder, form)


def make_store(store: Path, count: int) -> None:
    (store / "jobs" / JOB).mkdir(parents=True)
    database = CaptureDatabase(store / CAPTURES)
    settings = json.dumps({"url": [SITE]})
    database.put_job(CaptureJob(JOB, (SITE,), JobStatus.COMPLETED, 1.0, settings, 1.0, 2.0, count, count))
    pages = made_pages(count)
    while batch := list(islice(pages, 500)):
        contents = [packed(text.encode()) for _, text in batch]
        database.put_contents(contents)
        with database.transaction():
            for (url, _), (digest, _) in zip(batch, contents, strict=True):
                database._db.execute(*_row(url, digest))
    database.close()


def _row(url: str, digest: str) -> tuple[str, tuple[object, ...]]:
    from sumi.jobs.capture.database import PUT_PAGE, _values

    page = CapturedPage(
        url, url, digest, None, url[-6:], 0, 1, 200, "text/html", None, None, None, None, CacheLevel.MISS, 1e9
    )
    return PUT_PAGE, (JOB, *_values(page))


def made_pages(count: int) -> Iterator[tuple[str, str]]:
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(4000)]
    for number in range(count):
        folder = number // 100
        links = " ".join(
            f"[{each}]({SITE}{each // 100}/p{each}.html)" for each in chance.sample(range(count), 5)
        )
        body = "\n\n".join(" ".join(chance.choices(words, k=60)) for _ in range(9))
        yield f"{SITE}{folder}/p{number}.html", f"# Page {number}\n\n{links}\n\n{body}\n"


def report(folder: Path, form: str) -> None:
    started = time.monotonic()
    command = [sys.executable, "-m", "sumi", "export", form, "captures", "-o", f"out-{form}", "-q"]
    process = subprocess.Popen(command, cwd=folder)
    _, status, usage = os.wait4(process.pid, 0)
    spent = usage.ru_utime + usage.ru_stime
    scale = 1 if sys.platform == "darwin" else 1024
    peak = usage.ru_maxrss * scale / 2**20
    code = os.waitstatus_to_exitcode(status)
    waited = time.monotonic() - started
    print(f"{form:10} {spent:6.1f} s CPU  {waited:6.1f} s  {peak:5.0f} MB at most  exit {code}", flush=True)


if __name__ == "__main__":
    main()
