"""Pruning forgets old versions and nothing else, wherever it is killed."""

import os
import signal
from contextlib import closing
from pathlib import Path

import pytest

from sumi.history.prune import prune
from sumi.history.store import History, history_violations
from sumi.model import PageFacts
from tests.history.test_store import recorder, texts_of

URL = "https://e.org/page"
GONE = "https://e.org/gone"
TEXTS = [b"A line of the page.\n" * 40 + b"Version %d.\n" % number for number in range(8)]


def write(folder: Path) -> None:
    with closing(recorder(folder)) as history:
        for at, text in enumerate(TEXTS):
            history.page(URL, text, PageFacts(title="T"), float(at))
        history.page(GONE, TEXTS[0] + b"Gone.\n", PageFacts(title="G"), 1.0)
        history.gone(GONE, 2.0)
        history.end(finished=True)


def kill_at(step: str, number: int) -> None:
    """In a child: end as by the system when a step is done for the nth time."""
    done, count = getattr(History, step), 0

    def counting(*args: object) -> object:
        nonlocal count
        count += 1
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return done(*args)

    setattr(History, step, counting)


@pytest.mark.parametrize(
    ("step", "number"),
    [("start_pack", 1), ("add_text", 1), ("add_text", 3), ("sync", 1), ("remove_unused_packs", 1)],
)
def test_a_kill_leaves_the_history_as_it_was_or_as_it_is_to_be(
    tmp_path: Path, step: str, number: int
) -> None:
    folder = tmp_path / "history"
    write(folder)
    child = os.fork()
    if not child:
        kill_at(step, number)
        prune(folder, keep_seconds=3.0, now=8.0)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert list(history_violations(folder)) == []
    committed = step in ("sync", "remove_unused_packs")
    assert texts_of(folder, URL) == (TEXTS[5:] if committed else TEXTS)

    assert prune(folder, keep_seconds=3.0, now=8.0).lost == 0
    assert texts_of(folder, URL) == TEXTS[5:]
    assert texts_of(folder, GONE) == [None]
    assert list(history_violations(folder)) == []
    assert len(list(folder.glob("texts-*.pack"))) == 1
    with closing(recorder(folder)) as history:  # the next change is a delta of what was kept
        history.page(URL, TEXTS[0], PageFacts(title="T"), 9.0)
    assert texts_of(folder, URL) == [*TEXTS[5:], TEXTS[0]]


def test_a_text_that_is_damaged_is_told_and_the_others_stay(tmp_path: Path) -> None:
    folder = tmp_path / "history"
    write(folder)
    with closing(History(folder)) as store:
        ((start, length),) = store.rows(
            "SELECT start, length FROM text ORDER BY start DESC LIMIT 1", ()
        )  # of the page that is gone
    with (folder / "texts-000001.pack").open("r+b") as pack:
        pack.seek(start)
        pack.write(bytes(length))
    assert prune(folder, keep_seconds=3.0, now=8.0).lost == 1
    assert texts_of(folder, URL) == TEXTS[5:]
