"""Two processes that use one database wait for each other for a moment instead of failing."""

from pathlib import Path

from sumi.files.sqlite_file import BUSY_MS, open_sqlite


def test_a_database_that_is_being_written_is_waited_for(tmp_path: Path) -> None:
    for readonly in (False, True):
        with open_sqlite(tmp_path / "some.sqlite", readonly=readonly) as db:
            assert db.pragma("busy_timeout") == BUSY_MS
        db.close()
