"""Whatever the umask, only the owner can change files that Sumi wrote."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import RunSumi
from tests.e2e.capture.captures import FAST as CAPTURE
from tests.held_site import HeldSite, crawl_config, held_site, map_config

MIRROR = ("--rate-limit", "0", "--processes", "0", "--follow-links")


@pytest.fixture
def site() -> Iterator[HeldSite]:
    with held_site() as running:
        running.let_go()
        yield running


def test_files_of_every_job_are_writable_only_by_the_owner(
    site: HeldSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    crawl, mapping = str(crawl_config(tmp_path, site)), str(map_config(tmp_path, site))
    given = set(tmp_path.rglob("*"))
    former = os.umask(0)
    try:
        for state in ("files", "sqlite", "lmdb"):
            assert run_sumi("mirror", site.url, *MIRROR, "--state", state, "-o", state).returncode == 0
        assert run_sumi("state", "migrate", "files", "copy", "--to", "lmdb").returncode == 0
        assert run_sumi("run", "--config", crawl, "--processes", "0", "--warc", "a.warc.gz").returncode == 0
        assert run_sumi("workspace", "configure", "other").returncode == 0
        assert run_sumi("map", mapping).returncode == 0
        assert run_sumi("map", "export", "--format", "graphml", mapping, "-o", "web.graphml").returncode == 0
        assert run_sumi("capture", site.url, *CAPTURE).returncode == 0
        assert run_sumi("capture", "export", "--format", "zip", "-o", "pages.zip").returncode == 0
    finally:
        os.umask(former)
    files = [path for path in set(tmp_path.rglob("*")) - given if path.is_file()]
    assert len(files) > 40
    loose = {
        str(path.relative_to(tmp_path)): oct(path.stat().st_mode)
        for path in files
        if stat.S_IMODE(path.stat().st_mode) & 0o133
    }
    assert loose == {}
