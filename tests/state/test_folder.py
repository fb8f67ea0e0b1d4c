"""The marker of a state is never cut short, and two folders swap names, whatever the system offers for it."""

import os
from pathlib import Path

import pytest

from sumi.errors import UsageError
from sumi.state.folder import FORMAT_NAME, WINDOW_FOLDER, exchange, mark_folder, refuse_to_replace


@pytest.mark.parametrize("at_once", [True, False], ids=["in one step", "in three"])
def test_two_folders_swap_their_names(at_once: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for place in (one, other):
        place.mkdir()
        (place / "name").write_text(place.name)
    if not at_once:
        monkeypatch.setattr("ctypes.CDLL", lambda *_names, **_options: object())
    exchange(one, other)
    assert [(place / "name").read_text() for place in (one, other)] == ["other", "one"]
    assert {place.name for place in tmp_path.iterdir()} == {"one", "other"}


def test_a_marker_is_durable_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[str, bool]] = []

    def fsync(descriptor: int) -> None:
        name = Path(os.readlink(f"/proc/self/fd/{descriptor}")).name
        synced.append((name, (tmp_path / FORMAT_NAME).exists()))

    monkeypatch.setattr("os.fsync", fsync)
    mark_folder(tmp_path, "files", 1)
    assert synced == [("format.tmp", False), (tmp_path.name, True)]


@pytest.mark.parametrize("state", [".", ".sumi", "state/unified"], ids=["state", "mirror", "workspace"])
def test_nothing_is_written_into_the_folder_of_a_job_except_for_the_window(
    tmp_path: Path, state: str
) -> None:
    home = tmp_path / "home"
    (home / state).mkdir(parents=True)
    mark_folder(home / state, "files", 1)
    for inside in (home, home / "pages.jsonl", home / "pages" / "one.md", home / state / FORMAT_NAME):
        with pytest.raises(UsageError, match="the folder of a job: name a place outside it"):
            refuse_to_replace(inside)
    for free in (tmp_path / "pages.jsonl", home / WINDOW_FOLDER / "pages.jsonl"):
        refuse_to_replace(free)
