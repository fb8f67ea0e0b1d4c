"""Every version of a page reads back whole; a damaged pack loses only its own texts."""

import os
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sumi.errors import StateError
from sumi.history.recorder import HistoryRecorder
from sumi.history.store import DATABASE, History
from sumi.history.text_frames import LONGEST_CHAIN
from sumi.model import PageFacts
from tests.thoroughness import usually

URLS = ("https://e.org/a", "https://e.org/b", "https://e.org/c")
TEXTS = st.one_of(st.binary(max_size=300), st.text(max_size=200).map(str.encode))
# A text of one of the pages, or None: the page is gone.
STEPS = st.lists(st.tuples(st.sampled_from(URLS), st.none() | TEXTS), max_size=40)


def recorder(folder: Path) -> HistoryRecorder:
    return HistoryRecorder(folder, lambda: 1000.0)


def record(history: HistoryRecorder, url: str, text: bytes | None, at: float) -> None:
    if text is None:
        history.gone(url, at)
    else:
        history.page(url, text, PageFacts(title="T"), at)


def texts_of(folder: Path, url: str) -> list[bytes | None]:
    store = History(folder)
    try:
        return [None if v.sha256 is None else store.text(v.sha256) for v in store.versions(url)]
    finally:
        store.close()


@settings(max_examples=usually(20, 60), deadline=None)
@given(STEPS, st.data())
def test_random_versions_read_back_over_restarts_and_repeats(
    steps: list[tuple[str, bytes | None]], data: st.DataObject
) -> None:
    expected: dict[str, list[bytes | None]] = {url: [] for url in URLS}
    with TemporaryDirectory() as folder:
        place = Path(folder) / "history"
        history = recorder(place)
        for number, (url, text) in enumerate(steps):
            record(history, url, text, float(number))
            if data.draw(st.booleans()):  # as after a crash
                history.close()
                history = recorder(place)
                record(history, url, text, float(number))
            known = expected[url]
            if (text is not None or known) and (not known or known[-1] != text):
                known.append(text)
        history.end(finished=True)
        history.close()
        assert {url: texts_of(place, url) for url in URLS} == expected
        store = History(place)
        try:
            assert len(store.runs()) == 1
            live = {url for url, known in expected.items() if known and known[-1] is not None}
            assert set(store.live_urls()) == live
        finally:
            store.close()


def manual(edit: int) -> bytes:
    return "".join(f"Line {n} of a manual, which says {n * 7919 % 1000}.\n" for n in range(400)).encode() + (
        f"edit {edit}\n".encode() * edit
    )


def test_later_versions_are_deltas_in_chains_that_end(tmp_path: Path) -> None:
    history = recorder(tmp_path / "h")
    for edit in range(40):
        history.page(URLS[0], manual(edit), PageFacts(), float(edit))
    rows = history.store.rows("SELECT chain, length, base IS NULL FROM text ORDER BY start", ())
    history.close()
    assert [chain for chain, _, _ in rows] == [n % (LONGEST_CHAIN + 1) for n in range(40)]
    whole = [length for _, length, is_whole in rows if is_whole]
    deltas = [length for _, length, is_whole in rows if not is_whole]
    assert max(deltas) * 10 < min(whole)
    assert texts_of(tmp_path / "h", URLS[0]) == [manual(edit) for edit in range(40)]


def test_a_text_that_shares_little_is_stored_whole(tmp_path: Path) -> None:
    history = recorder(tmp_path / "h")
    history.page(URLS[0], os.urandom(5000), PageFacts(), 1.0)
    history.page(URLS[0], os.urandom(5000), PageFacts(), 2.0)
    assert history.store.rows("SELECT count(*) FROM text WHERE base IS NULL", ())[0][0] == 2
    history.close()


def test_a_text_is_stored_once_whatever_pages_have_it(tmp_path: Path) -> None:
    history = recorder(tmp_path / "h")
    for number, url in enumerate([*URLS, *URLS]):
        history.page(url, b"the same\n", PageFacts(), float(number))
    assert history.store.rows("SELECT count(*) FROM text", ())[0][0] == 1
    assert history.store.last_seq() == 3
    history.close()


def test_a_page_written_again_with_the_same_text_is_recorded_as_it_is_now(tmp_path: Path) -> None:
    """Else every later run would read its file and compare it."""
    history = recorder(tmp_path / "history")
    for revision in ("one", "two"):
        history.page(URLS[0], b"text", PageFacts(revision=revision), 1.0)
    assert history.is_current(URLS[0], PageFacts(revision="two"))
    assert not history.is_current(URLS[0], PageFacts(revision="one"))
    history.close()


