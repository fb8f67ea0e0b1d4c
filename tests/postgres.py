"""A PostgreSQL server of the tests' own, in a folder of its own and on a free port; gone with the session."""

import atexit
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import pytest

# Debian's places; elsewhere the programs may be on the path.
_PLACES = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]


class Postgres:
    """The server: addresses of its databases, and ways to make it fail."""

    def __init__(self, programs: Path, primary: "Postgres | None" = None) -> None:
        """``primary``: of which it becomes a replica that follows."""
        self.programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="sumi-postgres-"))
        self._data = self.folder / "data"
        self._user = "postgres" if os.geteuid() == 0 else None
        if self._user is not None:  # the server refuses to run as root
            os.chown(self.folder, pwd.getpwnam(self._user).pw_uid, -1)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        if primary is None:
            self._run("initdb", "-D", self._data, "-U", "sumi", "--auth=trust", "--no-sync", "-E", "UTF8")
        else:
            copied = ("--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf", "--no-sync")
            self._run("pg_basebackup", "-D", self._data, "-d", primary.address(), *copied)
        self.start()

    @contextmanager
    def replica(self) -> Iterator["Postgres"]:
        found = Postgres(self.programs, self)
        try:
            yield found
        finally:
            found.remove()

    def _run(self, program: str, *arguments: "str | Path") -> None:
        done = subprocess.run(
            [self.programs / program, *arguments],
            user=self._user,
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            check=False,
        )
        assert done.returncode == 0, f"{program} failed"

    def start(self) -> None:
        settings = (
            "listen_addresses=127.0.0.1",
            "max_connections=200",
            "max_locks_per_transaction=512",
            "fsync=off",
        )
        options = " ".join((f"-p {self.port} -k {self.folder}", *(f"-c {each}" for each in settings)))
        self._run(
            "pg_ctl",
            "-D",
            self._data,
            "-l",
            self.folder / "log",
            "-w",
            "-o",
            options,
            "start",
        )

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", self._data, "-m", mode, "-w", "stop")

    def address(self, database: str = "postgres", port: int | None = None) -> str:
        return f"postgresql://sumi@127.0.0.1:{port or self.port}/{database}"

    def sql(self, text: str, database: str = "postgres") -> str:
        """Run it, and return what it prints."""
        words = ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text, self.address(database)]
        done = subprocess.run(
            [self.programs / words[0], *words[1:]], capture_output=True, text=True, check=True
        )
        return done.stdout

    def error(self, text: str, address: str) -> str:
        """What it says when it is refused."""
        words = ["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text, address]
        done = subprocess.run([self.programs / "psql", *words], capture_output=True, text=True, check=False)
        assert done.returncode
        return done.stderr

    def create(self, database: str) -> None:
        self.sql(f"CREATE DATABASE {database}")

    def remove(self) -> None:
        with suppress(AssertionError):  # a test may have left it stopped
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


@cache
def _server() -> Postgres | str:
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        if os.geteuid() == 0:
            return "PostgreSQL does not run as root, and there is no user postgres"
    found = shutil.which("initdb")
    places = [*_PLACES, *([] if found is None else [Path(found).parent])]
    if not places:
        return "PostgreSQL is not installed (Debian: postgresql-15)"
    server = Postgres(places[0])
    atexit.register(server.remove)
    return server


def why_no_server() -> str:
    """Empty if there is one."""
    server = _server()
    return server if isinstance(server, str) else ""


def the_server() -> Postgres:
    """The one of this process, started when it is first needed; skips the test where there is none."""
    pytest.importorskip("psycopg")
    server = _server()
    if isinstance(server, str):
        pytest.skip(server)
    return server
