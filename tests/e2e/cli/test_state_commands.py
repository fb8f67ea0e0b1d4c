"""`sumi state` finds what is wrong with a stored job, mends it and loses nothing, and carries it over."""

import os
import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.commands import FinishedSumi, RunSumi, SpawnSumi
from tests.e2e.mirror.test_control import wait_for_requests
from tests.made_maps import small_map
from tests.site import MakeSite, RunningSite
from tests.site.oracle import check_mirror

FAST = ("--rate-limit", "0", "--json")


class Mirrored:
    """A finished mirror, and the folder of its job."""

    def __init__(self, site: RunningSite, home: Path, run_sumi: RunSumi) -> None:
        self.site = site
        self.home = home
        self.state = home / ".sumi"
        self.journal = self.state / "journal-000001.log"
        self._run = run_sumi

    def check(self, *flags: str) -> FinishedSumi:
        return self._run("state", "check", *flags)

    def again(self) -> dict[str, Any]:
        summary: dict[str, Any] = self._run("mirror", self.site.url, *FAST).events[-1]
        return summary

    def pages(self) -> list[Path]:
        return sorted(
            p for p in self.home.rglob("index.md") if p.relative_to(self.home).parts[0][0] not in "._"
        )

    def agrees_with_its_site(self, kills: int = 0) -> bool:
        return check_mirror(self.home.parent, self.site.truth, self.site.requests(), kills=kills) == []


@pytest.fixture
def mirrored(make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path) -> Mirrored:
    site = make_site(pages=25, seed=4)
    run_sumi("mirror", site.url, *FAST)
    return Mirrored(site, tmp_path / "output" / f"127.0.0.1_{site.port}", run_sumi)


def test_a_finished_mirror_is_whole(mirrored: Mirrored) -> None:
    before = mirrored.journal.read_bytes()
    for flags in ((), ("--deep",), (str(mirrored.home),)):
        run = mirrored.check(*flags)
        assert (run.returncode, run.stdout) == (0, ""), run.stdout
        assert "whole" in run.stderr
    assert mirrored.journal.read_bytes() == before


def test_a_killed_mirror_is_whole_too(make_site: MakeSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi) -> None:
    site = make_site(pages=80, seed=4)
    running = spawn_sumi("mirror", site.url, *FAST)
    wait_for_requests(site, running, 30)
    os.killpg(running.process.pid, signal.SIGKILL)
    running.process.wait()
    run = run_sumi("state", "check", "--deep")
    assert (run.returncode, run.stdout) == (0, ""), run.stdout


def _remove(mirrored: Mirrored) -> str:
    mirrored.pages()[3].unlink()
    return "is missing"


def _cut(mirrored: Mirrored) -> str:
    page = mirrored.pages()[3]
    page.write_bytes(page.read_bytes()[:-7])
    return "were recorded"


def _alter(mirrored: Mirrored) -> str:
    page = mirrored.pages()[3]
    page.write_bytes(page.read_bytes()[:-2] + b"?\n")
    return "recorded hash"


def _link(mirrored: Mirrored) -> str:
    page = mirrored.pages()[3]
    shutil.move(page, mirrored.home.parent / "elsewhere")
    page.symlink_to(mirrored.home.parent / "elsewhere")
    return "is not a separate file"


@pytest.mark.parametrize("harm", [_remove, _cut, _alter, _link])
def test_a_bad_page_is_named_queued_and_fetched_again(
    mirrored: Mirrored, harm: Callable[[Mirrored], str]
) -> None:
    good = mirrored.pages()[3]
    content = re.sub(rb"fetched_at.*", b"", good.read_bytes())
    words = harm(mirrored)
    found = mirrored.check("--deep")
    assert found.returncode == 1
    assert len(found.stdout.splitlines()) == 1
    assert words in found.stdout
    if good.is_symlink():
        good.unlink()
    repaired = mirrored.check("--deep", "--repair")
    assert "queued again" in repaired.stderr
    assert (repaired.returncode, mirrored.check("--deep").returncode) == (0, 0)
    mirrored.again()
    assert re.sub(rb"fetched_at.*", b"", good.read_bytes()) == content
    assert mirrored.agrees_with_its_site(kills=1)
    assert mirrored.check("--deep").returncode == 0