def test_a_damaged_pack_loses_only_its_own_texts(tmp_path: Path) -> None:
    folder = tmp_path / "h"
    history = recorder(folder)
    for number, url in enumerate(URLS):
        history.page(url, manual(number), PageFacts(), 1.0)
        history.store.start_pack()
    history.close()
    with (folder / "texts-000002.pack").open("r+b") as pack:
        pack.seek(40)
        pack.write(b"\xff" * 40)
    assert texts_of(folder, URLS[0]) == [manual(0)]
    assert texts_of(folder, URLS[1]) == [None]
    assert texts_of(folder, URLS[2]) == [manual(2)]


def test_a_full_pack_is_closed(tmp_path: Path) -> None:
    history = recorder(tmp_path / "h")
    for number, url in enumerate(URLS):
        history.page(url, manual(number), PageFacts(), 1.0)
        history.store.start_pack()
    opened = [os.readlink(entry) for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    assert [name for name in opened if name.endswith(".pack")] == []
    history.close()


def test_a_frame_in_anothers_place_is_not_taken_for_it(tmp_path: Path) -> None:
    folder = tmp_path / "h"
    history = recorder(folder)
    history.page(URLS[0], b"one text\n", PageFacts(), 1.0)
    history.page(URLS[1], b"two text\n", PageFacts(), 1.0)
    history.close()
    with closing(sqlite3.connect(folder / DATABASE)) as db:
        db.execute("UPDATE text SET start = 0")
        db.commit()
    assert texts_of(folder, URLS[0]) == [b"one text\n"]
    assert texts_of(folder, URLS[1]) == [None]


def test_texts_cut_off_by_a_power_cut_are_stored_again(tmp_path: Path) -> None:
    folder = tmp_path / "h"
    history = recorder(folder)
    history.page(URLS[0], manual(0), PageFacts(), 1.0)
    history.page(URLS[1], manual(1), PageFacts(), 1.0)
    history.close()
    pack = folder / "texts-000001.pack"
    os.truncate(pack, pack.stat().st_size - 1)
    history = recorder(folder)
    assert not history.is_current(URLS[1], PageFacts())
    history.page(URLS[1], manual(1), PageFacts(), 2.0)
    history.close()
    assert texts_of(folder, URLS[0]) == [manual(0)]
    assert texts_of(folder, URLS[1]) == [manual(1)]


def test_bytes_without_a_row_are_ignored(tmp_path: Path) -> None:
    folder = tmp_path / "h"
    history = recorder(folder)
    history.page(URLS[0], b"one\n", PageFacts(), 1.0)
    history.close()
    with (folder / "texts-000001.pack").open("ab") as pack:
        pack.write(b"what a kill left")
    history = recorder(folder)
    history.page(URLS[0], b"two\n", PageFacts(), 2.0)
    history.close()
    assert texts_of(folder, URLS[0]) == [b"one\n", b"two\n"]


def test_a_damaged_database_is_set_aside_and_told(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    folder.mkdir()
    (folder / DATABASE).write_bytes(b"not a database, but long enough to be taken for one" * 100)
    history = recorder(folder)
    history.page(URLS[0], b"one\n", PageFacts(), 1.0)
    history.close()
    assert "history.damaged-1" in history.note
    assert (tmp_path / "history.damaged-1" / DATABASE).is_file()
    assert texts_of(folder, URLS[0]) == [b"one\n"]


def test_a_history_of_a_later_version_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    recorder(folder).store.close()
    with closing(sqlite3.connect(folder / DATABASE)) as db:
        db.execute("PRAGMA user_version = 9")
    with pytest.raises(StateError, match="has version 9"):
        recorder(folder).page(URLS[0], b"one\n", PageFacts(), 1.0)


def test_a_moved_page_is_told_by_its_text(tmp_path: Path) -> None:
    history = recorder(tmp_path / "h")
    history.page(URLS[0], b"the text\n", PageFacts(), 1.0)
    history.end(finished=True)
    history.close()
    history = recorder(tmp_path / "h")
    history.gone(URLS[0], 2.0)
    history.page(URLS[1], b"the text\n", PageFacts(), 2.0)
    history.page(URLS[2], b"another\n", PageFacts(), 2.0)
    history.end(finished=True)
    history.end(finished=True)  # as after a kill at the end
    run = history.store.runs()[0]
    assert (run.added, run.changed, run.moved, run.gone) == (1, 0, 1, 0)
    old, new = history.store.versions(URLS[0])[-1], history.store.versions(URLS[1])[-1]
    assert (old.kind, old.other, new.kind, new.other) == ("moved", URLS[1], "added", URLS[0])
    assert old.previous == sha256(b"the text\n").digest() == new.sha256
    history.close()
