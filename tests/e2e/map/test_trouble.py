"""Failures of a map are reported to handlers and webhooks, with what to do about them."""

import os
import sqlite3
from pathlib import Path

import msgspec
import pytest

import sumi
from sumi.errors import StorageFailed
from sumi.jobs.map.config import load_map_config
from sumi.model import PageFacts
from sumi.outcomes import Verdict
from tests.commands import RunSumi
from tests.e2e.map.map_site import Page, Web, running_web
from tests.jobs.map.map_world import states, tables


class Recorder:
    """An ``OutputHandler`` that records all calls."""

    def __init__(self) -> None:
        self.told: list[tuple[str, ...]] = []

    def record_page(self, url: str, facts: PageFacts) -> None:
        self.told.append(("page", url, facts.title or ""))

    def record_link(self, source: str, target: str) -> None:
        self.told.append(("link", source, target))

    def record_blacklisted(self, url: str, referrer: str) -> None:
        self.told.append(("blacklisted", url, referrer))

    def record_stubbed(self, url: str, referrer: str) -> None:
        self.told.append(("stubbed", url, referrer))

    def record_error(self, url: str, error: Verdict) -> None:
        self.told.append(("error", url, error.outcome.value))

    def generate_summary(self) -> None:
        self.told.append(("summary",))

    def finalize(self, status: str) -> None:
        self.told.append(("end", status))


class FullDisk(Recorder):
    def record_page(self, url: str, facts: PageFacts) -> None:
        raise StorageFailed("the other disk is full")


def test_a_handler_is_called_with_everything(tmp_path: Path) -> None:
    pages = {"good.test/": Page(("/gone", "ads.test/x", "wiki.test/y"))}
    pages |= {"ads.test/x": Page(), "wiki.test/y": Page()}
    lists = '[[blacklist]]\ndomain = "ads.test"\n[[stub]]\ndomain = "wiki.test"\n'
    with running_web(pages, tmp_path, tls=False) as web:
        config = load_map_config(web.config(tmp_path, {"good.test": "good.test/"}, lists))
        recorder = Recorder()
        sumi.sync.map(config, handlers=(recorder,), min_free=0)
        root, gone, pixel, article = map(
            web.url, ("good.test/", "good.test/gone", "ads.test/x", "wiki.test/y")
        )
    assert sorted(recorder.told[:-2]) == [
        ("blacklisted", pixel, root),
        ("error", gone, "not_found"),
        ("link", root, pixel),
        ("link", root, gone),
        ("link", root, article),
        ("page", root, "good.test/"),
        ("stubbed", article, root),
    ]
    assert recorder.told[-2:] == [("summary",), ("end", "completed")]


def test_a_failed_run_sends_the_error_webhook(tmp_path: Path) -> None:
    pages = {"good.test/": Page(), "hooks.test/broken": Page(), "hooks.test/done": Page()}
    with running_web(pages, tmp_path, tls=False) as web:
        hooks = f'on-error = "{web.url("hooks.test/broken")}"\non-complete = "{web.url("hooks.test/done")}"\n'
        config = load_map_config(web.config(tmp_path, {"good.test": "good.test/"}, f"[webhooks]\n{hooks}"))
        handler = FullDisk()
        with pytest.raises(StorageFailed, match="the other disk is full"):
            sumi.sync.map(config, handlers=(handler,), min_free=0)
        (asked,) = [asked for asked in web.log if asked.method == "POST"]
    assert asked.address == "hooks.test/broken"
    notice = msgspec.json.decode(asked.body)
    assert (notice["event"], notice["status"]) == ("map.failed", "interrupted")
    assert notice["error"] == "the other disk is full"
    assert handler.told == [("end", "interrupted")]
    assert tables(tmp_path / "map.db", "SELECT status FROM runs") == [("interrupted",)]


def told_of_errors(web: Web) -> list[dict[str, object]]:
    """The payloads of the error webhook, in order."""
    posts = [asked for asked in web.log if asked.method == "POST"]
    assert {asked.address for asked in posts} <= {"hooks.test/broken"}
    return [msgspec.json.decode(asked.body) for asked in posts]


def test_a_database_that_fails_or_cannot_be_opened_sends_the_error_webhook(
    tmp_path: Path, run_sumi: RunSumi
) -> None:
    pages = {"good.test/": Page(("/a",)), "good.test/a": Page(), "hooks.test/broken": Page()}
    with running_web(pages, tmp_path, tls=False) as web:
        hooks = f'[webhooks]\non-error = "{web.url("hooks.test/broken")}"\n'
        config = str(web.config(tmp_path, {"good.test": "good.test/"}, hooks))
        assert run_sumi("map", config).returncode == 0
        assert told_of_errors(web) == []
        database = tmp_path / "map.db"
        fail = "BEGIN SELECT raise(ABORT, 'worn out'); END"
        tables(database, f"CREATE TRIGGER t BEFORE INSERT ON page_history WHEN new.state = 'Fetching' {fail}")
        broken = run_sumi("map", config, "--update")
        assert broken.returncode == 8, broken.stderr
        (first,) = told_of_errors(web)
        assert (first["event"], first["run"], first["status"]) == ("map.failed", 2, "interrupted")
        assert "worn out" in str(first["error"])
        spoil(database, "runs")
        damaged = run_sumi("map", config)
        assert damaged.returncode == 4, damaged.stderr
        _, second = told_of_errors(web)
        assert (second["event"], second["run"], second["database"]) == ("map.failed", 0, str(database))
        assert "start over with --fresh" in str(second["error"])


