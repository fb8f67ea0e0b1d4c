"""Connections to PostgreSQL: verified TLS off this machine, no password on the command line, limits on
silence."""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict

from sumi.errors import StateError, UsageError
from sumi.events import Listener, Warned
from sumi.state.cluster.timing import Timing, steady

# It warns of sessions that end, which we tell in words of our own.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

_LOCAL = ("localhost", "127.0.0.1", "::1", "")


class Unreachable(StateError):
    """The database does not answer, now. ``patience``: seconds for which trying again may help."""

    def __init__(self, message: str, patience: float = 0.0) -> None:
        super().__init__(message)
        self.patience = patience


LOST_PATIENCE = 60.0
# A server that restarts, or a line that is cut. A refusal is more often a wrong address.
_PASSES: Final = ("timeout", "server closed", "system is", "too many", "reset by peer")
_PASSING: Final = (("refused", 3.0), *((words, LOST_PATIENCE) for words in _PASSES))
_LOGIN: Final = "give the right one by PGPASSWORD, a password file or a service file"
_ADVICE: Final = {
    "password authentication failed": _LOGIN,
    "no password supplied": _LOGIN,
    'role "': "let an administrator CREATE ROLE ... LOGIN, or name another user in the address",
    "pg_hba.conf": "let the server's pg_hba.conf admit this login from here",
    "CONNECT privilege": "let its owner GRANT CONNECT ON it",
    'database "': "make it by createdb, or correct the address",
    "does not support SSL": "let the server have TLS, or ask for less by ?sslmode=disable",
    "certificate verify failed": "name the authority that signed it in PGSSLROOTCERT",
}
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 5.0
T = TypeVar("T")


async def patiently(work: Callable[[], Awaitable[T]], tell: Listener) -> T:
    """Again and again while the database may come back."""
    began, pause, told = steady(), _FIRST_PAUSE, ""
    while True:
        try:
            return await work()
        except Unreachable as error:
            if steady() + pause > began + error.patience:
                raise
            if str(error) != told:
                told = str(error)
                tell(Warned(f"{told}; trying again"))
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def has_ended(error: psycopg.Error) -> bool:
    """Whether the session is gone, or must be given up, rather than one statement wrong."""
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return True
    return error.diag.severity_nonlocalized in ("FATAL", "PANIC")


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
        patience = next((seconds for words, seconds in _PASSING if words in reason), 0.0)
        advice = next((f"; {todo}" for words, todo in _ADVICE.items() if words in reason), "")
        message = (
            f"the database at {shown(address)} cannot be {'used' if advice else 'reached'}: {reason}{advice}"
        )
        raise Unreachable(message, patience) from None
    if connection.info.server_version < 150000:
        version = connection.info.server_version // 10000
        await connection.close()
        raise StateError(f"the database at {shown(address)} is PostgreSQL {version}; 15 or later is needed")
    return connection


@asynccontextmanager
async def asking(address: str) -> AsyncIterator[AsyncConnection[Any]]:
    """A short session. Raises Unreachable, also if it ends meanwhile."""
    connection = await connect(address, Timing())
    try:
        yield connection
    except psycopg.Error as error:
        if not has_ended(error):
            raise
        reason = " ".join(str(error).split())
        message = f"the database at {shown(address)} does not answer any more: {reason}"
        raise Unreachable(message, LOST_PATIENCE) from None
    finally:
        await connection.close()


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
    except psycopg.Error as error:  # it was just there: the server is being restarted
        await connection.close()
        reason = " ".join(str(error).split())
        message = f"the database at {shown(address)} does not answer any more: {reason}"
        raise Unreachable(message, LOST_PATIENCE) from None
    except BaseException:
        await connection.close()
        raise
    return connection
