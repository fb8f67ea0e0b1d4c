"""What one call adds to a terrain beside the rows of the crawl itself.

Links and distances come by the thousand, so they are numbers in arrays, bound to one statement as they are:
two numbers below 2**32 are one of 64 bits.
"""

from array import array
from collections.abc import Iterable
from typing import NamedTuple

from msgspec import field

from sumi.jobs.map.store.states import PageState
from sumi.state.indexed.rows import Change


def pairs(items: Iterable[tuple[int, int]] = ()) -> "array[int]":
    return array("q", [first << 32 | second for first, second in items])


class Work(NamedTuple):
    """A page that came closer, and whose links have not been told yet."""

    depth: int
    page: int


class NewDepths(NamedTuple):
    """Distances of pages from one origin."""

    number: int  # of the origin, among all of them in order
    origin: str
    distances: "array[int]"  # page and distance


class DomainRow(NamedTuple):
    domain: str
    requests: int
    suspended: bool


class TerrainChange(Change):
    at: float = 0.0
    links: "array[int]" = field(default_factory=pairs)  # source and target
    revisited: list[tuple[int, set[int]]] = field(
        default_factory=list
    )  # pages read again, and all that they point to now
    depths: "list[NewDepths]" = field(default_factory=list)
    work_done: list[Work] = field(default_factory=list)  # of the stored work, what was taken up
    work: list[Work] = field(default_factory=list)  # and what is left to do
    heads: list[tuple[int]] = field(default_factory=list)  # pages whose HEAD was answered
    heads_done: list[tuple[int]] = field(default_factory=list)  # and those of them that ended
    domains: dict[str, DomainRow] = field(default_factory=dict)
    barred: list[tuple[str, PageState]] = field(
        default_factory=list
    )  # domains whose waiting pages are out of this run from here on
    readmitted: list[str] = field(default_factory=list)  # domains whose pages may be fetched after all
