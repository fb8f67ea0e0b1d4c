"""``sumi rebuild`` makes the whole mirror again from the stored bodies, without the network."""

import json
from pathlib import Path
from urllib.request import urlopen

import pytest
import zstandard

from tests.commands import RunSumi
from tests.site import MakeSite, RunningSite

FAST = ("--rate-limit", "0", "--json")


@pytest.fixture
def mirrored(make_site: MakeSite, run_sumi: RunSumi) -> RunningSite:
    site = make_site(pages=20, seed=3)
    run_sumi("mirror", site.url, *FAST)
    return site


def pages(tmp_path: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (tmp_path / "output").rglob("index.md")}


def test_a_rebuild_makes_the_same_files_without_requests(
    mirrored: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    before, asked = pages(tmp_path), len(mirrored.requests())
    done = run_sumi("rebuild")
    assert done.returncode == 0
    assert "0 changed" in done.stderr
    assert pages(tmp_path) == before
    assert len(mirrored.requests()) == asked


def test_lost_and_edited_files_come_back_and_are_shown(
    mirrored: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    before = pages(tmp_path)
    lost, edited, *_ = sorted(before)
    lost.unlink()
    edited.write_bytes(before[edited] + b"scribbled\n")
    tried = run_sumi("rebuild", "--dry-run", "--diff")
    assert "-scribbled" in tried.stdout
    assert not lost.exists()
    done = run_sumi("rebuild")
    assert "2 changed" in done.stderr
    assert pages(tmp_path) == before
    assert run_sumi("state", "check", "--deep").returncode == 0


def test_stored_pages_are_plain_zstd_of_what_the_server_sent(mirrored: RunningSite, tmp_path: Path) -> None:
    (pack,) = (tmp_path / "output").rglob(".sumi/raw/pack-*.zst")
    with pack.open("rb") as frames:
        reader = zstandard.ZstdDecompressor().stream_reader(frames, read_across_frames=True)
        kept = reader.read()
    manifest = json.loads(next((tmp_path / "output").rglob("_manifest.json")).read_text())
    for page in manifest["pages"]:
        with urlopen(page["url"]) as answer:
            assert kept.count(answer.read()) == 1


def test_without_stored_pages_it_says_so_and_leaves_the_files(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=5, seed=3)
    run_sumi("mirror", site.url, *FAST, "--no-raw")
    before = pages(tmp_path)
    done = run_sumi("rebuild")
    assert done.returncode == 1
    assert "was not kept" in done.stdout
    assert pages(tmp_path) == before


def test_a_damaged_stored_page_affects_only_itself(
    mirrored: RunningSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    pack = next((tmp_path / "output").rglob(".sumi/raw/pack-*.zst"))
    data = bytearray(pack.read_bytes())
    data[-10] ^= 0xFF
    pack.write_bytes(data)
    before = pages(tmp_path)
    done = run_sumi("rebuild")
    assert done.returncode == 1
    assert "is damaged" in done.stdout
    assert pages(tmp_path) == before