def test_a_stray_file_is_set_aside_not_deleted(mirrored: Mirrored) -> None:
    stray = mirrored.home / "mine" / "notes.md"
    stray.parent.mkdir()
    stray.write_text("mine")
    found = mirrored.check()
    assert found.returncode == 1
    assert f"{mirrored.home.name}/mine/notes.md: a file without a page" in found.stdout
    assert mirrored.check("--repair").returncode == 0
    kept = mirrored.home / "_quarantine" / mirrored.home.name / "mine" / "notes.md"
    assert (kept.read_text(), stray.exists()) == ("mine", False)
    stray.parent.mkdir(exist_ok=True)
    stray.write_text("mine again")
    assert mirrored.check("--repair").returncode == 0
    assert (kept.read_text(), kept.with_name("notes.md.1").read_text()) == ("mine", "mine again")


@pytest.mark.parametrize("name", ["_manifest.json", "_processed.txt"])
def test_a_derived_file_that_disagrees_is_written_again(mirrored: Mirrored, name: str) -> None:
    file = mirrored.home / name
    good = file.read_bytes()
    file.write_bytes(good.replace(b"http", b"HTTP", 1).replace(b'"size_bytes":', b'"size_bytes":1', 1))
    found = mirrored.check("--json")
    assert found.returncode == 1
    assert [event["stale"] for event in found.events] == [True]
    assert mirrored.check("--repair").returncode == 0
    assert file.read_bytes() == good


