"""``sumi doctor`` tells what it found, proves the crash contract on a disk, and leaves nothing behind."""

from pathlib import Path

import msgspec
import pytest

from sumi.cli.crash_trial import TrialPage, examine
from sumi.cli.doctor import as_numbers, version_checks
from sumi.policy import StateBackend
from tests.commands import RunSumi


def test_versions_and_the_disk(run_sumi: RunSumi, tmp_path: Path) -> None:
    done = run_sumi("doctor", str(tmp_path))
    assert done.returncode == 0
    for word in ("libcurl", "expat", "turbohtml", "file system", "fsync", "syncfs", "names", "open files"):
        assert word in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("state", StateBackend)
def test_the_trial_holds_and_cleans_up(run_sumi: RunSumi, tmp_path: Path, state: StateBackend) -> None:
    done = run_sumi("doctor", "--crash", str(tmp_path), "--state", state, "--kills", "3", "--seed", "2")
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert sum("killed;" in line for line in lines) >= 2
    assert f"state in {state}" in lines[0]
    assert lines[-1] == f"verdict on {state}: nothing lost, nothing twice"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_refused(run_sumi: RunSumi, tmp_path: Path) -> None:
    for arguments in ((str(tmp_path / "no"),), ("--crash", str(tmp_path / "no"))):
        done = run_sumi("doctor", *arguments)
        assert done.returncode == 2
        assert "is not a folder" in done.stderr
    for words in (("--kills", "0"), ("--state", "punch-cards")):
        done = run_sumi("doctor", "--crash", str(tmp_path), *words)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


def test_every_floor_is_met_where_these_tests_run() -> None:
    assert [check.name for check in version_checks() if not check.met] == []
    assert as_numbers("8.23.0") > as_numbers("8.4.0") > as_numbers("7.88.1-DEV")


def test_the_trial_would_notice(tmp_path: Path) -> None:
    """A verdict is worth something only if broken mirrors get another one."""
    pages = [{"url": "http://h/a", "path": "a.md", "size_bytes": 3, "sha256": "0"}] * 2
    for name in ("killed", "whole"):
        home = tmp_path / name / "h"
        (home / ".sumi").mkdir(parents=True)
        manifest = {"pages": pages, "crawl_completed": None}
        (home / "_manifest.json").write_bytes(msgspec.json.encode(manifest))
    expected = [TrialPage("/a", "This is a."), TrialPage("/b", "This is b.")]
    faults = list(examine(tmp_path / "killed", tmp_path / "whole", "http://h", expected))
    assert "lost: /b" in faults
    assert "recorded 2 times: http://h/a" in faults
    assert "a.md: No such file or directory" in faults
    assert [fault for fault in faults if fault.startswith("the state cannot be read")]
    nothing = list(examine(tmp_path / "none", tmp_path / "whole", "http://h", expected))
    assert nothing == ["there is no manifest"]
