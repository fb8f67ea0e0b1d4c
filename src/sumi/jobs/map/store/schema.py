"""The database of a map: tables that people query, besides those that the crawl itself needs.

A page has the same id everywhere: ``pages.id`` is ``urls.id + 1``, and blacklisted URLs, stubbed URLs and
queue entries have the id of their page. The id of a link is composed of those of its two pages, the id of a
depth of its page and its origin. So no write needs a lookup, and the crawl needs no index besides those of
its own table.

Below the tables is every statement that a map runs besides the crawl's own, and why it is as it is.
"""

from typing import Final

from sumi.state.entries import State
from sumi.state.sqlite import sql

APPLICATION_ID = 0x53554D4D  # "SUMM"
USER_VERSION = 3

# Lean, because they are written for millions of pages; page_history, which only people read, has no index.
TABLES = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    started_at TEXT NOT NULL,
    finished_at TEXT,
    config_hash TEXT NOT NULL,
    status TEXT NOT NULL
);
CREATE INDEX idx_runs_status ON runs(status);

CREATE TABLE pages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT NOT NULL,
    domain TEXT NOT NULL,
    state TEXT NOT NULL,
    title TEXT,
    status_code INTEGER,
    content_type TEXT,
    last_modified TEXT,
    visited_at TEXT,
    discovered_at TEXT NOT NULL,
    discovered_run INTEGER NOT NULL REFERENCES runs(id),
    error_message TEXT,
    retry_count INTEGER DEFAULT 0,
    content_hash TEXT,  -- SHA-256 of the content as it came
    changed_run INTEGER REFERENCES runs(id)  -- the last one that found it new or other than before
);

CREATE TABLE page_depths (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- page_id << 20 | place of the origin among all, in order
    page_id INTEGER NOT NULL REFERENCES pages(id),
    quality_origin TEXT NOT NULL,
    depth INTEGER NOT NULL
);

CREATE TABLE links (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- from_page_id << 32 | to_page_id
    from_page_id INTEGER NOT NULL REFERENCES pages(id),
    to_page_id INTEGER NOT NULL REFERENCES pages(id),
    discovered_run INTEGER NOT NULL REFERENCES runs(id)
);

CREATE TABLE domain_states (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    domain TEXT NOT NULL UNIQUE,
    request_count INTEGER DEFAULT 0,
    rate_limited INTEGER DEFAULT 0,
    robots_txt TEXT,
    robots_fetched_at TEXT
);

CREATE TABLE frontier (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id INTEGER NOT NULL REFERENCES pages(id),
    priority INTEGER NOT NULL,
    added_at TEXT NOT NULL
);

-- Every state that a page entered after it was discovered, oldest first by rowid.
CREATE TABLE page_history (
    page_id INTEGER NOT NULL REFERENCES pages(id),
    at TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES runs(id),
    state TEXT NOT NULL,
    why TEXT NOT NULL
);

-- Links that have vanished from their page. They stay in links, where discovered_run says since when.
CREATE TABLE vanished_links (
    from_page_id INTEGER NOT NULL REFERENCES pages(id),
    to_page_id INTEGER NOT NULL REFERENCES pages(id),
    run INTEGER NOT NULL REFERENCES runs(id),
    PRIMARY KEY (from_page_id, to_page_id)
) WITHOUT ROWID;

