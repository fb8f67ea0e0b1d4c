"""Whatever a site contains, a run stays within its memory and its open files, and loses nothing."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.commands import FinishedSumi, SpawnSumi, parse_events, sumi_command, sumi_environment
from tests.e2e.mirror.test_many_hosts import pinned
from tests.folder_site import folder_site
from tests.site import MakeSite
from tests.thoroughness import usually

MIB = 1024 * 1024
# The peak memory of a run's largest process. Its parent is small: a child starts with its parent's peak.
MEASURED = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""
LINKS = "".join(f"<a href={letter}>{letter}</a>" for letter in "abcdefghijklmnopqrstuvwxyz")


def measured(folder: Path, *words: str) -> tuple[FinishedSumi, int]:
    """A finished run, and the peak memory of its largest process."""
    peak = folder / "peak"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", MEASURED, str(peak), *sumi_command((*words, "--json"))],
        cwd=folder,
        env=sumi_environment(None),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return FinishedSumi(done.args, done.returncode, done.stdout, done.stderr), int(peak.read_text()) * 1024


@pytest.mark.parametrize(
    ("options", "outcome", "most"),
    [
        ((), "too_large", 192 * MIB),
        (("--max-wire", "32MiB"), "captured", 1024 * MIB),
        (("--max-wire", "32MiB", "--parse-memory", "256MiB"), "parse_limit", 320 * MIB),
    ],
    ids=["as it comes", "let in", "with little memory"],
)
def test_20_megabytes_of_links_of_one_character(
    tmp_path: Path, options: tuple[str, ...], outcome: str, most: int
) -> None:
    with folder_site(tmp_path / "site") as site:
        site.put("index.html", f"<title>Links</title>{LINKS * (20 * MIB // len(LINKS))}".encode())
        done, peak = measured(tmp_path, "mirror", site.url, "--rate-limit", "0", "--max-pages", "1", *options)
    pages = [event for event in done.events if event["event"] == "page" and event["url"] == site.url]
    assert [page["outcome"] for page in pages] == [outcome], done.stderr
    assert sum(done.events[-1]["outcomes"].values()) == done.events[-1]["discovered"]
    assert peak < most


HOSTS = usually(200, 500)  # more than there may be open files
OPEN_FILES = 128


@contextmanager
def few_files(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    command = ["prlimit", f"--nofile={OPEN_FILES}", *sumi_command((*words, "--json"))]
    with (
        (folder / "out").open("w") as out,
        subprocess.Popen(command, cwd=folder, env=sumi_environment(None), stdout=out, text=True) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def open_files(process: subprocess.Popen[str]) -> int:
    try:
        return len(os.listdir(f"/proc/{process.pid}/fd"))
    except OSError:  # it ended meanwhile
        return 0


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are not told here")
def test_hundreds_of_hosts_with_few_open_files(make_site: MakeSite, tmp_path: Path) -> None:
    site = make_site(pages=1, seed=1, body_size=512)
    hub = f"hub-{HOSTS}.test"
    words = (
        "mirror",
        f"http://{hub}:{site.port}/",
        "--follow-links",
        "--max-depth",
        "1",
        "--rate-limit",
        "0",
    )
    names = [hub, *(f"h{number}.test" for number in range(1, HOSTS + 1))]
    most = 0
    with few_files(
        tmp_path, *words, "--hosts", f"*.test:{site.port}", "--concurrency", "64", *pinned(names, site.port)
    ) as process:
        while process.poll() is None:
            most = max(most, open_files(process))
            time.sleep(0.005)  # looks at another process
    summary = parse_events((tmp_path / "out").read_text())[-1]
    assert summary["outcomes"]["captured"] == 1 + HOSTS
    assert sum(summary["outcomes"].values()) == summary["discovered"]
    assert {request.host for request in site.requests()} == {f"{name}:{site.port}" for name in names}
    assert 0 < most < OPEN_FILES


PAGES = 2000


def peak_of(pid: int) -> int:
    """In bytes, so far; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")]
    return found[0] * 1024 if found else 0


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="memory is not told here")
def test_a_mirror_does_not_grow_with_its_pages(make_site: MakeSite, spawn_sumi: SpawnSumi) -> None:
    site = make_site(pages=PAGES, seed=5, body_size=2048)
    # The index, which is made when all is done, brings a cache of 16 MB of its own.
    running = spawn_sumi("mirror", site.url, "--rate-limit", "0", "--json", "--no-index")
    at_a_quarter = at_the_end = 0
    while running.process.poll() is None:
        at_the_end = max(at_the_end, peak_of(running.process.pid))
        if not at_a_quarter and len(site.requests()) >= PAGES // 4:
            at_a_quarter = at_the_end
        time.sleep(0.1)  # looks at another process
    assert running.events[-1]["outcomes"]["captured"] == len(site.truth.captured_by_sitemap)
    assert at_a_quarter > 0
    # Known URLs are in memory, some hundred bytes each; pages are not. It grows by 4.5 to 7 MB, 3 of them at
    # the end for the pass over all pages, however many there are; 2 KB more for each page would make it 8.
    assert at_the_end < at_a_quarter + 7.5 * MIB
