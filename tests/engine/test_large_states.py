"""A job that has outgrown its journal says so, and what to do about it; nobody else hears of it."""

import asyncio
from pathlib import Path

from sumi.assembly.job_run import MANY_URLS, large_state_notes
from sumi.assembly.parts import open_store
from sumi.events import Event
from sumi.policy import Durability, FrontierPolicy, StateBackend


def ignore(_event: Event) -> None:
    """Nothing is told here."""


def notes_of(folder: Path, backend: StateBackend, known: int) -> tuple[str, ...]:
    store = open_store(backend, folder, FrontierPolicy(), 0.0, Durability.BATCH, ignore)
    try:
        return large_state_notes(store, known)
    finally:
        asyncio.run(store.aclose())


def test_a_large_journal_is_told_of_with_the_command_that_helps(tmp_path: Path) -> None:
    [note] = notes_of(tmp_path, StateBackend.FILES, 1_000_000)
    assert "1,000,000 URLs" in note
    assert "sumi state migrate" in note


def test_a_usual_journal_is_not(tmp_path: Path) -> None:
    assert notes_of(tmp_path, StateBackend.FILES, MANY_URLS - 1) == ()


def test_a_database_may_be_as_large_as_it_likes(tmp_path: Path) -> None:
    for backend in (StateBackend.SQLITE, StateBackend.LMDB):
        folder = tmp_path / backend
        folder.mkdir()
        assert notes_of(folder, backend, 1_000_000) == ()
