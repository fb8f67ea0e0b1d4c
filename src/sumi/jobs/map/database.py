"""A map's database, opened read-only; a run may be writing to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from sumi.errors import StateDamaged, UsageError
from sumi.files.sqlite_file import BUSY_MS

_TABLES: Final = frozenset(
    (
        "runs",
        "pages",
        "page_depths",
        "links",
        "vanished_links",
        "blacklisted_urls",
        "stubbed_urls",
        "page_history",
    )
)


@contextmanager
def open_database(path: Path) -> Iterator[apsw.Connection]:
    """One read transaction: everything read within the block is consistent."""
    if not path.is_file():
        raise UsageError(
            f"{path} does not exist; give the database of a map, or run 'sumi map' first to make it"
        )
    try:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    except apsw.Error as error:
        raise UsageError(f"{path} cannot be opened: {error}") from None
    try:
        db.set_busy_timeout(BUSY_MS)
        db.execute("BEGIN")
        _check_tables(db, path)
        yield db
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise StateDamaged(f"{path} is not a database, or is damaged: {error}") from None
    finally:
        db.close()


def _check_tables(db: apsw.Connection, path: Path) -> None:
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    missing = sorted(_TABLES - there)
    if missing:
        raise UsageError(f"{path} is not the database of a map: it has no table {missing[0]}")


@contextmanager
def open_map(place: str) -> Iterator[apsw.Connection]:
    """The map that the user named by its configuration or its database."""
    with open_database(database_path(place)) as db:
        yield db


def database_path(place: str) -> Path:
    """``place`` itself, or the database that a configuration (``.toml``) names, also one in that folder."""
    path = Path(place)
    if path.is_dir() and (path / "map.toml").is_file():
        path /= "map.toml"
    if path.suffix.lower() != ".toml":
        return path
    from sumi.jobs.map.config import load_map_config

    return load_map_config(path).output.database_path
