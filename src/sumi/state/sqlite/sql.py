# ruff: noqa: S608 - statements are put together from constants of this module and bound values only
"""Every statement of the SQLite backend, and why it is written this way."""

from sumi.state.entries import State

APPLICATION_ID = 0x53554D49  # "SUMI": lets `file` and us tell our databases from others
USER_VERSION = 2

WAITING, DELAYED, SETTLED = State.WAITING.value, State.DELAYED.value, State.SETTLED.value
BEHIND = State.BEHIND.value

# In the order of the fields of Row, which are bound and read in this order.
COLUMNS = (
    "id, url, host, hop, kind, depth, score, redirects, referrer, state, attempts, address, due, "
    "outcome, rule, at, facts, latest"
)
ATTEMPT_COLUMNS = "serial, previous, url_id, at, outcome, rule"  # likewise of AttemptRow

# urls: the row id is the discovery order, so new rows are appended and the ledger streams without a sort;
# only   the 16-byte keys are inserted all over their tree. waiting, delayed: partial indexes, which hold what
# is to do and shrink as it is done. Sitemaps go before   pages, hence ``turn``; the row id at the end of
# every index entry completes the order. attempts: appended, never searched by the crawl itself. Each names
# the previous one of its URL. behind: a partial index of retries. Databases of earlier versions get it when
# they are opened.
LAST_ID = "SELECT max(id) FROM urls"
INDEX_BEHIND = f"CREATE INDEX IF NOT EXISTS behind ON urls (host, turn, due) WHERE state = {BEHIND}"
SCHEMA = f"""
CREATE TABLE urls (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    hop TEXT NOT NULL,
    kind TEXT NOT NULL,
    depth INTEGER NOT NULL,
    score REAL NOT NULL,
    redirects INTEGER NOT NULL,
    referrer TEXT,
    state INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    address TEXT NOT NULL,
    due REAL,
    outcome TEXT,
    rule TEXT NOT NULL,
    at REAL,
    facts TEXT NOT NULL,
    latest INTEGER NOT NULL,
    key BLOB NOT NULL,
    turn INTEGER GENERATED ALWAYS AS (kind = 'page') VIRTUAL
);
CREATE UNIQUE INDEX by_key ON urls (key);
CREATE INDEX waiting ON urls (host, turn, depth, score) WHERE state = {WAITING};
CREATE INDEX delayed ON urls (due, host) WHERE state = {DELAYED};
{INDEX_BEHIND};
CREATE TABLE attempts (
    serial INTEGER PRIMARY KEY,
    previous INTEGER NOT NULL,
    url_id INTEGER NOT NULL,
    at REAL NOT NULL,
    outcome TEXT NOT NULL,
    rule TEXT NOT NULL
);
CREATE TABLE hosts (
    host TEXT PRIMARY KEY,
    crawl_delay REAL NOT NULL,
    hold_until REAL NOT NULL,
    hold_why TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE robots (
    origin TEXT PRIMARY KEY,
    status INTEGER NOT NULL,
    body BLOB NOT NULL,
    fetched_at REAL NOT NULL,
    trouble TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE totals (one INTEGER PRIMARY KEY CHECK (one = 1), json TEXT NOT NULL);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {USER_VERSION};
"""

FIND = f"SELECT {COLUMNS} FROM urls WHERE key = ?"

# The row comparison starts the index search where the queue begins, after what is leased, and the index
# covers all columns. States are literals because a partial index is only used for a condition that visibly
# implies its own.
QUEUE = f"""
SELECT turn, depth, score, id FROM urls
WHERE state = {WAITING} AND host = ? AND (turn, depth, score, id) >= (?, ?, ?, ?)
ORDER BY turn, depth, score, id LIMIT ?
"""
# In the order in which they are bound.
QUEUED = f"SELECT {COLUMNS} FROM carray(?) CROSS JOIN urls ON id = value"
DUE = f"SELECT {COLUMNS} FROM urls WHERE state = {DELAYED} AND due <= ? ORDER BY due LIMIT ?"
NEXT_DUE = f"SELECT min(due) FROM urls WHERE state = {DELAYED}"
BEHIND_OF = f"""
SELECT {COLUMNS} FROM urls WHERE state = {BEHIND} AND host = ? AND turn = ? ORDER BY due, id LIMIT ?
"""
FIRST_BEHIND = f"SELECT host, turn, min(due) FROM urls WHERE state = {BEHIND} GROUP BY host, turn"
FIRST_DUE = f"SELECT host, min(due) FROM urls WHERE state = {DELAYED} GROUP BY host"