-- Pages whose depth dropped and whose links have yet to be updated, nearest first.
CREATE TABLE depth_work (
    depth INTEGER NOT NULL,
    page_id INTEGER NOT NULL REFERENCES pages(id),
    PRIMARY KEY (depth, page_id)
) WITHOUT ROWID;
"""

# Pages whose HEAD was answered and whose content has yet to be requested. Also created in maps of versions
# that did not have it.
HEADS_ANSWERED = """
CREATE TABLE IF NOT EXISTS heads_answered (page_id INTEGER PRIMARY KEY REFERENCES pages(id));
"""

PAGES_BY_DOMAIN = "CREATE INDEX IF NOT EXISTS idx_pages_domain ON pages(domain)"
# For queries of people; a crawl needs none of them. From the start they would cost more than everything else:
# URLs and link targets come in random order, so each entry would change another page of the file. At the end
# of the first run that completes they take seconds; from then on SQLite maintains them. The ids of the rows
# already guarantee what they declare unique.
LATE_INDEXES = (
    "CREATE UNIQUE INDEX IF NOT EXISTS idx_pages_url ON pages(url)",
    PAGES_BY_DOMAIN,
    "CREATE INDEX IF NOT EXISTS idx_pages_state ON pages(state)",
    "CREATE INDEX IF NOT EXISTS idx_pages_discovered_run ON pages(discovered_run)",
    "CREATE UNIQUE INDEX IF NOT EXISTS idx_page_depths_page ON page_depths(page_id, quality_origin)",
    "CREATE INDEX IF NOT EXISTS idx_page_depths_origin ON page_depths(quality_origin)",
    "CREATE INDEX IF NOT EXISTS idx_page_depths_depth ON page_depths(depth)",
    "CREATE UNIQUE INDEX IF NOT EXISTS idx_links_from ON links(from_page_id, to_page_id)",
    "CREATE INDEX IF NOT EXISTS idx_links_to ON links(to_page_id)",
    "CREATE INDEX IF NOT EXISTS idx_frontier_priority ON frontier(priority, added_at)",
)

# A trigger keeps the count, so that no statement can forget it.
UNVISITED = """
CREATE TABLE {name}_urls (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT NOT NULL UNIQUE,
    domain TEXT NOT NULL,
    reference_count INTEGER DEFAULT 1,
    first_seen_run INTEGER NOT NULL REFERENCES runs(id)
);
CREATE INDEX idx_{name}_domain ON {name}_urls(domain);
CREATE INDEX idx_{name}_refs ON {name}_urls(reference_count DESC);
CREATE TABLE {name}_referrers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    {name}_url_id INTEGER NOT NULL REFERENCES {name}_urls(id),
    referrer_page_id INTEGER NOT NULL REFERENCES pages(id),
    discovered_run INTEGER NOT NULL REFERENCES runs(id),
    UNIQUE({name}_url_id, referrer_page_id)
);
CREATE TRIGGER {name}_counted AFTER INSERT ON {name}_referrers BEGIN
    UPDATE {name}_urls SET reference_count = reference_count + 1 WHERE id = NEW.{name}_url_id;
END;
"""

SCHEMA = (
    sql.SCHEMA
    + TABLES
    + HEADS_ANSWERED
    + UNVISITED.format(name="blacklisted")
    + UNVISITED.format(name="stubbed")
    + f"PRAGMA application_id = {APPLICATION_ID};"
    + f"PRAGMA user_version = {USER_VERSION};"
)

WAITING, DELAYED, SETTLED, REFUSED, BEHIND = (
    State.WAITING.value,
    State.DELAYED.value,
    State.SETTLED.value,
    State.REFUSED.value,
    State.BEHIND.value,
)
OPEN = f"{WAITING}, {DELAYED}, {BEHIND}"

LAST_RUN: Final = "SELECT id, config_hash, status FROM runs ORDER BY id DESC LIMIT 1"

FINISHED_AT: Final = "SELECT finished_at FROM runs WHERE id = ?"

# A covering index answers it; keys are sorted as in the index.
FIND_IDS: Final = "SELECT id, key FROM carray(?1) CROSS JOIN urls ON key = value"
BY_ID: Final = f"SELECT {sql.COLUMNS} FROM urls WHERE id = ?"  # noqa: S608 - constants only

ADD_PAGE: Final = (
    "INSERT INTO pages (id, url, domain, state, discovered_at, discovered_run, error_message, retry_count) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
# The title and dates of the last answer stay when the page no longer answers.
END_PAGE: Final = """
UPDATE pages SET state = ?1, title = coalesce(?2, title), status_code = ?3, content_type = ?4,
    last_modified = coalesce(?5, last_modified), visited_at = coalesce(?6, visited_at), error_message = ?7,
    retry_count = ?8, changed_run = CASE WHEN ?9 IS NULL OR ?9 IS content_hash THEN changed_run ELSE ?10 END,
    content_hash = coalesce(?9, content_hash)
