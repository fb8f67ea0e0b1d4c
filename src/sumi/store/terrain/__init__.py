"""The state of a terrain map: one SQLite file with the crawl's own tables and those that people query."""

from sumi.store.terrain.runs import COMPLETED, INTERRUPTED, Beginning, MapRun
from sumi.store.terrain.store import TerrainStore

__all__ = ["COMPLETED", "INTERRUPTED", "Beginning", "MapRun", "TerrainStore"]