def test_a_summary_that_cannot_be_written_is_reported_and_written_later(
    tmp_path: Path, run_sumi: RunSumi
) -> None:
    with running_web({"good.test/": Page(), "hooks.test/broken": Page()}, tmp_path, tls=False) as web:
        hooks = f'[webhooks]\non-error = "{web.url("hooks.test/broken")}"\n'
        config = web.config(tmp_path, {"good.test": "good.test/"}, hooks)
        summary = load_map_config(config).output.summary_path
        os.mkfifo(summary)  # something that cannot be replaced
        assert run_sumi("map", str(config)).returncode != 0
        (notice,) = told_of_errors(web)
        assert (notice["event"], notice["run"]) == ("map.failed", 1)
        summary.unlink()
        web.log.clear()
        assert run_sumi("map", str(config)).returncode == 0
        assert summary.read_text().startswith("#")
        assert web.log == []


def test_a_folder_instead_of_a_file_is_refused_before_any_request(tmp_path: Path, run_sumi: RunSumi) -> None:
    with running_web({"good.test/": Page()}, tmp_path, tls=False) as web:
        config = web.config(tmp_path, {"good.test": "good.test/"})
        for file in (load_map_config(config).output.summary_path, tmp_path / "map.db"):
            file.mkdir()
            refused = run_sumi("map", str(config))
            assert refused.returncode == 2
            assert f"{file} is a folder" in refused.stderr
            file.rmdir()
        assert web.log == []


def test_a_damaged_database_ends_the_run_with_advice(tmp_path: Path, run_sumi: RunSumi) -> None:
    with running_web({"good.test/": Page(("/a",)), "good.test/a": Page()}, tmp_path, tls=False) as web:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}))
        assert run_sumi("map", config).returncode == 0
        database = tmp_path / "map.db"
        spoil(database, "urls")
        damaged = run_sumi("map", config)
        assert damaged.returncode == 4
        assert "restore it from a copy, or start over with --fresh" in damaged.stderr
        assert run_sumi("map", config, "--fresh").returncode == 0
        assert set(states(database).values()) == {"Processed"}


def test_a_map_of_another_version_is_refused_and_can_be_started_over(
    tmp_path: Path, run_sumi: RunSumi
) -> None:
    with running_web({"good.test/": Page()}, tmp_path, tls=False) as web:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}))
        database = tmp_path / "map.db"
        database.write_bytes(b"the only copy of something else")
        refused = run_sumi("map", config, "--fresh")
        assert refused.returncode == 2
        assert "is not a map and was not touched" in refused.stderr
        assert database.read_bytes() == b"the only copy of something else"
        database.unlink()
        assert run_sumi("map", config).returncode == 0
        tables(database, "PRAGMA user_version = 1")
        older = run_sumi("map", config)
        assert older.returncode == 2
        assert "has version 1" in older.stderr
        assert "start over with --fresh" in older.stderr
        assert run_sumi("map", config, "--fresh").returncode == 0
        assert set(states(database).values()) == {"Processed"}


def spoil(database: Path, table: str) -> None:
    """Overwrites the rows of a table with noise, as a failing disk does."""
    connection = sqlite3.connect(database)
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    connection.close()
    with database.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xa5" * size)


def test_a_domain_is_blacklisted_and_then_visited_again(tmp_path: Path, run_sumi: RunSumi) -> None:
    pages = {"good.test/": Page(("near.test/", "wiki.test/")), "near.test/": Page(), "wiki.test/": Page()}
    with running_web(pages, tmp_path, tls=False) as web:
        quality = {"good.test": "good.test/"}
        config = str(web.config(tmp_path, quality))
        assert run_sumi("map", config).returncode == 0
        lists = '[[blacklist]]\ndomain = "near.test"\n[[stub]]\ndomain = "wiki.test"\n'
        web.config(tmp_path, quality, lists)
        web.log.clear()
        again = run_sumi("map", config)
        assert again.returncode == 0, again.stderr
        assert not [asked for asked in web.log if not asked.address.startswith("good.test")]
        database = tmp_path / "map.db"
        found = {web.address(url): state for url, state in states(database).items()}
        assert (found["near.test/"], found["wiki.test/"]) == ("Blacklisted", "Stubbed")
        counted = "SELECT url, reference_count FROM blacklisted_urls"
        assert tables(database, counted) == [(web.url("near.test/"), 1)]
        web.config(tmp_path, quality)
        assert run_sumi("map", config).returncode == 0
        assert set(states(database).values()) == {"Processed"}
        assert tables(database, "SELECT * FROM blacklisted_urls") == []


def test_a_domain_may_move_from_one_list_to_the_other(tmp_path: Path, run_sumi: RunSumi) -> None:
    pages = {"good.test/": Page(("near.test/",)), "near.test/": Page(("far.test/",)), "far.test/": Page()}
    quality = {"good.test": "good.test/"}
    database = tmp_path / "map.db"
    with running_web(pages, tmp_path, tls=False) as web:
        for kind, state in (("stub", "Stubbed"), ("blacklist", "Blacklisted"), ("stub", "Stubbed")):
            config = web.config(tmp_path, quality, f'[[{kind}]]\ndomain = "near.test"\n')
            assert run_sumi("map", str(config)).returncode == 0
            assert states(database)[web.url("near.test/")] == state
            noted = {
                table: tables(database, f"SELECT url, reference_count FROM {table}_urls")
                for table in ("stubbed", "blacklisted")
            }
            entry = [(web.url("near.test/"), 1)]
            assert noted == {"stubbed": [], "blacklisted": []} | {state.lower(): entry}
        assert web.asked("near.test/") == []
