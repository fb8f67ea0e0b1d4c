"""Which backend a state folder belongs to: ``format.json``, read before anything else is touched."""

import os
from pathlib import Path

import msgspec

from sumi.errors import StateError
from sumi.store.files.faults import explained
from sumi.store.files.journal import sync_folder

FORMAT_NAME = "format.json"


def claim_folder(folder: Path, backend: str, version: int, *, must_exist: bool = False) -> None:
    """Mark a new folder as this backend's; raise StateError if it is another's, or of another version."""
    path = folder / FORMAT_NAME
    if not path.exists():
        _mark(path, f'{{"sumi-state": "{backend}", "format": {version}}}\n')
        return
    owner, found = _read(path)
    if owner != backend:
        raise StateError(
            f"{folder} was made with --state {owner}, not {backend}: go on with --state {owner}, "
            "or convert it with `sumi state migrate`"
        )
    if found != version:
        raise StateError(
            f"{path} says format {found}, this version of sumi reads format {version}: "
            "use the version that wrote it, or start over with --fresh"
        )


def _mark(path: Path, text: str) -> None:
    """Whole or not at all: a marker cut short by a kill would be refused for ever after."""
    unfinished = path.with_suffix(".tmp")
    with explained(path):
        with unfinished.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        sync_folder(path.parent)


def refuse_other_backend(folder: Path, backend: str) -> None:
    """Raise StateError if there is state of another backend; a folder without any is fine."""
    path = folder / FORMAT_NAME
    owner = _read(path)[0] if path.exists() else backend
    if owner != backend:
        raise StateError(
            f"{folder} was made with --state {owner}, not {backend}: go on with --state {owner}, "
            "or convert it with `sumi state migrate`"
        )


def _read(path: Path) -> tuple[object, object]:
    try:
        said = msgspec.json.decode(path.read_bytes(), type=dict[str, str | int])
    except (OSError, msgspec.MsgspecError):
        said = {}
    return said.get("sumi-state", "something unknown"), said.get("format")