WHERE id = ?11
"""
MOVE_PAGE: Final = "UPDATE pages SET state = ?, retry_count = ? WHERE id = ?"
ADD_HISTORY: Final = "INSERT INTO page_history (page_id, at, run, state, why) VALUES (?, ?, ?, ?, ?)"

QUEUE_PAGE: Final = (
    "INSERT OR REPLACE INTO frontier (id, page_id, priority, added_at) VALUES (?1, ?1, ?2, ?3)"
)
PRIORITIZE: Final = "UPDATE frontier SET priority = ? WHERE id = ?"
UNQUEUE_PAGE: Final = "DELETE FROM frontier WHERE id = ?"

# Pairs are packed into one array: one statement for thousands, which updates AUTOINCREMENT only once.
FIRST, SECOND = "value >> 32", "value & 4294967295"
ADD_LINKS: Final = f"""
INSERT OR IGNORE INTO links (id, from_page_id, to_page_id, discovered_run)
SELECT value, {FIRST}, {SECOND}, ?2 FROM carray(?1)
"""  # noqa: S608 - constants only
# CROSS JOIN fixes the order: from the array into the table.
TARGETS: Final = """
SELECT from_page_id, to_page_id
FROM carray(?1) CROSS JOIN links ON id BETWEEN value << 32 AND value << 32 | 4294967295
"""
ADD_VANISHED: Final = "INSERT OR IGNORE INTO vanished_links (from_page_id, to_page_id, run) VALUES (?, ?, ?)"
FORGET_VANISHED: Final = "DELETE FROM vanished_links WHERE from_page_id = ? AND to_page_id = ?"

# The id of a depth: its page's id, then its origin's number.
DEPTH_ID: Final = f"({FIRST}) << 20 | ?3"
DEPTHS: Final = """
SELECT page_id, id & 1048575, depth
FROM carray(?1) CROSS JOIN page_depths ON id BETWEEN value << 20 AND value << 20 | 1048575
"""
PUT_DEPTHS: Final = f"""
INSERT INTO page_depths (id, page_id, quality_origin, depth)
SELECT {DEPTH_ID}, {FIRST}, ?2, {SECOND} FROM carray(?1) WHERE true
ON CONFLICT (id) DO UPDATE SET depth = excluded.depth
"""  # noqa: S608
GET_WORK: Final = "SELECT depth, page_id FROM depth_work ORDER BY depth LIMIT ?"
CLEAR_WORK: Final = "DELETE FROM depth_work WHERE depth = ? AND page_id = ?"
PUT_WORK: Final = "INSERT OR IGNORE INTO depth_work (depth, page_id) VALUES (?, ?)"

PUT_DOMAIN: Final = (
    "INSERT INTO domain_states (domain, request_count, rate_limited) VALUES (?, ?, ?) "
    "ON CONFLICT (domain) DO UPDATE SET request_count = excluded.request_count, "
    "rate_limited = excluded.rate_limited"
)
PUT_DOMAIN_ROBOTS: Final = (
    "INSERT INTO domain_states (domain, robots_txt, robots_fetched_at) VALUES (?, ?, ?) "
    "ON CONFLICT (domain) DO UPDATE SET robots_txt = excluded.robots_txt, "
    "robots_fetched_at = excluded.robots_fetched_at"
)
GET_DOMAINS: Final = (
    "SELECT domain, request_count, rate_limited FROM domain_states WHERE request_count OR rate_limited"
)

GET_HEADS: Final = "SELECT page_id FROM heads_answered"
PUT_HEAD: Final = "INSERT OR IGNORE INTO heads_answered (page_id) VALUES (?)"
CLEAR_HEAD: Final = "DELETE FROM heads_answered WHERE page_id = ?"

LIMITED_DOMAINS: Final = "SELECT DISTINCT domain FROM pages WHERE state = 'RequestLimitHit'"

# The open pages of a domain, with any port, by the crawl's own index of waiting URLs. Delayed URLs are few
# and scanned.
WITH_A_PORT: Final = "host > ?1 || ':' AND host < ?1 || ';'"
OPEN_OF_DOMAIN: Final = f"""
SELECT id + 1 FROM urls WHERE state = {WAITING} AND host = ?1
UNION ALL SELECT id + 1 FROM urls WHERE state = {WAITING} AND {WITH_A_PORT}
UNION ALL SELECT id + 1 FROM urls WHERE state = {BEHIND} AND host = ?1
UNION ALL SELECT id + 1 FROM urls WHERE state = {BEHIND} AND {WITH_A_PORT}
UNION ALL SELECT id + 1 FROM urls WHERE state = {DELAYED} AND (host = ?1 OR {WITH_A_PORT})
"""  # noqa: S608
# The pages in the array that are in state ?2.
NOTE_MOVED: Final = (
    "INSERT INTO page_history (page_id, at, run, state, why) "
    "SELECT id, ?3, ?4, ?5, ?6 FROM carray(?1) CROSS JOIN pages ON id = value WHERE state = ?2"
)
MOVE_PAGES: Final = "UPDATE pages SET state = ?3 WHERE id IN (SELECT value FROM carray(?1)) AND state = ?2"
UNQUEUE_PAGES: Final = (
    "DELETE FROM frontier WHERE id IN "
    "(SELECT id FROM carray(?1) CROSS JOIN pages ON id = value WHERE state = ?2)"
)
QUEUE_PAGES: Final = (
    "INSERT OR REPLACE INTO frontier (id, page_id, priority, added_at) "
    "SELECT pages.id, pages.id, depth, ?3 FROM carray(?1) CROSS JOIN pages ON pages.id = value "
    "CROSS JOIN urls ON urls.id = pages.id - 1 WHERE pages.state = ?2"
)


def add_unvisited(table: str) -> str:
    """A blacklisted or stubbed URL; its references are counted as they are found."""
    return f"INSERT OR IGNORE INTO {table}_urls (id, url, domain, reference_count, first_seen_run) VALUES (?, ?, ?, 0, ?)"  # noqa: E501, S608


def add_references(table: str, state: str) -> str:
    """The links to such URLs, which have the id of their page."""
    return f"""
    INSERT OR IGNORE INTO {table}_referrers ({table}_url_id, referrer_page_id, discovered_run)
    SELECT its.id, {FIRST}, ?2 FROM carray(?1) CROSS JOIN {table}_urls its ON its.id = {SECOND}
        CROSS JOIN pages ON pages.id = its.id AND pages.state = '{state}'
    """  # noqa: S608


def count_known_references(table: str) -> str:
    return f"""
    INSERT OR IGNORE INTO {table}_referrers ({table}_url_id, referrer_page_id, discovered_run)
    SELECT to_page_id, from_page_id, ?2 FROM links WHERE to_page_id IN (SELECT value FROM carray(?1))
    """  # noqa: S608


def forget_visited(table: str, state: str) -> str:
    """URLs that are no longer in ``state``, because the configuration has changed."""
    unvisited = f"SELECT id FROM pages WHERE state = '{state}'"  # noqa: S608
    return f"""
    DELETE FROM {table}_referrers WHERE {table}_url_id NOT IN ({unvisited});
    DELETE FROM {table}_urls WHERE id NOT IN ({unvisited});
    """  # noqa: S608
