"""A job whose journal has become large says so, and what to do about it; other jobs do not."""

import asyncio
from pathlib import Path

import pytest

import sumi
from sumi.assembly import parts
from sumi.assembly.parts import open_store
from sumi.engine import run
from sumi.engine.run import MANY_URLS, large_state_notes
from sumi.events import Busy, Event, RunStarted
from sumi.policy import Durability, FrontierPolicy, StateBackend
from sumi.state.growing import GrowingStore
from sumi.state.journal import FilesStore
from sumi.state.sqlite import SqliteStore
from tests.e2e.pipeline.run_site import configured_crawl, plain_site


def ignore(_event: Event) -> None:
    """Events do not matter here."""


def notes_of(folder: Path, backend: StateBackend, known: int) -> tuple[str, ...]:
    store = open_store(backend, folder, FrontierPolicy(), 0.0, Durability.BATCH, ignore)
    try:
        return large_state_notes(store, known, "--state")
    finally:
        asyncio.run(store.aclose())


def test_a_large_journal_is_reported_with_advice(tmp_path: Path) -> None:
    [note] = notes_of(tmp_path, StateBackend.FILES, 1_000_000)
    assert "1,000,000 URLs" in note
    assert "omit --state" in note


def test_a_usual_journal_is_not(tmp_path: Path) -> None:
    assert notes_of(tmp_path, StateBackend.FILES, MANY_URLS - 1) == ()


def test_a_database_may_be_as_large_as_it_likes(tmp_path: Path) -> None:
    for backend in (StateBackend.SQLITE, StateBackend.LMDB):
        folder = tmp_path / backend
        folder.mkdir()
        assert notes_of(folder, backend, 1_000_000) == ()


def opened_as(folder: Path, backend: StateBackend | None) -> type:
    store = open_store(backend, folder, FrontierPolicy(), 0.0, Durability.BATCH, ignore)
    asyncio.run(store.aclose())
    return type(store)


def test_a_journal_that_the_user_chose_stays_one(tmp_path: Path) -> None:
    assert opened_as(tmp_path, None) is GrowingStore
    assert opened_as(tmp_path, StateBackend.FILES) is FilesStore
    assert opened_as(tmp_path, None) is GrowingStore


def test_what_is_left_of_an_outgrown_journal_is_removed_by_the_next_run(tmp_path: Path) -> None:
    opened_as(tmp_path, StateBackend.SQLITE)
    left = tmp_path / "journal-000001.log"
    left.write_text("of one that was killed before it came to this")
    assert opened_as(tmp_path, None) is SqliteStore
    assert not left.exists()


def test_reading_a_long_journal_is_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Event] = []

    def opened() -> None:
        store = open_store(None, tmp_path, FrontierPolicy(), 0.0, Durability.BATCH, told.append)
        asyncio.run(store.put_note("anything", "x" * 100))
        asyncio.run(store.aclose())

    opened()
    opened()
    assert told == []
    monkeypatch.setattr(parts, "LONG_JOURNAL", 100)
    opened()
    assert told == [Busy("reading the state of this job, 0 MB")]


def test_a_crawl_is_told_of_its_own_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "MANY_URLS", 0)
    heard: list[Event] = []
    with plain_site(pages=2) as site:
        config = configured_crawl(tmp_path, site, frontier={"backend": "files"})
        asyncio.run(sumi.crawl(config, processes=0, min_free=0, listeners=[heard.append]))
    [note] = [
        note for event in heard if isinstance(event, RunStarted) for note in event.notes if "URLs" in note
    ]
    assert note.endswith("omit frontier.backend in the configuration to move it to one")
