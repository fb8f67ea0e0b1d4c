"""A mirror of a site full of traps ends, says what it skipped, and stores no bot check."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.commands import RunSumi
from tests.site import RunningSite

UNLIMITED = ("--rate-limit", "0", "--json", "--follow-links")


def manifest_of(folder: Path) -> dict[str, Any]:
    [path] = folder.glob("output/*/_manifest.json")
    return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])


@pytest.mark.parametrize("trap", ["calendar", "session-id", "growing-path", "facets"])
def test_a_trap_takes_less_than_two_hundred_pages_and_is_named(
    small_site: RunningSite, run_sumi: RunSumi, trap: str
) -> None:
    run = run_sumi("mirror", f"{small_site.url}/bad/{trap}", *UNLIMITED)
    summary = run.events[-1]
    fetched = sum(summary["outcomes"].get(name, 0) for name in ("captured", "duplicate"))
    assert run.returncode == 0, run.stderr
    assert (summary["status"], summary["left_out"]["trap"]) == ("limited", summary["outcomes"]["trap"])
    assert fetched < 200
    assert summary["outcomes"]["trap"] > 0
    assert any(re.match("trap: ", note) for note in summary["notes"])


def test_a_bot_check_is_not_kept(small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path) -> None:
    run = run_sumi("mirror", f"{small_site.url}/bad/challenge", *UNLIMITED)
    assert run.events[-1]["outcomes"]["challenge"] == 1
    assert manifest_of(tmp_path)["pages"] == []
    assert any("bot check" in note for note in run.events[-1]["notes"])


def test_a_page_that_does_not_exist_is_not_kept(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    # Only URLs under /bad/soft-404 answer so; at the root and in /bad/ a probe gets a real 404.
    run = run_sumi("mirror", f"{small_site.url}/bad/soft-404", *UNLIMITED)
    assert run.events[-1]["outcomes"]["probed"] == 2
    assert [page["outcome"] for page in manifest_of(tmp_path)["pages"]] == ["captured"]


def test_the_robots_directives_of_a_page_are_in_the_manifest(
    small_site: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    run = run_sumi("mirror", f"{small_site.url}/bad/noindex", *UNLIMITED)
    [page] = manifest_of(tmp_path)["pages"]
    assert page["noindex"] is True
    assert page["robots"] == "noindex, nofollow, noarchive"
    assert page["robots_rule"] == "no rule applies"
    assert any(note.startswith("noindex: 1 page") for note in run.events[-1]["notes"])
