"""The file that ``indexer`` writes and ``views`` reads: the lists of one job, each by a key."""

from typing import Final

VIEW_VERSION: Final = 6  # part of the file's name: an older file is not read
SCHEMA: Final = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE url(
    id INTEGER PRIMARY KEY, url TEXT, host TEXT, outcome TEXT, ending TEXT, rule TEXT, kind TEXT, depth INT,
    referrer TEXT, at REAL, attempts INT, title TEXT, fidelity REAL, size INT, changed_at REAL, is_page INT,
    folder TEXT, facts BLOB);
CREATE INDEX url_url ON url(url);
CREATE INDEX url_group ON url(outcome, rule, id);
CREATE INDEX url_page ON url(url) WHERE is_page;
CREATE INDEX url_folder ON url(folder, url) WHERE is_page;
CREATE INDEX url_outcome ON url(outcome, id);
CREATE INDEX url_poor ON url(url) WHERE is_page AND fidelity < 0.9;
CREATE TABLE grouped(ending TEXT, outcome TEXT, rule TEXT, count INT);
CREATE TABLE folder(path TEXT PRIMARY KEY, parent TEXT, name TEXT, pages INT) WITHOUT ROWID;
CREATE INDEX folder_parent ON folder(parent, name);
CREATE TABLE host(name TEXT PRIMARY KEY, urls INT, at REAL, outcome TEXT, robots INT) WITHOUT ROWID;
CREATE TABLE fidelity(bucket INT PRIMARY KEY, pages INT) WITHOUT ROWID;
"""


ROOT_SLASHES: Final = 3  # https://host/
_MOST_LEVELS: Final = 64


def folders_of(url: str) -> list[str]:
    """``https://a/b/c`` → ``https://a/``, ``https://a/b/``: the folders of a tree of URLs, the root first."""
    scheme, _, rest = url.partition("?")[0].partition("#")[0].partition("://")
    host, _, path = rest.partition("/")
    found = [f"{scheme}://{host}/"]
    for name in path.split("/")[:-1][:_MOST_LEVELS]:
        found.append(f"{found[-1]}{name}/")
    return found
