"""The state of a map: one SQLite file with the crawl's own tables and those that people query."""

from sumi.jobs.map.store.runs import COMPLETED, INTERRUPTED, Beginning, MapRun
from sumi.jobs.map.store.store import MapStore

__all__ = ["COMPLETED", "INTERRUPTED", "Beginning", "MapRun", "MapStore"]
