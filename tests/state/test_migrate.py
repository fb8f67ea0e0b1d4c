"""A migration that fails or is killed leaves its source untouched and no target; the next one works."""

import asyncio
from pathlib import Path

import pytest

from sumi.errors import StateError, StateLocked, UsageError
from sumi.model import Candidate
from sumi.policy import FrontierPolicy
from sumi.ports import Judged
from sumi.state import journal, sqlite
from sumi.state import migrate as migration
from sumi.state.entries import Stored
from sumi.state.journal import FilesStore
from sumi.state.migrate import migrate

NOW = 1000.0
URLS = 2500  # several batches


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()

    async def fill() -> None:
        store = FilesStore(folder, FrontierPolicy(), NOW)
        await store.add([Judged(Candidate(f"http://a.test/{number}")) for number in range(URLS)])
        await store.aclose()

    asyncio.run(fill())
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}


class Killed(BaseException):
    """As sudden as a signal."""


@pytest.mark.parametrize("batches", [0, 1, 2])
def test_killed_between_any_two_batches(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batches: int
) -> None:
    before, target = contents(source), tmp_path / "target"

    class Dying(FilesStore):
        left = batches

        async def restore(self, items: list[Stored]) -> None:  # type: ignore[override]
            if not self.left:
                raise Killed
            self.left -= 1
            await super().restore(items)

    monkeypatch.setattr(sqlite, "SqliteStore", Dying)
    with pytest.raises(Killed):
        asyncio.run(migrate(source, target, "sqlite", NOW))
    assert contents(source) == before
    assert not target.exists()
    monkeypatch.undo()
    assert asyncio.run(migrate(source, target, "sqlite", NOW)) == URLS


def test_what_a_killed_migration_left_does_not_stop_the_next(source: Path, tmp_path: Path) -> None:
    left = tmp_path / ".target.unfinished"
    left.mkdir()
    (left / "journal-000001.log").write_bytes(b"half a rec")
    assert asyncio.run(migrate(source, tmp_path / "target", "files", NOW)) == URLS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source", "target"]


def test_a_source_in_use_is_refused(source: Path, tmp_path: Path) -> None:
    store = FilesStore(source, FrontierPolicy(), NOW)
    with pytest.raises(StateLocked):
        asyncio.run(migrate(source, tmp_path / "target", "files", NOW))
    asyncio.run(store.aclose())
    assert not (tmp_path / "target").exists()


def test_a_copy_that_lacks_anything_is_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(source)

    class Forgetful(FilesStore):
        async def restore(self, items: list[Stored]) -> None:  # type: ignore[override]
            await super().restore(items[:-1])

    monkeypatch.setattr(journal, "FilesStore", Forgetful)
    with pytest.raises(StateError, match="not copied completely"):
        asyncio.run(migrate(source, tmp_path / "target", "files", NOW))
    assert contents(source) == before
    assert not (tmp_path / "target").exists()


def test_an_unknown_backend_is_refused_with_those_there_are(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there are files"):
        asyncio.run(migration.migrate(source, tmp_path / "target", "paper", NOW))


def test_the_copy_is_on_the_disk_before_it_gets_its_name_and_its_name_then(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, done = tmp_path / "target", list[tuple[Path, bool]]()

    def sync(folder: Path) -> None:
        done.append((folder, target.exists()))

    monkeypatch.setattr(migration, "sync_folder", sync)
    asyncio.run(migrate(source, target, "files", NOW))
    assert done == [(tmp_path / ".target.unfinished", False), (tmp_path, True)]
