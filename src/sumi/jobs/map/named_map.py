"""The map that a user means by its configuration or by its database, and where what is made of it goes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import apsw


@contextmanager
def opened_map(place: str) -> Iterator[apsw.Connection]:
    from sumi.jobs.map.graph.database import opened

    with opened(database_of(place)) as db:
        yield db


def database_of(place: str) -> Path:
    """A file ending in ``.toml`` is a configuration, which names the database."""
    path = Path(place)
    if path.suffix.lower() != ".toml":
        return path
    from sumi.jobs.map.config_file import load_map_config

    return load_map_config(path).output.database_path


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """The file is there whole at the end, or as it was before."""
    from sumi.files.safe_files import SafeFolder
    from sumi.state.folder import refuse_to_replace

    refuse_to_replace(path)
    folder = SafeFolder(path.parent, str(os.getpid()))
    try:
        with folder.stream_atomic(path.name) as file:
            yield file
    finally:
        folder.close()
