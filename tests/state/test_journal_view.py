"""Reading a journal changes nothing, sees complete records, and distinguishes a torn write from damage."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.errors import StateDamaged
from sumi.model import Candidate
from sumi.outcomes import Outcome
from sumi.policy import FrontierPolicy
from sumi.ports import Judged
from sumi.state.journal import FilesStore
from sumi.state.journal.journal import BadLine, Journal, JournalView
from sumi.state.journal.salvage import damages, salvage
from sumi.state.lock import FolderLock, lock_owner
from tests.contract.backends import nothing_to_sync
from tests.contract.cases import DEFAULT, finish, page, put_back

PAYLOADS = [b'{"n":%d}' % number for number in range(20)]


def journal_with(folder: Path, synced: int) -> Path:
    """Twenty records, the first ``synced`` known to be on the disk."""
    journal = Journal(folder)
    journal.append(PAYLOADS[:synced])
    journal.mark_synced(journal.end)
    journal.append(PAYLOADS[synced:])
    journal.close()
    return folder / "journal-000001.log"


def seen(folder: Path) -> list[bytes]:
    return [payload for _, payload in JournalView(folder).replay() if b"sync" not in payload]


@given(cut=st.integers(1, 60))
def test_a_tail_that_is_being_written_is_not_there_yet(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    path = journal_with(folder, synced=10)
    torn = path.read_bytes()[:-cut]
    path.write_bytes(torn)
    payloads = seen(folder)
    assert payloads == PAYLOADS[: len(payloads)]
    assert len(payloads) >= 20 - cut // 20 - 1
    assert damages(folder) == []
    assert path.read_bytes() == torn


def test_what_is_written_after_opening_is_not_seen(tmp_path: Path) -> None:
    path = journal_with(tmp_path, synced=10)
    view = JournalView(tmp_path)
    with path.open("ab") as file:
        file.write(b"more, and not even whole")
    assert len([1 for line in view.lines() if not isinstance(line, BadLine)]) == 21


def test_damage_before_a_sync_mark_is_named_and_refused(tmp_path: Path) -> None:
    path = journal_with(tmp_path, synced=10)
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)
    (bad,) = damages(tmp_path)
    assert (bad.segment.path, bad.is_tail) == (path, False)
    with pytest.raises(StateDamaged, match=r"journal-000001\.log at byte"):
        seen(tmp_path)


def test_a_snapshot_is_taken_while_the_owner_works(tmp_path: Path) -> None:
    async def scenario() -> None:
        owner = FilesStore(tmp_path, FrontierPolicy(), 0.0)
        await owner.add([Judged(Candidate("http://a.test/1"))])
        snapshot = FilesStore.reading(tmp_path, FrontierPolicy(), 0.0)
        await owner.add([Judged(Candidate("http://a.test/2"))])
        assert (await snapshot.stats()).known == 1
        await snapshot.aclose()
        assert (await owner.stats()).known == 2
        await owner.aclose()

    asyncio.run(scenario())


def test_what_a_page_did_after_its_lost_requeueing_is_salvaged_with_right_counts(tmp_path: Path) -> None:
    folder = tmp_path / "state"

    async def crawled() -> None:
        store = FilesStore(folder, DEFAULT, 0.0)
        await store.add([page("/1")])
        [lease] = await store.lease(1, 0.0)
        await finish(store, lease)
        await store.requeue([lease.url], 1.0)
        [lease] = await store.lease(1, 2.0)
        await put_back(store, lease, at=2.0, not_before=3.0)
        [lease] = await store.lease(1, 4.0)
        await finish(store, lease)
        await store.sync(nothing_to_sync)
        await store.aclose()

    async def salvaged() -> None:
        lock = FolderLock(folder)
        salvage(folder)
        lock.release()
        store = FilesStore(folder, DEFAULT, 10.0)
        stats = await store.stats()
        assert (stats.pending, stats.captured, stats.outcomes) == (0, 1, {Outcome.CAPTURED: 1})
        await store.aclose()

    folder.mkdir()
    asyncio.run(crawled())
    journal = folder / "journal-000001.log"
    journal.write_bytes(journal.read_bytes().replace(b'"again"', b'"agaim"'))
    assert len(damages(folder)) == 1
    asyncio.run(salvaged())


def test_only_a_live_holder_of_the_lock_is_its_owner(tmp_path: Path) -> None:
    assert lock_owner(tmp_path) is None
    lock = FolderLock(tmp_path)
    assert lock_owner(tmp_path) is not None
    lock.release()
    assert lock_owner(tmp_path) is None  # its number is still written there
    (tmp_path / "lock").write_text("999999999")
    assert lock_owner(tmp_path) is None
    FolderLock(tmp_path).release()  # asking has taken nothing away
