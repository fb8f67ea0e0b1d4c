"""Two folders swap their names, whatever the system offers for it."""

from pathlib import Path

import pytest

from sumi.state.folder import exchange


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