def test_damage_anywhere_in_the_journal_is_named_saved_and_made_good(mirrored: Mirrored) -> None:
    lines = mirrored.journal.read_bytes().splitlines(keepends=True)
    ended = [number for number, line in enumerate(lines) if b'"type":"end"' in line]
    for number in (ended[0], ended[len(ended) // 2]):
        damaged = bytearray(lines[number])
        damaged[len(damaged) // 2] ^= 0x20
        lines[number] = bytes(damaged)
    mirrored.journal.write_bytes(b"".join(lines))
    found = mirrored.check()
    assert found.returncode == 1
    assert found.stdout.count("a damaged record") == 2
    repaired = mirrored.check("--repair")
    assert repaired.returncode == 0, repaired.stdout
    kept = mirrored.home / ".sumi-damaged-1" / "journal-000001.log"
    assert kept.read_bytes() == b"".join(lines)
    mirrored.again()
    assert mirrored.agrees_with_its_site(kills=2)
    assert mirrored.check("--deep").returncode == 0


def test_a_journal_that_contradicts_itself_is_found(mirrored: Mirrored) -> None:
    from sumi.state.journal.journal import frame, unframe

    lines = mirrored.journal.read_bytes().splitlines(keepends=True)
    number = max(n for n, line in enumerate(lines) if b'"facts":{' in line and b'"path":' in line)
    record = msgspec.json.decode(unframe(lines[number]) or b"")
    del record["facts"]["path"]
    lines[number] = frame(msgspec.json.encode(record))
    mirrored.journal.write_bytes(b"".join(lines))
    found = mirrored.check()
    assert found.returncode == 1
    assert f"{record['url']}: captured, but no file is recorded" in found.stdout


# ── migrate ────────────────────────────────────────────────────────────────────────────────────────────────


def migrate_and_use(mirrored: Mirrored, run_sumi: RunSumi) -> None:
    run = run_sumi("state", "migrate", "output", "copy")
    assert run.returncode == 0, run.stderr
    shutil.rmtree(mirrored.state)
    shutil.move(mirrored.home.parent.parent / "copy", mirrored.state)


def test_carried_state_tells_the_same_and_asks_for_nothing_again(
    mirrored: Mirrored, run_sumi: RunSumi
) -> None:
    url = mirrored.site.url + max(mirrored.site.truth.captured_by_sitemap)
    before = [run_sumi("status", "--json").stdout, run_sumi("explain", url, "--json").stdout]
    source = mirrored.journal.read_bytes()
    requests = len(mirrored.site.requests())
    assert run_sumi("state", "migrate", "output", "copy").returncode == 0
    assert mirrored.journal.read_bytes() == source
    shutil.rmtree(mirrored.state)
    shutil.move(mirrored.home.parent.parent / "copy", mirrored.state)
    after = [run_sumi("status", "--json").stdout, run_sumi("explain", url, "--json").stdout]
    assert [_timeless(text) for text in after] == [_timeless(text) for text in before]
    assert mirrored.check("--deep").returncode == 0
    mirrored.again()
    assert len(mirrored.site.requests()) == requests
    assert mirrored.agrees_with_its_site()


def _timeless(text: str) -> dict[str, Any]:
    answer: dict[str, Any] = msgspec.json.decode(text)
    del answer["at"]
    return answer


def test_an_interrupted_job_goes_on_from_carried_state(
    make_site: MakeSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=60, seed=4)
    running = spawn_sumi("mirror", site.url, "--rate-limit", "50", "--json")
    wait_for_requests(site, running, 20)
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(30) == 3
    mirrored = Mirrored(site, tmp_path / "output" / f"127.0.0.1_{site.port}", run_sumi)
    migrate_and_use(mirrored, run_sumi)
    mirrored.again()
    assert mirrored.agrees_with_its_site()


def test_a_target_that_exists_is_left_alone(mirrored: Mirrored, run_sumi: RunSumi, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    run = run_sumi("state", "migrate", "output", "copy")
    assert run.returncode == 2
    assert "exists already" in run.stderr
    assert list((tmp_path / "copy").iterdir()) == []


@pytest.mark.parametrize(
    "words", [("check", "a", "b"), ("migrate", "output"), ("check", "--to", "files"), ()]
)
def test_misuse_is_one_sentence(run_sumi: RunSumi, words: tuple[str, ...]) -> None:
    run = run_sumi("state", *words)
    assert run.returncode == 2
    assert len(run.stderr.splitlines()) == 1


@pytest.mark.parametrize("state", ["sqlite", "lmdb"])
def test_a_job_goes_on_with_what_its_state_is_kept_in(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path, state: str
) -> None:
    site = make_site(pages=20, seed=4)
    run_sumi("mirror", site.url, *FAST, "--state", state, "--max-pages", "8")
    mirrored = Mirrored(site, tmp_path / "output" / f"127.0.0.1_{site.port}", run_sumi)
    refused = run_sumi("mirror", site.url, *FAST, "--state", "files")
    assert refused.returncode == 2
    assert f"made with --state {state}, not files" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    mirrored.again()
    assert mirrored.agrees_with_its_site()
    assert not mirrored.journal.exists()


@pytest.mark.parametrize("state", ["sqlite", "lmdb"])
def test_state_that_an_older_version_wrote_is_refused_with_advice(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path, state: str
) -> None:
    site = make_site(pages=12, seed=4)
    run_sumi("mirror", site.url, *FAST, "--state", state)
    mirrored = Mirrored(site, tmp_path / "output" / f"127.0.0.1_{site.port}", run_sumi)
    (mirrored.state / "format.json").write_text(f'{{"sumi-state": "{state}", "format": 1}}')
    for words in (("mirror", site.url), ("state", "check"), ("state", "migrate", "output", "copy")):
        run = run_sumi(*words)
        assert run.returncode == 2, run.stderr
        assert "says format 1" in run.stderr
        assert "sumi state migrate --to files" in run.stderr
    assert run_sumi("mirror", site.url, *FAST, "--fresh").returncode in (0, 1)


def test_a_map_is_told_from_a_job_that_can_be_checked(run_sumi: RunSumi, tmp_path: Path) -> None:
    database = small_map(tmp_path)
    done = run_sumi("state", "check", str(database))
    assert (done.returncode, done.stdout) == (2, "")
    assert "is a map, which has no files beside its database to compare with" in done.stderr
    assert f"sumi status {database}" in done.stderr
