"""Whichever write of an archive fails or is the last, the next run leaves every page told of exactly once."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.commands import RunSumi, sumi_command, sumi_environment
from tests.e2e.workspaces import Workspace, make_workspace
from tests.site import MakeSite
from tests.torture.harness import SECONDS, why_no_strace

REASON = why_no_strace()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "strace works")

UNIFIED = ("run", "--config", "crawl.yaml", "--unified", "-q")
METADATA, INDEX, EDGES = "metadata/crawl_metadata.jsonl", "index/page_index.jsonl", "logs/edges.csv"
ANYWHERE = ""  # these calls are made for bodies only, or nearly so
KILL, FULL, BROKEN = "signal=KILL", "error=ENOSPC", "error=EIO"
DISK_FAILED = 4


@pytest.mark.parametrize(
    ("path", "call", "number", "fault"),
    [
        (METADATA, "write", 1, KILL),
        (METADATA, "write", 1, FULL),
        (METADATA, "fdatasync", 1, BROKEN),
        (INDEX, "fdatasync", 1, KILL),
        (EDGES, "write", 1, FULL),
        (ANYWHERE, "renameat", 20, KILL),
        (ANYWHERE, "renameat", 20, FULL),
        (ANYWHERE, "mkdirat", 30, FULL),
        (ANYWHERE, "syncfs", 1, KILL),
        (ANYWHERE, "syncfs", 1, BROKEN),
    ],
)
def test_one_fault(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path, path: str, call: str, number: int, fault: str
) -> None:
    workspace = make_workspace(tmp_path, make_site(pages=1, github=1), 1)
    code, error = run_with(workspace, path, call, f"{fault}:when={number}")
    if fault == KILL:
        assert code in (-9, 128 + 9), error
    else:
        assert code == DISK_FAILED, error
        assert error.count("sumi: error:") == 1
    again = run_sumi(*UNIFIED)
    assert again.returncode == 0, again.stderr
    assert workspace.faults(workspace.metadata()) == []
    assert {record["url"] for record in workspace.index()} == workspace.truth.keys()
    edges = (workspace.folder / EDGES).read_text().splitlines()[1:]
    assert sorted(edge.split(",")[2] for edge in edges) == sorted(workspace.truth)


def run_with(workspace: Workspace, path: str, call: str, fault: str) -> tuple[int, str]:
    where = ("-P", str(workspace.folder / path)) if path else ()
    strace = ("strace", "-f", "-qq", "-o", os.devnull, "-e", f"trace={call}", "-e", f"inject={call}:{fault}")
    done = subprocess.run(
        [*strace, *where, *sumi_command((*UNIFIED, "--processes", "0"))],
        cwd=workspace.config.parent,
        env=sumi_environment(None),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stderr
