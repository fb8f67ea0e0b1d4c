"""What one call adds to a terrain beside the rows of the crawl itself."""

from typing import NamedTuple

from msgspec import field

from sumi.store.indexed.rows import Change
from sumi.store.terrain.states import PageState


class Edge(NamedTuple):
    source: int
    target: int


class DepthRow(NamedTuple):
    page: int
    origin: str
    depth: int


class DomainRow(NamedTuple):
    domain: str
    requests: int
    suspended: bool


class TerrainChange(Change):
    at: float = 0.0
    edges: list[Edge] = field(default_factory=list)
    references: list[tuple[str, Edge]] = field(
        default_factory=list
    )  # "blacklisted" or "stubbed", and who points to it
    revisited: list[tuple[int, set[int]]] = field(
        default_factory=list
    )  # pages read again, and all that they point to now
    depths: list[DepthRow] = field(default_factory=list)
    work_done: list[DepthRow] = field(default_factory=list)  # of the stored depth work, what was taken up
    work: list[DepthRow] = field(default_factory=list)  # and what is left to do
    domains: list[DomainRow] = field(default_factory=list)
    barred: list[tuple[str, PageState]] = field(
        default_factory=list
    )  # domains whose waiting pages are out of this run from here on
    readmitted: list[str] = field(default_factory=list)  # domains whose pages may be fetched after all
