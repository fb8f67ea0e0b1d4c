"""A quick state check finds an archived body of the wrong size, packed or not, without reading any."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.commands import RunSumi
from tests.held_site import HeldSite, crawl_config, held_site


@pytest.fixture
def site() -> Iterator[HeldSite]:
    with held_site() as running:
        running.let_go()
        yield running


def cut(data: bytes) -> bytes:
    return data[:-1]


def lengthened(data: bytes) -> bytes:
    return data + b"\0"


def emptied(data: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("compress", [True, False], ids=["packed", "plain"])
def test_a_body_of_another_size_is_found(
    site: HeldSite, run_sumi: RunSumi, tmp_path: Path, *, compress: bool
) -> None:
    config = str(crawl_config(tmp_path, site, store={"compress": compress}))
    assert run_sumi("run", "--unified", "--config", config, "--processes", "0").returncode == 0
    assert run_sumi("state", "check", "workspace").returncode == 0
    body = next((tmp_path / "workspace/store/html").glob("??/??/*"))
    whole = body.read_bytes()
    changes: tuple[Callable[[bytes], bytes], ...] = (cut, lengthened, emptied)
    for change in changes:
        body.write_bytes(change(whole))
        found = run_sumi("state", "check", "workspace")
        assert found.returncode == 1, change.__name__
        assert f"{body.name} has {len(change(whole)):,} bytes" in found.stdout
    body.write_bytes(whole)
    assert run_sumi("state", "check", "workspace").returncode == 0


def test_a_run_that_is_refused_leaves_no_warc(site: HeldSite, run_sumi: RunSumi, tmp_path: Path) -> None:
    config = str(crawl_config(tmp_path, site))
    (tmp_path / "workspace/seeds.txt").write_text("http://elsewhere.test/\n")
    refused = run_sumi("crawl", "run", "--config", config, "--warc", "pages.warc.gz")
    assert refused.returncode == 2, refused.stderr
    assert list(tmp_path.glob("*.warc*")) == []
