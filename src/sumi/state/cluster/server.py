"""What is wrong with the settings of a database server, for jobs of many machines."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from psycopg import AsyncConnection, conninfo

from sumi.state.cluster.keys import BUCKETS
from sumi.state.cluster.schema import FORMAT, version_of

_MIB = 1024**2
_WRONG_CLOCK = 60.0  # seconds


class Check(NamedTuple):
    name: str
    found: str
    fault: str = ""  # what is wrong, and what to do; empty: nothing
    advice: str = ""  # what would be better, but works


class _Wanted(NamedTuple):
    name: str
    is_fine: Callable[[float], bool]
    words: str
    must: bool = False


# Sizes in bytes, times in seconds.
_SETTINGS = (
    _Wanted("max_wal_size", lambda size: size >= 4096 * _MIB, "16GB: fewer checkpoints, less log"),
    _Wanted("checkpoint_timeout", lambda seconds: seconds >= 600, "15min: whole pages are logged less often"),
    _Wanted("shared_buffers", lambda size: size >= 256 * _MIB, "a quarter of the server's memory"),
    _Wanted("wal_compression", bool, "lz4, or on: half of the log"),
    _Wanted("full_page_writes", bool, "on: off risks the database at a power cut", must=True),
    _Wanted("fsync", bool, "on: off risks the database at a power cut", must=True),
    _Wanted("autovacuum", bool, "on", must=True),
)
_UNITS = {"kB": 1024, "8kB": 8192, "MB": _MIB, "B": 1, "s": 1, "ms": 0.001, "min": 60, "": 1, None: 1}
_WORDS = {"on": 1.0, "off": 0.0, "pglz": 1.0, "lz4": 1.0, "zstd": 1.0}


async def examine(connection: AsyncConnection[Any]) -> list[Check]:
    answer = await connection.execute("SELECT name, setting, unit, current_setting(name) FROM pg_settings")
    settings = {name: (setting, unit, shown) for name, setting, unit, shown in await answer.fetchall()}
    checks = [
        await _tables(connection),
        _line(connection),
        _locks(settings),
        await _standby(connection, settings),
        await _clock(connection),
    ]
    for wanted in _SETTINGS:
        setting, unit, shown = settings[wanted.name]
        value = _WORDS.get(setting)
        value = float(setting) * _UNITS[unit] if value is None else value
        words = "" if wanted.is_fine(value) else f"set {wanted.name} to {wanted.words}"
        checks.append(Check(wanted.name, shown, words if wanted.must else "", "" if wanted.must else words))
    return [*checks, *await _roles(connection)]


async def _tables(connection: AsyncConnection[Any]) -> Check:
    found = await version_of(connection)
    if found is None:
        return Check("tables", "none", "run sumi state setup with this address")
    fault = "" if found == FORMAT else f"this version of sumi needs format {FORMAT}"
    return Check("tables", f"format {found}", fault)


def _line(connection: AsyncConnection[Any]) -> Check:
    """Sessions must be direct, and encrypted off this machine."""
    info = connection.info
    given = conninfo.conninfo_to_dict(info.dsn)
    if connection.pgconn.ssl_in_use:
        mode = given.get("sslmode")
        fault = "" if mode == "verify-full" else "its certificate is not verified: use sslmode=verify-full"
        return Check("connection", f"TLS, {mode}", fault)
    local = not info.host or info.host.startswith("/") or info.host in ("localhost", "127.0.0.1", "::1")
    return Check("connection", "not encrypted", "" if local else "use sslmode=verify-full")


def _locks(settings: dict[str, tuple[str, str | None, str]]) -> Check:
    """A worker alone in a job holds a lock for each of its buckets."""
    number = {name: int(settings[name][0]) for name in ("max_locks_per_transaction", "max_connections")}
    room = number["max_locks_per_transaction"] * (
        number["max_connections"] + int(settings["max_prepared_transactions"][0])
    )
    jobs = room // (2 * BUCKETS)
    shown = f"{room:,} ({number['max_locks_per_transaction']} x {number['max_connections']})"
    if jobs >= 1:
        return Check(
            "locks",
            shown,
            "",
            "" if jobs >= 4 else f"enough for {jobs} job{'s' if jobs > 1 else ''} at once: raise it for more",
        )
    wanted = -(-2 * BUCKETS // number["max_connections"])
    return Check(
        "locks", shown, f"set max_locks_per_transaction to {max(wanted, 256)} and restart the server"
    )


async def _standby(
    connection: AsyncConnection[Any], settings: dict[str, tuple[str, str | None, str]]
) -> Check:
    row = await (await connection.execute("SELECT pg_is_in_recovery()")).fetchone()
    if row is not None and row[0]:
        return Check("server", "a standby", "give the address of the primary: a standby takes no writes")
    commit, standby = settings["synchronous_commit"][0], settings["synchronous_standby_names"][0]
    if commit == "off":
        return Check(
            "server",
            "primary",
            "",
            "synchronous_commit is off: a crash of the server repeats pages of its last second",
        )
    return Check("server", f"primary, {'with' if standby else 'without'} a synchronous standby")


async def _clock(connection: AsyncConnection[Any]) -> Check:
    """Only durations are compared, so that a difference is worth a word and no more."""
    row = await (await connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8")).fetchone()
    ahead = 0.0 if row is None else row[0] - time.time()
    advice = "differs from ours, which does no harm; an object store refuses clocks that are wrong"
    shown = f"{ahead:+,.0f} s" if abs(ahead) >= 1 else "as ours"
    return Check("clock", shown, "", advice if abs(ahead) > _WRONG_CLOCK else "")


async def _roles(connection: AsyncConnection[Any]) -> list[Check]:
    """What this login may do in the tables."""
    if await version_of(connection) is None:
        return []
    answer = await connection.execute(
        """SELECT current_user, (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
        has_table_privilege('sumi.ending', 'INSERT'), has_table_privilege('sumi.ending', 'DELETE'),
        has_table_privilege('sumi.url', 'SELECT')"""
    )
    row = await answer.fetchone()
    assert row is not None
    user, is_super, writes, deletes, reads = row
    kind = "worker" if writes else "reader" if reads else "stranger"
    kind = "owner" if deletes else kind
    fault = "" if reads else "GRANT sumi_worker or sumi_reader TO it"
    advice = "workers need no superuser: GRANT sumi_worker TO a login of their own" if is_super else ""
    return [Check("login", f"{user}, {kind}", fault, advice)]
