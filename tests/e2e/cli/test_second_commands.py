"""No command hurts a running job: the second one says who is at work, and the first ends whole."""

import json
import re
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from sumi.state.lock import lock_owner
from tests.commands import FinishedSumi, RunSumi, SpawnedSumi, SpawnSumi, wait_until
from tests.e2e.capture.captures import FAST as CAPTURE
from tests.folder_site import folder_site
from tests.held_site import HeldSite, archive_of, crawl_config, held_site, map_config, pause

MIRROR = ("--rate-limit", "0", "--processes", "0", "--concurrency", "1", "--follow-links", "--json")
IN_USE = 7


@pytest.fixture
def site() -> Iterator[HeldSite]:
    with held_site() as running:
        yield running


def assert_says_who(refused: FinishedSumi, first: SpawnedSumi, command: str) -> None:
    assert refused.returncode == IN_USE, refused.stderr
    who = rf"in use by process {first.process.pid} \({command}, since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\)"
    assert re.search(who, refused.stderr), refused.stderr


@contextmanager
def paused(first: SpawnedSumi, site: HeldSite, flag: str) -> Iterator[None]:
    """In the midst of its work. ``flag``: the file that does it, as a pattern."""
    folder = first.stdout.parent

    def place() -> Path:
        above, _, name = flag.rpartition("/")
        return next(folder.glob(above) if above else iter((folder,))) / name

    assert pause(site, place, first.stdout, lambda: first.process.poll() is not None) == ""
    yield
    place().unlink()


def assert_ends_whole(first: SpawnedSumi) -> None:
    assert first.process.wait(60) == 0, first.stderr.read_text()
    summary = first.events[-1]
    assert summary["status"] == "complete"
    assert sum(summary["outcomes"].values()) == summary["discovered"]


def mirrored(home: Path) -> list[str]:
    return [page["url"] for page in msgspec.json.decode((home / "_manifest.json").read_bytes())["pages"]]


# ── mirror ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_removed_or_replaced_beside_a_running_mirror(
    site: HeldSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    archive = str(archive_of(site, tmp_path / "pages.warc"))
    first = spawn_sumi("mirror", site.url, *MIRROR)
    with paused(first, site, "output/*/pause.mirror"):
        for words in (
            ("import", "warc", archive, "--fresh"),
            ("mirror", site.url, "--replay", archive),
            ("history", "prune", "output", "--keep", "1h"),
            ("mirror", site.url, *MIRROR, "--fresh"),
            ("mirror", site.url, *MIRROR, "--update"),
            ("rebuild", "output"),
            ("state", "check", "output"),
            ("state", "check", "output", "--repair"),
            ("state", "migrate", "output", "copy", "--to", "sqlite"),
        ):
            assert_says_who(run_sumi(*words), first, "sumi mirror")
        assert run_sumi("status", "output").returncode == 0
    assert_ends_whole(first)
    assert sorted(mirrored(tmp_path / "output" / site.home)) == sorted(site.urls)
    assert run_sumi("state", "check", "output", "--deep").returncode == 0
    assert not (tmp_path / "copy").exists()