INSERT = f"INSERT INTO urls ({COLUMNS}, key) VALUES ({', '.join('?' * 19)})"
# Without url, host and key: they never change, and an index whose columns are not set is not touched.
UPDATE = """
UPDATE urls SET hop = ?, kind = ?, depth = ?, score = ?, redirects = ?, referrer = ?, state = ?,
    attempts = ?, address = ?, due = ?, outcome = ?, rule = ?, at = ?, facts = ?, latest = ?
WHERE id = ?
"""
# The usual case: where and how a URL was found does not change.
END = """
UPDATE urls SET state = ?, attempts = ?, address = ?, due = ?, outcome = ?, rule = ?, at = ?, facts = ?,
    latest = ?
WHERE id = ?
"""
ADD_ATTEMPT = f"INSERT INTO attempts ({ATTEMPT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
PUT_HOST = "INSERT OR REPLACE INTO hosts (host, crawl_delay, hold_until, hold_why) VALUES (?, ?, ?, ?)"
PUT_ROBOTS = (
    "INSERT OR REPLACE INTO robots (origin, status, body, fetched_at, trouble) VALUES (?, ?, ?, ?, ?)"
)
PUT_NOTE = "INSERT OR REPLACE INTO notes (key, value) VALUES (?, ?)"
PUT_TOTALS = "INSERT OR REPLACE INTO totals (one, json) VALUES (1, ?)"

GET_TOTALS = "SELECT json FROM totals"
GET_HOSTS = "SELECT host, crawl_delay, hold_until, hold_why FROM hosts"
GET_ROBOTS = "SELECT origin, status, body, fetched_at, trouble FROM robots WHERE origin = ?"
ALL_ROBOTS = "SELECT origin, status, body, fetched_at, trouble FROM robots"
ALL_NOTES = "SELECT key, value FROM notes"
GET_NOTE = "SELECT value FROM notes WHERE key = ?"

PAGE = f"SELECT {COLUMNS} FROM urls WHERE id > ? ORDER BY id LIMIT ?"
# A full scan by design: it is for manifests, which are written in this order.
PAGE_OF_OUTCOMES = (
    f"SELECT {COLUMNS} FROM urls WHERE id > ? "
    "AND coalesce(outcome, 'pending') IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT ?"
)
PAGE_WAITING_AGAIN = (
    f"SELECT {COLUMNS} FROM urls WHERE id > ? "
    "AND outcome IS NULL AND facts NOT IN ('', '{}') ORDER BY id LIMIT ?"
)
ATTEMPT = f"SELECT {ATTEMPT_COLUMNS} FROM attempts WHERE serial = ?"
ALL_ATTEMPTS = f"SELECT {ATTEMPT_COLUMNS} FROM attempts ORDER BY serial"
SETTLED_SINCE = (
    "SELECT DISTINCT url FROM attempts JOIN urls ON urls.id = url_id "
    f"WHERE serial > ? AND state = {SETTLED} ORDER BY serial"
)
# Once, on opening: each scans a partial index.
COUNT_WAITING = f"SELECT host, count(*) FROM urls WHERE state = {WAITING} GROUP BY host"
COUNT_DELAYED = f"SELECT host, count(*) FROM urls WHERE state = {DELAYED} GROUP BY host"
COUNT_BEHIND = f"SELECT host, count(*) FROM urls WHERE state = {BEHIND} GROUP BY host"
OPEN_SITEMAPS = " UNION ALL ".join(
    f"SELECT {COLUMNS} FROM urls WHERE state = {state} AND turn = 0 AND kind = 'sitemap'"
    for state in (WAITING, DELAYED, BEHIND)
)

# What a running crawl repeats; none of these may scan the table of URLs.
HOT = (
    FIND,
    QUEUE,
    QUEUED,
    DUE,
    BEHIND_OF,
    NEXT_DUE,
    INSERT,
    UPDATE,
    END,
    ADD_ATTEMPT,
    ATTEMPT,
    PUT_HOST,
    PUT_TOTALS,
    PAGE,
)
