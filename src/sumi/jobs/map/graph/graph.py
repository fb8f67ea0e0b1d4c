"""A graph as two streams: rows of nodes, and links between their positions. No export needs it in memory."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple, TypeAlias

Value: TypeAlias = str | int | float | None
Row: TypeAlias = tuple[Value, ...]
Link: TypeAlias = tuple[
    int, int, int
]  # position of the source, of the target, and how many links it stands for


class Level(StrEnum):
    PAGE = "page"
    DOMAIN = "domain"


class ColumnType(StrEnum):
    TEXT = "text"
    WHOLE = "whole"
    REAL = "real"


class Column(NamedTuple):
    name: str
    type: ColumnType


class Graph(NamedTuple):
    """Nodes are numbered from 0 in the order of ``nodes()``. The first column is what a node is called."""

    columns: tuple[Column, ...]
    size: int  # how many nodes
    nodes: Callable[[], Iterator[Row]]
    links: Callable[[], Iterator[Link]]
    weighted: bool  # whether a link may stand for several
