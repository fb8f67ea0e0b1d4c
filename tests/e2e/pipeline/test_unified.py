"""A unified run fetches each page once, archives it, and records it in one file of metadata."""

import shutil
import subprocess
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.commands import RunSumi
from tests.e2e.pipeline.workspaces import COLUMNS, Workspace, make_workspace
from tests.site import MakeSite

REPOSITORIES = 2


@pytest.fixture
def workspace(make_site: MakeSite, tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path, make_site(pages=1, github=REPOSITORIES), REPOSITORIES)


def test_every_page_is_fetched_and_recorded_once(workspace: Workspace, run_sumi: RunSumi) -> None:
    done = run_sumi("run", "--config", "crawl.yaml", "--unified", "--warc", "pages.warc.gz")
    assert done.returncode == 0, done.stderr
    told = workspace.metadata()
    assert workspace.faults(told) == []
    assert set(workspace.page_requests().values()) == {1}
    assert {",".join(line) for line in told} == {COLUMNS}
    assert {record["url"] for record in workspace.index()} == workspace.truth.keys()
    metrics = (workspace.folder / "logs" / "crawler_metrics.csv").read_text().splitlines()
    assert metrics[0] == "timestamp,metric,value"
    assert any(line.endswith(f",pages_saved,{len(told)}") for line in metrics)

    pages = workspace.config.with_name("pages.warc.gz")
    with pages.open("rb") as file:
        records = [
            (record.rec_headers.get_header("WARC-Target-URI"), record.content_stream().read())
            for record in ArchiveIterator(file, check_digests="raise")
            if record.rec_type == "response" and record.http_headers.get_statuscode() == "200"
        ]
    bodies = {line["url"]: workspace.body(line["stored_path"]) for line in told}
    assert dict(records) == bodies
    assert len(records) == len(bodies)


@pytest.mark.skipif(shutil.which("zstdcat") is None, reason="zstdcat is not installed")
def test_archived_bodies_open_with_standard_tools(workspace: Workspace, run_sumi: RunSumi) -> None:
    run_sumi("run", "--config", "crawl.yaml", "--unified")
    line = workspace.metadata()[0]
    stored = workspace.folder / line["stored_path"]
    opened = subprocess.run(["zstdcat", str(stored)], capture_output=True, check=True).stdout
    assert opened == workspace.body(line["stored_path"])
    assert opened.startswith(b"<!DOCTYPE html>")


def test_an_archive_can_be_plain_with_permissions_of_its_own(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=1, github=1)
    workspace = make_workspace(tmp_path, site, 1, store={"compress": False, "permissions": "0o666"})
    run_sumi("run", "--config", "crawl.yaml", "--unified")
    assert workspace.faults(workspace.metadata()) == []
    stored = workspace.folder / workspace.metadata()[0]["stored_path"]
    assert stored.suffix == ".html"
    assert stored.stat().st_mode & 0o777 == 0o666


def test_caps_hold_exactly_and_a_second_visit_is_conditional(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=1, github=2)
    workspace = make_workspace(tmp_path, site, 2, caps={"per_repo_max_issues": 3})
    run_sumi("run", "--config", "crawl.yaml", "--unified")
    issues = [line["url"] for line in workspace.metadata() if line["page_type"] == "issues"]
    for number in range(2):
        own = workspace.origin + workspace.world.repository(number).path + "/"
        assert len([url for url in issues if url.startswith(own)]) == 3
    first = len(workspace.metadata())
    run_sumi("run", "--config", "crawl.yaml", "--unified", "--again")
    again = workspace.metadata()[first:]
    assert len(again) == first
    assert {line["http_status"] for line in again} == {304}
