"""A diff of two versions makes the one of the other, as ``patch`` would, and shows no line twice."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from sumi.corpus.page_diffs import PageDiff, page_diff, word_lines
from sumi.history.recorder import HistoryRecorder
from sumi.history.store import History
from sumi.model import PageFacts
from tests.thoroughness import usually

URL = "https://e.org/a"
LINES = st.lists(st.sampled_from("abcdefgh"), max_size=40)


def diff_of(old: list[str], new: list[str]) -> PageDiff:
    with TemporaryDirectory() as place:
        recorder = HistoryRecorder(Path(place) / "history", lambda: 1000.0)
        for at, lines in enumerate((old, new)):
            recorder.page(URL, "".join(f"{line}\n" for line in lines).encode(), PageFacts(), float(at))
        recorder.close()
        store = History(Path(place) / "history")
        try:
            versions = store.versions(URL)  # one, if both are the same
            return page_diff(store, versions[0], versions[-1])
        finally:
            store.close()


def patched(old: list[str], diff: PageDiff) -> list[str]:
    """As patch(1): a hunk begins after the one before, and its lines are those that are there."""
    lines: list[str] = []
    at = 0
    for hunk in diff.hunks:
        start = hunk.old_start - bool(hunk.old_lines)
        assert start >= at
        lines += old[at:start]
        assert len(lines) == hunk.new_start - bool(hunk.new_lines)
        assert [line[1:] for line in hunk.lines if line[0] != "+"] == old[start : start + hunk.old_lines]
        lines += [line[1:] for line in hunk.lines if line[0] != "-"]
        at = start + hunk.old_lines
    return lines + old[at:]


@settings(max_examples=usually(40, 300), deadline=None)
@given(LINES, LINES)
def test_the_old_version_with_its_diff_is_the_new_one(old: list[str], new: list[str]) -> None:
    assert patched(old, diff_of(old, new)) == new


def test_changes_near_one_another_are_shown_together() -> None:
    old = [str(number) for number in range(30)]
    for gap, hunks in ((6, 1), (7, 2)):
        new = list(old)
        new[5] = new[6 + gap] = "changed"
        diff = diff_of(old, new)
        assert len(diff.hunks) == hunks
        assert patched(old, diff) == new


@settings(max_examples=usually(40, 300), deadline=None)
@given(st.lists(st.sampled_from(["a b", "a c", "b", "", "c d e"]), max_size=12), st.data())
def test_words_compared_are_the_words_of_both_versions(old: list[str], data: st.DataObject) -> None:
    new = data.draw(st.lists(st.sampled_from(["a b", "a x", "b", "", "d e"]), max_size=12))
    for hunk in diff_of(old, new).hunks:
        pieces = [piece for line in word_lines(hunk) for piece in line]
        for signs in ("- ", "+ "):
            shown = "".join(piece.text for piece in pieces if piece.sign in signs)
            lines = [line[1:] for line in hunk.lines if line[0] in signs]
            assert shown.replace("\n", "") == "".join(lines)
