"""The tables of all jobs, in a schema of their own. Only ``sumi state setup`` changes them; workers only
look.

Endings are appended and URLs inserted, so there is little to vacuum. What a URL's last ending says is
its state; without one it waits. Times are seconds since the epoch on the server's clock.
"""

from typing import Any

from psycopg import AsyncConnection, errors, sql

from sumi.errors import StateError
from sumi.state.cluster.keys import BUCKETS

FORMAT = 1
PARTITIONS = 64
SCHEMA = "sumi"
WORKER, READER = "sumi_worker", "sumi_reader"
_SETUP_LOCK = 0x53554D49

_TABLES = """
CREATE SCHEMA sumi;
CREATE TABLE sumi.version (number int NOT NULL);
CREATE TABLE sumi.job (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text UNIQUE NOT NULL,
    kind text NOT NULL,                       -- mirror
    recipe text NOT NULL,                     -- its settings as JSON, without secrets
    store text NOT NULL DEFAULT '',           -- where its contents are
    state text NOT NULL DEFAULT 'ready',      -- importing: not complete yet
    wish text NOT NULL DEFAULT 'run',         -- run, pause or stop
    pages_left bigint,                        -- of max_pages, not given to a worker yet; null: no limit
    totals jsonb NOT NULL DEFAULT '{}',       -- of workers that have left
    created timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);
CREATE TABLE sumi.worker (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job int NOT NULL REFERENCES sumi.job,
    name text NOT NULL,                       -- for people; it is alive while its lock is held
    pages_held bigint NOT NULL DEFAULT 0,
    stuck bigint NOT NULL DEFAULT 0,          -- its open URLs, if time will not help with any of them
    totals jsonb NOT NULL DEFAULT '{}',       -- what it changed: numbers that may be negative
    hosts jsonb NOT NULL DEFAULT '[]',        -- what some of its hosts wait for
    said timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);
CREATE TABLE sumi.bucket (
    job int NOT NULL REFERENCES sumi.job,
    id smallint NOT NULL,
    let_go boolean NOT NULL DEFAULT true,     -- left in order: an heir need not wait
    open bigint NOT NULL DEFAULT 0,           -- URLs to do, when it was last written
    PRIMARY KEY (job, id)
) WITH (fillfactor = 50);
CREATE TABLE sumi.url (
    job int NOT NULL, key uuid NOT NULL, host text NOT NULL, url text NOT NULL, hop text NOT NULL,
    kind text NOT NULL, depth int NOT NULL, score float8 NOT NULL, redirects int NOT NULL, referrer text,
    address text NOT NULL, refused text, rule text NOT NULL, seq bigint NOT NULL,
    PRIMARY KEY (job, key)
) PARTITION BY RANGE (key);
CREATE TABLE sumi.ending (
    job int NOT NULL, key uuid NOT NULL, serial int NOT NULL,
    what text NOT NULL,                       -- settled, failed, back, head (it was answered), again
    at float8 NOT NULL, outcome text NOT NULL, rule text NOT NULL,
    due float8 NOT NULL, attempts int NOT NULL, behind boolean NOT NULL, address text NOT NULL,
    settled_at float8,                        -- of the last settlement, and its facts
    facts text NOT NULL,
    PRIMARY KEY (job, key, serial)
) PARTITION BY RANGE (key);
CREATE TABLE sumi.mail (
    job int NOT NULL, bucket smallint NOT NULL, id bigint GENERATED ALWAYS AS IDENTITY, items bytea NOT NULL,
    PRIMARY KEY (job, bucket, id)
);
CREATE TABLE sumi.host (
    job int NOT NULL, host text NOT NULL, bucket smallint NOT NULL, crawl_delay float8 NOT NULL,
    hold_until float8 NOT NULL, hold_why text NOT NULL, PRIMARY KEY (job, bucket, host)
);
CREATE TABLE sumi.robots (
    job int NOT NULL, origin text NOT NULL, status int NOT NULL, body bytea NOT NULL, fetched_at float8
    NOT NULL, trouble text NOT NULL, PRIMARY KEY (job, origin)
);
CREATE TABLE sumi.note (job int NOT NULL, key text NOT NULL, value text NOT NULL, PRIMARY KEY (job, key));
CREATE INDEX ending_again ON sumi.ending (job, key) WHERE what = 'again';
ALTER TABLE sumi.mail SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE sumi.worker SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE sumi.bucket SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
"""

# Of maps. Databases of versions that shared none get them by ``sumi state setup`` too.
_MAP_TABLES = """
CREATE TABLE sumi.link (                      -- all links of a page that was read
    job int NOT NULL, key uuid NOT NULL, targets bytea NOT NULL, PRIMARY KEY (job, key)
);
CREATE TABLE sumi.spent (                     -- of a host: requests of the run, and why it asks no more
    job int NOT NULL, host text NOT NULL, bucket smallint NOT NULL, requests int NOT NULL, why text NOT NULL,
    PRIMARY KEY (job, bucket, host)
);
"""

