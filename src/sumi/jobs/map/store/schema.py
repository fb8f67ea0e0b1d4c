"""The database of a terrain map: tables that people query, beside those that the crawl itself needs.

A page has one number everywhere: ``pages.id`` is ``urls.id + 1``, and a blacklisted or stubbed address, and a
page's place in the queue, have the number of their page. A link's number is made of those of its ends, that
of a distance of its page's and its origin's: both stand in their tables where they are looked for. So nothing
is ever looked up to be written, and the crawl needs no index beside those of its own table.
"""

from sumi.state.sqlite import sql

APPLICATION_ID = 0x53554D4D  # "SUMM"
USER_VERSION = 3

# What is written for a million pages in a second or two of commits is kept as lean as the tables allow; what
# is only read by people (page_history) has no index of its own.
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

-- Links that a page had and was later seen without. They stay in links, whose discovered_run says since when.
CREATE TABLE vanished_links (
    from_page_id INTEGER NOT NULL REFERENCES pages(id),
    to_page_id INTEGER NOT NULL REFERENCES pages(id),
    run INTEGER NOT NULL REFERENCES runs(id),
    PRIMARY KEY (from_page_id, to_page_id)
) WITHOUT ROWID;

-- Pages that came closer, whose links have not been told yet: nearest first.
CREATE TABLE depth_work (
    depth INTEGER NOT NULL,
    page_id INTEGER NOT NULL REFERENCES pages(id),
    PRIMARY KEY (depth, page_id)
) WITHOUT ROWID;
"""

# Also made in maps from before there was one. Pages whose HEAD was answered, and whose content was not asked
# for yet.
HEADS_ANSWERED = """
CREATE TABLE IF NOT EXISTS heads_answered (page_id INTEGER PRIMARY KEY REFERENCES pages(id));
"""

PAGES_BY_DOMAIN = "CREATE INDEX IF NOT EXISTS idx_pages_domain ON pages(domain)"
# For whoever asks the finished map; a crawl asks none of this. Kept up from the first page on, they would
# cost more than all else: links lead anywhere and addresses come in no order, so that each entry would change
# another page of the file. Sorted at the end of the first run that completes, they cost seconds; then they
# are kept up. What they say is unique is so by the numbers of the rows already.
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

# The count follows the referrers by itself, so that no way of writing them can forget it.
NOTED = """
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
    + NOTED.format(name="blacklisted")
    + NOTED.format(name="stubbed")
    + f"PRAGMA application_id = {APPLICATION_ID};"
    + f"PRAGMA user_version = {USER_VERSION};"
)
