"""Connections to PostgreSQL: verified TLS off this machine, no password on the command line, limits on
silence."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict

from sumi.errors import StateError, UsageError
from sumi.state.cluster.timing import Timing

_LOCAL = ("localhost", "127.0.0.1", "::1", "")


class Unreachable(StateError):
    """The database does not answer, now: trying again may help."""


@contextlib.contextmanager
def rights_explained(what: str) -> Iterator[None]:
    """A login that may only look, or not even that, is told so in a sentence."""
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        reason = str(error).partition("\n")[0]
        raise StateError(
            f"this login may not {what} ({reason}): let the owner of the tables GRANT sumi_worker TO it"
        ) from None


class Lost(Exception):
    """The session has ended, and with it all that this worker owned."""


def shown(address: str) -> str:
    """Without what should not be read by others, should somebody have put it there."""
    scheme, _, rest = address.partition("://")
    where = rest.partition("?")[0]
    userinfo, at, place = where.rpartition("@")
    return f"{scheme}://{userinfo.partition(':')[0]}{at}{place}"


def _settings(address: str) -> dict[str, Any]:
    try:
        given: dict[str, Any] = conninfo_to_dict(address)
    except psycopg.ProgrammingError as error:
        raise UsageError(f"{shown(address)} is not the address of a database: {error}") from None
    if given.get("password"):
        raise UsageError(
            f"{shown(address)} holds a password, which others can read: give it by PGPASSWORD, "
            "a password file (PGPASSFILE) or a service file (PGSERVICEFILE)"
        )
    if "sslmode" not in given and "PGSSLMODE" not in os.environ and not _is_local(given):
        given["sslmode"] = "verify-full"
        if "sslrootcert" not in given and "PGSSLROOTCERT" not in os.environ and not _own_root().exists():
            given["sslrootcert"] = "system"
    return given


def _own_root() -> Path:
    return Path.home() / ".postgresql" / "root.crt"


def _is_local(given: dict[str, Any]) -> bool:
    host = str(given.get("host") or os.environ.get("PGHOST", ""))
    if "service" in given or "PGSERVICE" in os.environ:
        return False
    return host in _LOCAL or host.startswith("/")


async def connect(address: str, timing: Timing, role: str = "reading") -> AsyncConnection[Any]:
    """``role``: shown in the server's list of sessions."""
    options = {
        "connect_timeout": 10,
        "keepalives_idle": 5,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": int(timing.network * 1000),
        "application_name": f"sumi {role}",
    }
    try:
        connection = await AsyncConnection.connect(**{**options, **_settings(address)}, autocommit=True)
    except psycopg.Error as error:
        reason = " ".join(str(error).split())
        raise Unreachable(f"the database at {shown(address)} cannot be reached: {reason}") from None
    if connection.info.server_version < 150000:
        version = connection.info.server_version // 10000
        await connection.close()
        raise StateError(f"the database at {shown(address)} is PostgreSQL {version}; 15 or later is needed")
    return connection


async def connect_owner(address: str, timing: Timing) -> AsyncConnection[Any]:
    """The session that holds locks and writes: the server ends it if it falls silent."""
    connection = await connect(address, timing, "worker")
    limits = {
        "idle_session_timeout": timing.session,
        "idle_in_transaction_session_timeout": timing.in_transaction,
        "statement_timeout": timing.network,
    }
    try:
        for name, seconds in limits.items():
            await connection.execute("SELECT set_config(%s, %s, false)", (name, f"{int(seconds * 1000)}ms"))
    except psycopg.Error:
        await connection.close()
        raise
    return connection