_RIGHTS = f"""
GRANT USAGE ON SCHEMA sumi TO {WORKER}, {READER};
GRANT SELECT ON ALL TABLES IN SCHEMA sumi TO {WORKER}, {READER};
GRANT INSERT, UPDATE ON sumi.job, sumi.worker, sumi.bucket, sumi.url, sumi.ending, sumi.mail, sumi.host,
    sumi.robots, sumi.note, sumi.link, sumi.spent TO {WORKER};
GRANT DELETE ON sumi.mail, sumi.worker TO {WORKER};
"""


def _partitions() -> str:
    """By ranges of keys: each holds whole buckets, and could become a server of its own."""
    step, statements = (1 << 128) // PARTITIONS, []
    for number in range(PARTITIONS):
        first = "MINVALUE" if not number else f"'{number * step:032x}'"
        last = "MAXVALUE" if number == PARTITIONS - 1 else f"'{(number + 1) * step:032x}'"
        statements += [
            f"CREATE TABLE sumi.{table}_{number:02d} PARTITION OF sumi.{table} "
            f"FOR VALUES FROM ({first}) TO ({last});"
            for table in ("url", "ending")
        ]
    return "\n".join(statements)


async def set_up(connection: AsyncConnection[Any]) -> list[str]:
    """Make what is missing, in one transaction; returns what was done, and what somebody else has to do."""
    said = []
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_SETUP_LOCK,))
        found = await version_of(connection)
        if found is None:
            await connection.execute(_TABLES)
            await connection.execute(_partitions())
            await connection.execute(_MAP_TABLES)
            await connection.execute("INSERT INTO sumi.version VALUES (%s)", (FORMAT,))
            said.append(f"made the tables of format {FORMAT} in the schema {SCHEMA}")
        elif found != FORMAT:
            raise wrong_format(found)
        elif await has_map_tables(connection):
            said.append(f"the tables are there, in format {FORMAT}")
        else:
            await connection.execute(_MAP_TABLES)
            said.append("made the tables of maps; the others are there")
    return [*said, await _grant(connection)]


async def _grant(connection: AsyncConnection[Any]) -> str:
    """Roles with no more rights than they need; logins are members of one of them."""
    owns = await connection.execute(
        "SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = %s", (SCHEMA,)
    )
    if not (await owns.fetchone() or (False,))[0]:  # the server would only warn
        return "the rights of the roles are as they were: this login does not own the tables"
    try:
        async with connection.transaction():
            for role in (WORKER, READER):
                known = await connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,))
                if await known.fetchone() is None:
                    await connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role)))
            await connection.execute(_RIGHTS)
    except errors.InsufficientPrivilege:
        return (
            f"the roles {WORKER} and {READER} could not be made: this login may not create roles; "
            "let one that may run `sumi state setup` once more, or work as the owner of the tables"
        )
    return f"the roles {WORKER} and {READER} have their rights: GRANT {WORKER} TO the logins of workers"


async def version_of(connection: AsyncConnection[Any]) -> int | None:
    """None: there are no tables yet."""
    answer = await connection.execute("SELECT to_regnamespace('sumi') IS NOT NULL")
    row = await answer.fetchone()
    if row is None or not row[0]:
        return None
    try:
        row = await (await connection.execute("SELECT max(number) FROM sumi.version")).fetchone()
    except errors.InsufficientPrivilege:
        user = connection.info.user
        raise StateError(
            f"{user} may not read the tables of Sumi in this database: let their owner "
            f"GRANT {WORKER} TO {user} (or {READER}, to look only)"
        ) from None
    return None if row is None else row[0]


async def has_map_tables(connection: AsyncConnection[Any]) -> bool:
    answer = await connection.execute("SELECT to_regclass('sumi.spent') IS NOT NULL")
    return bool((await answer.fetchone() or (False,))[0])


async def require_tables(connection: AsyncConnection[Any]) -> None:
    found = await version_of(connection)
    if found is None:
        raise StateError(
            "this database has no tables of Sumi yet: run `sumi state setup` with its address once"
        )
    if found != FORMAT:
        raise wrong_format(found)


def wrong_format(found: int) -> StateError:
    return StateError(
        f"this database has tables of format {found}, and this version of sumi works with format {FORMAT}: "
        "use the same version of sumi on every machine"
    )


INSERT_BUCKETS = f"INSERT INTO sumi.bucket (job, id) SELECT %s, generate_series(0, {BUCKETS - 1})"