def test_of_four_fresh_mirrors_at_once_one_runs_and_three_say_who(
    site: HeldSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site.let_go()
    assert run_sumi("mirror", site.url, *MIRROR).returncode == 0
    site.hold_again(free=0)
    four = [spawn_sumi("mirror", site.url, *MIRROR, "--fresh") for _ in range(4)]
    state = tmp_path / "output" / site.home / ".sumi"
    flag = state.parent / "pause.mirror"
    while sum(one.process.poll() is None for one in four) > 1:
        if site.is_holding and not flag.exists():
            flag.touch()
        time.sleep(0.01)  # waits for other processes
    (runs,) = [one for one in four if one.process.poll() is None]
    assert lock_owner(state) == runs.process.pid
    for one in four:
        if one is not runs:
            assert one.process.returncode == IN_USE
            assert f"in use by process {runs.process.pid} (sumi mirror, since " in one.stderr.read_text()
    site.let_go()
    flag.unlink(missing_ok=True)
    assert_ends_whole(runs)
    assert sorted(mirrored(tmp_path / "output" / site.home)) == sorted(site.urls)
    assert run_sumi("state", "check", "output", "--deep").returncode == 0


def test_a_fresh_start_that_was_killed_is_ended_by_the_next_run(
    site: HeldSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    """What a kill left of the old mirror is no mirror: its state knows pages whose files are gone."""
    site.let_go()
    run_sumi("mirror", site.url, *MIRROR)
    home = tmp_path / "output" / site.home
    (home / ".sumi" / "emptying").touch()
    (home / "p1" / "index.md").unlink()
    site.asked.clear()
    done = run_sumi("mirror", site.url, *MIRROR)
    assert done.returncode == 0, done.stderr
    assert sorted(mirrored(home)) == sorted(site.urls)
    assert set(site.asked) >= set(site.paths)
    assert run_sumi("state", "check", "output", "--deep").returncode == 0


def test_a_site_that_cannot_be_reached_takes_nothing_of_another_with_it(
    site: HeldSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    """Both begin in a folder that neither found: what one takes back is its own."""
    with folder_site(tmp_path / "other") as other:
        pass
    dead = spawn_sumi("mirror", other.url, "-o", "new/output", *MIRROR)
    first = spawn_sumi("mirror", site.url, "-o", "new/output", *MIRROR)
    with paused(first, site, "new/output/*/pause.mirror"):
        assert dead.process.wait(120) == 5
    assert_ends_whole(first)
    assert [path.name for path in (tmp_path / "new/output").glob("[!.]*")] == [site.home]


# ── the others ─────────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_removed_or_replaced_beside_a_running_map(
    site: HeldSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    config = str(map_config(tmp_path, site))
    first = spawn_sumi("map", config, "--json")
    with paused(first, site, "pause.map"):
        for words in (("map", config, "--fresh"), ("map", config), ("map", config, "--resume")):
            assert_says_who(run_sumi(*words), first, "sumi map")
        for name in ("map.db", "map.db-wal", "map.db.lock"):
            refused = run_sumi("map", "export", "--format", "graphml", config, "-o", name)
            assert refused.returncode == 2, refused.stderr
        assert run_sumi("map", config, "--stats").returncode == 0
    assert_ends_whole(first)
    with sqlite3.connect(tmp_path / "map.db") as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert len(db.execute("SELECT * FROM pages").fetchall()) == len(site.urls)


@pytest.mark.parametrize(
    ("name", "job"),
    [("crawler", ("crawl", "run")), ("unified", ("run", "--unified"))],
    ids=["crawl", "unified"],
)
def test_nothing_is_removed_or_replaced_beside_a_running_crawl(
    site: HeldSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path, name: str, job: tuple[str, ...]
) -> None:
    config = str(crawl_config(tmp_path, site))
    running = (*job, "--config", config, "--json", "--processes", "0")
    first = spawn_sumi(*running)
    with paused(first, site, f"workspace/pause.{name}"):
        for words in (
            (*running, "--again"),
            ("workspace", "reset", "--yes"),
            ("workspace", "reset", "--yes", "--config", config),
            ("state", "check", "workspace", "--repair"),
            ("state", "migrate", "workspace/state/frontier", "copy"),
        ):
            assert_says_who(run_sumi(*words), first, f"sumi {' '.join(job)}")
    assert_ends_whole(first)
    assert run_sumi("state", "check", "workspace", "--deep").returncode == 0
    assert run_sumi("workspace", "reset", "--yes").returncode == 0
    assert not [path for path in (tmp_path / "workspace/state").rglob("*") if path.is_file()]


def test_nothing_is_removed_beside_a_running_scraper(
    site: HeldSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site.let_go()
    config = str(crawl_config(tmp_path, site, spool={"hand_over": False}))
    assert run_sumi("crawl", "run", "--config", config, "--processes", "0").returncode == 0
    site.hold_again(free=2)
    running = ("scrape", "run", "--config", config, "--processes", "0", "--run-id", "one")
    first = spawn_sumi(*running, "--json")
    (tmp_path / "workspace/index/page_index.jsonl").touch()
    with paused(first, site, "workspace/pause.scraper"):
        for words in (
            running,
            ("scrape", "replay", "--config", config, "--run-id", "one"),
            ("workspace", "reset", "--yes"),
        ):
            assert_says_who(run_sumi(*words), first, "sumi scrape run")
    assert_ends_whole(first)
    rows = (tmp_path / "workspace/logs/pages-one.csv").read_text().splitlines()
    assert len(rows) == 1 + len(site.urls)


def test_nothing_is_removed_beside_a_running_capture(
    site: HeldSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    first = spawn_sumi("capture", site.url, *CAPTURE, "--workers", "1", "--json")
    with paused(first, site, "captures/jobs/*/pause.capture"):
        for words in (("capture", site.url, *CAPTURE), ("capture", "delete", "2")):
            assert_says_who(run_sumi(*words), first, "sumi capture")
        database = "captures/captures.sqlite"
        assert run_sumi("capture", "export", "--format", "jsonl", "-o", database).returncode == 2
    assert_ends_whole(first)
    shown = [json.loads(line) for line in run_sumi("capture", "show", "--json").stdout.splitlines()]
    pages = [row["url"] for row in shown if row["kind"] == "page"]
    assert len(pages) == len(set(pages)) == len(site.urls)


def test_nothing_is_removed_beside_a_running_demo(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    first, lock = spawn_sumi("demo", "--output", "demo"), tmp_path / "demo" / ".sumi-demo"
    wait_until(first, lambda: lock.is_file() and lock.stat().st_size > 0)
    first.process.send_signal(signal.SIGSTOP)
    try:
        assert_says_who(run_sumi("demo", "--output", "demo"), first, "sumi demo")
    finally:
        first.process.send_signal(signal.SIGCONT)
    assert first.process.wait(60) == 0, first.stderr.read_text()
    assert list((tmp_path / "demo").rglob("*.md"))


# ── results of other commands ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "words",
    [
        ("export", "jsonl", "output", "-o", "{home}/index.md"),
        ("export", "jsonl", "output", "-o", "{home}/.sumi/format.json"),
        ("export", "mkdocs", "output", "-o", "{home}/new"),
        ("feed", "output", "-o", "{home}/_manifest.json"),
        ("convert", "page.html", "-o", "{home}/index.md"),
    ],
    ids=" ".join,
)
def test_the_files_of_a_mirror_are_not_replaced(
    site: HeldSite, run_sumi: RunSumi, tmp_path: Path, words: tuple[str, ...]
) -> None:
    site.let_go()
    run_sumi("mirror", site.url, *MIRROR)
    home = tmp_path / "output" / site.home
    (tmp_path / "page.html").write_text("<p>A page.")
    refused = run_sumi(*(word.format(home=home) for word in words))
    assert refused.returncode == 2
    assert f"is in {home}" in refused.stderr
    assert "the folder of a job: name a place outside it" in refused.stderr
    assert run_sumi("state", "check", "output", "--deep").returncode == 0
    assert not (home / "new").exists()


# ── after an interruption ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_after_an_interruption_no_further_site_begins(
    spawn_sumi: SpawnSumi, tmp_path: Path, number: signal.Signals
) -> None:
    with held_site() as one, held_site() as two, held_site() as three:
        running = spawn_sumi("mirror", one.url, two.url, three.url, *MIRROR)
        wait_until(running, lambda: one.is_holding)
        running.process.send_signal(number)
        one.let_go()
        assert running.process.wait(60) == 3
    notes = running.events[-1]["notes"]
    assert notes[1:] == [f"{two.url}: not started", f"{three.url}: not started"]
    assert (two.asked, three.asked) == ([], [])
    assert [path.name for path in (tmp_path / "output").glob("[!.]*")] == [one.home]


def test_a_plan_that_is_interrupted_looks_at_no_page(spawn_sumi: SpawnSumi) -> None:
    with held_site(free=0) as site:
        listed = "".join(f"<url><loc>{url}</loc></url>" for url in sorted(site.urls))
        answers: dict[str, Callable[[], str]] = {"/sitemap.xml": lambda: f"<urlset>{listed}</urlset>"}
        plain, waits = site.text, site.has_to_wait
        site.text = lambda path: answers[path]() if path in answers else plain(path)  # type: ignore[method-assign]
        site.has_to_wait = lambda path: path in answers or waits(path)  # type: ignore[method-assign]
        running = spawn_sumi("plan", site.url, "--rate-limit", "0", "--json")
        wait_until(running, lambda: "/sitemap.xml" in site.asked)
        running.process.send_signal(signal.SIGTERM)
        site.let_go()
        assert running.process.wait(60) == 3
        assert not set(site.asked) & {"/", *site.paths}
    assert [event["event"] for event in running.events] == ["error"]
