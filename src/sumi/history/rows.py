"""What a history stores of runs, pages and versions."""

from enum import StrEnum
from typing import NamedTuple

import msgspec


class ChangeKind(StrEnum):
    ADDED = "added"  # the first version
    CHANGED = "changed"
    GONE = "gone"
    BACK = "back"  # after it was gone
    MOVED = "moved"  # gone from this URL; ``other`` has it now
    REMADE = "remade"  # another text of the same page by another version of Sumi, or by sumi rebuild


NOT_THERE = frozenset({ChangeKind.GONE, ChangeKind.MOVED})


class HistoryRun(NamedTuple):
    """One run of a job, from its start to its end, however often it was interrupted in between."""

    id: int
    job: str  # of a folder of captures: which of them; "" for a mirror
    started_at: float
    ended_at: float | None = None
    status: str | None = None  # None while it runs, and after a kill
    added: int | None = None
    changed: int | None = None
    moved: int | None = None
    gone: int | None = None


class Head(NamedTuple):
    """The state of a page after its last version."""

    id: int
    versions: int
    live: bool
    sha256: bytes | None
    revision: str | None  # the ``revision`` of its facts: another one means that its file was written again


class Version(msgspec.Struct, frozen=True):
    """A change of a page. ``number`` counts the versions of its URL from 1; pruning changes no number."""

    seq: int  # over all pages of a history, in the order of recording
    url: str
    number: int
    run: int
    at: float
    kind: str
    sha256: bytes | None  # of its text; None for a page that is gone
    previous: bytes | None = None  # of the text before; None for a first version
    title: str | None = None
    fidelity: float | None = None
    added: int | None = None  # lines; None where there is nothing to compare with
    removed: int | None = None
    minor: bool = False  # only numbers and dates differ
    other: str | None = None  # of a move: where the page is now; of the page that is there: where it was

    @property
    def is_there(self) -> bool:
        return self.kind not in NOT_THERE


class PageChange(NamedTuple):
    """A page at two moments. ``pruned``: there was a version before, which is not known any more."""

    url: str
    before: Version | None
    last: Version
    pruned: bool
