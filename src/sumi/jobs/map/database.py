"""The database of a map, opened to be looked at, also while a run writes to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import apsw

from sumi.errors import StateDamaged, UsageError

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
BUSY_MS: Final = 5000


@contextmanager
def opened(path: Path) -> Iterator[apsw.Connection]:
    """Everything that is read within the block is of one moment."""
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
def opened_map(place: str) -> Iterator[apsw.Connection]:
    """The map that a user names by its configuration or by its database."""
    with opened(database_of(place)) as db:
        yield db


def database_of(place: str) -> Path:
    """A file ending in ``.toml`` is a configuration, which names the database."""
    path = Path(place)
    if path.suffix.lower() != ".toml":
        return path
    from sumi.jobs.map.config import load_map_config

    return load_map_config(path).output.database_path
