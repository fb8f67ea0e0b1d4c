"""A disk that fails ends a run with one sentence; once the fault is gone, the same command loses nothing."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.commands import sumi_environment
from tests.site import MakeSite
from tests.torture.harness import Bench, why_no_strace
from tests.torture.plan import half_done, unclean_end

NO_STRACE = why_no_strace()
needs_strace = pytest.mark.skipif(bool(NO_STRACE), reason=NO_STRACE or "strace works")

# Everything in one mount namespace: a small disk, a run on it, more room, a second run, and a copy to keep.
FULL_THEN_ROOMY = """
mount -t tmpfs -o "$1" none "$2" || exit 99
small=$2; copy=$3; shift 3
"$@"; echo "first $?" >&2
mount -o remount,size=256m,nr_inodes=100000 "$small" || exit 99
"$@"; echo "second $?" >&2
cp -a "$small/." "$copy"
"""


def why_no_mounts() -> str:
    if shutil.which("unshare") is None:
        return "unshare is not installed"
    tried = subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True, check=False
    )
    return f"file systems cannot be mounted here: {tried.stderr.strip()}" if tried.returncode else ""


NO_MOUNTS = why_no_mounts()


@pytest.mark.skipif(bool(NO_MOUNTS), reason=NO_MOUNTS or "mounting works")
@pytest.mark.parametrize("limits", ["size=120k", "size=64m,nr_inodes=40"], ids=["room", "inodes"])
def test_a_full_disk(make_site: MakeSite, tmp_path: Path, limits: str) -> None:
    bench = Bench(make_site(pages=40, seed=3), tmp_path)
    small, copy = tmp_path / "small", tmp_path / "copy"
    small.mkdir()
    copy.mkdir()
    command = bench.command(small, "--min-free", "0")
    script = ["unshare", "-m", "sh", "-c", FULL_THEN_ROOMY, "sh", limits, str(small), str(copy)]
    done = subprocess.run(
        [*script, *command], env=sumi_environment(None), capture_output=True, text=True, check=False
    )
    first, _, second = done.stderr.partition("first ")
    assert first.count("sumi: error: no space left to write") == first.count("sumi: error:") == 1, done.stderr
    assert second.startswith("8"), done.stderr
    assert "second 1" in second, done.stderr
    assert bench.violations(copy) == []


@needs_strace
@pytest.mark.parametrize("error", ["EROFS", "EACCES", "ENOSPC", "EIO"])
def test_a_file_that_cannot_be_made(make_site: MakeSite, tmp_path: Path, error: str) -> None:
    bench = Bench(make_site(pages=20, seed=3), tmp_path)
    with bench.tried() as output:
        traced = bench.trace(output)
    with bench.tried() as output:
        ended = bench.inject(output, traced.paths, "openat", f"error={error}:when=30+")
        assert ended.code == 8
        assert unclean_end(ended) == []
        assert "run the same command again" in ended.complaints[0]
        assert bench.violations(output) == []


@needs_strace
@pytest.mark.parametrize("call", ["syncfs", "fdatasync"])
def test_a_failed_sync_is_not_tried_again(make_site: MakeSite, tmp_path: Path, call: str) -> None:
    bench = Bench(make_site(pages=20, seed=3), tmp_path)
    log = tmp_path / "calls.log"
    output = bench.output()
    strace = ("strace", "-f", "-qq", "-o", str(log), "-e", f"trace={call}", "-e", f"inject={call}:error=EIO")
    ended = bench.run(output, tracer=strace)
    assert ended.code == 8
    assert unclean_end(ended) == []
    assert log.read_text().count(f"{call}(") == 1
    assert bench.violations(output) == []


def test_an_output_folder_that_disappears(make_site: MakeSite, tmp_path: Path) -> None:
    site = make_site(pages=60, seed=3, delay_ms=5)
    bench = Bench(site, tmp_path, ("--rate-limit", "50"))
    output = bench.output()
    process = subprocess.Popen(
        bench.command(output), cwd=tmp_path, env=sumi_environment(None), stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while len(site.requests()) < 12 and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)  # waits for another process
    os.rename(output, tmp_path / "elsewhere")
    while (tmp_path / "elsewhere").exists():  # the mirror goes on writing into folders that it holds open
        shutil.rmtree(tmp_path / "elsewhere", ignore_errors=True)
    error = process.communicate(timeout=60)[1]
    assert process.returncode == 8
    assert error.count("sumi: error:") == 1
    assert "Traceback" not in error
    site.clear_log()
    assert bench.violations(output, kills=9) == []


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="prlimit is not installed")
def test_few_open_files_only_make_it_slower(make_site: MakeSite, tmp_path: Path) -> None:
    bench = Bench(make_site(pages=60, seed=3), tmp_path, ("--concurrency", "64", "--processes", "1"))
    output = bench.output()
    limited = ["prlimit", "--nofile=64", *bench.command(output)]
    done = subprocess.run(limited, cwd=tmp_path, env=sumi_environment(None), check=False)
    assert done.returncode == 1  # the site has a dead link
    assert bench.violations(output, kills=0) == []


@needs_strace
def test_a_torn_write_is_told_and_mended(make_site: MakeSite, tmp_path: Path) -> None:
    bench = Bench(make_site(pages=20, seed=3), tmp_path)
    begun = half_done(bench)
    bench.site.clear_log()
    assert bench.violations(begun, kills=1) == []
