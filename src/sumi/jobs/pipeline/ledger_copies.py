"""Files that follow the ledger: one line for every page that is up to date, exactly once, despite kills.

A line is written only after its page is durable in the ledger: it waits for two syncs, since the first may
have begun before the page was settled. So a power cut never leaves a line whose page the ledger does not
know, and readers never act on something that is later undone. Lines that a kill prevented are added when the
next run starts: it compares the pages of the killed run with the lines that are there.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import msgspec

from sumi.files.growing_file import GrowingFile
from sumi.frontier.freshness import NOT_MODIFIED
from sumi.model import Kind, PageFacts
from sumi.outcomes import UP_TO_DATE, Outcome, Verdict
from sumi.ports import Clock, Ledger, UrlRecord

NOTE = "copies.standing"
BATCH = 1000
_NOT_MODIFIED_RULE: Final = f"HTTP {NOT_MODIFIED}"
NOT_MODIFIED_VERDICT: Final = Verdict(Outcome.UNCHANGED, _NOT_MODIFIED_RULE)


# ── which records are copied, and how they are recognised ───────────────────────────────────────────────


def is_up_to_date_page(record: UrlRecord) -> bool:
    return record.kind is Kind.PAGE and record.outcome in UP_TO_DATE


def was_not_modified(record: UrlRecord) -> bool:
    """Whether the server answered 304; a page that was sent again with the same content does not count."""
    return record.outcome is Outcome.UNCHANGED and record.rule == _NOT_MODIFIED_RULE


def second_of(record: UrlRecord) -> int:
    return int(record.at or 0.0)


def identity(url: str, second: int) -> int:
    """Identifies one settlement of one page; small enough to hold for every line of a file."""
    return hash((url, second))


# ── the copies ─────────────────────────────────────────────────────────────────────────────────────────


class LineFormat(Protocol):
    """How a page becomes a line of a file."""

    header: bytes

    def line(self, record: UrlRecord) -> bytes | None:
        """Without a line end; None for a page that does not belong in the file."""
        ...

    def identities(self, lines: Iterator[bytes]) -> Iterator[int]:
        """The settlements that the lines record; unreadable lines are skipped."""
        ...


class Copy(Protocol):
    """A file, or something like it, that follows the ledger. ``mark`` says where this run's lines begin."""

    name: str  # the same in every run
    mark: str

    def present(self, mark: str) -> set[int]:
        """Identities of the settlements recorded since ``mark``; a torn last line is cut off."""
        ...

    def append(self, records: Sequence[UrlRecord], mark: str) -> None:
        """Durable on return."""
        ...


class Standing(msgspec.Struct, frozen=True):
    """A note in the ledger: when the last run began, where its lines are, and whether all are written."""

    started: float
    marks: dict[str, str]  # by name of the copy
    whole: bool
    since: float = 0.0  # start of the first run in a row of killed ones; 0: of this one


class LedgerCopies:
    def __init__(
        self,
        copies: Sequence[Copy],
        clock: Clock,
        on_copied: Callable[[Sequence[UrlRecord]], None] = lambda records: None,
        *,
        workspace: str = "",
        in_the_end: Sequence[Copy] = (),
    ) -> None:
        """``workspace``: whose copies these are, of a job that many machines share. ``in_the_end``: those
        that list the pages of all of them then."""
        self._copies = copies
        self._is_shared = bool(workspace)
        self._name = f"{NOTE}.{workspace}" if workspace else NOTE
        self._in_the_end = in_the_end
        self._clock = clock
        self._on_copied = on_copied  # called with settled pages once every copy has them
        self._fresh: list[UrlRecord] = []
        self._durable: list[UrlRecord] = []
        self._standing: Standing | None = None
        self._ledger: Ledger | None = None

    @property
    def since(self) -> float:
        """When this run began, or the killed run that it resumes."""
        return 0.0 if self._standing is None else self._standing.since

    async def load(self, ledger: Ledger, has_whole: Callable[[PageFacts], bool]) -> None:
        """Add the lines that a killed run did not write, and begin this run's.

        A page whose body a power cut took gets no line: it will be fetched again.
        """
        self._ledger = ledger
        before = await _read_standing(ledger, self._name)
        since = started = self._clock.now()
        if before is not None and not before.whole:
            since = before.since or before.started
            await self._complete(ledger, before, has_whole, self._copies)
        marks = {copy.name: copy.mark for copy in self._copies}
        self._standing = Standing(started, marks, whole=False, since=since)
        await _note(ledger, self._name, self._standing)

    def settled(self, record: UrlRecord) -> None:
        self._fresh.append(record)

    def take_due(self) -> list[UrlRecord]:
        """Called at the start of a sync: pages settled before the previous one began are durable by now."""
        due, self._durable, self._fresh = self._durable, self._fresh, []
        return due

    async def ask_for_another_sync(self) -> None:
        """If lines are waiting: a store without anything new to make durable would not sync again."""
        if self._durable and self._ledger is not None and self._standing is not None:
            await _note(self._ledger, self._name, self._standing)

    async def finish(self, ledger: Ledger, has_whole: Callable[[PageFacts], bool], *, is_over: bool) -> None:
        """Called at an orderly end, when everything settled is durable."""
        due, self._durable, self._fresh = self._durable + self._fresh, [], []
        self.write(due)
        if self._in_the_end and is_over:
            marks = {copy.name: copy.mark for copy in self._in_the_end}
            await self._complete(ledger, Standing(0.0, marks, whole=False), has_whole, self._in_the_end)
        if self._standing is not None:
            await _note(ledger, self._name, msgspec.structs.replace(self._standing, whole=True))

    def write(self, records: Sequence[UrlRecord]) -> None:
        """Slow: call it in a thread."""
        for copy in self._copies if records else ():
            copy.append(records, copy.mark)
        self._on_copied(records)

    async def _complete(
        self,
        ledger: Ledger,
        before: Standing,
        has_whole: Callable[[PageFacts], bool],
        copies: Sequence[Copy],
    ) -> None:
        unfinished = [
            _Unfinished(copy, before.marks[copy.name], copy.present(before.marks[copy.name]))
            for copy in copies
            if copy.name in before.marks
        ]
        # Times of a database are converted with an offset that is measured again and again.
        seconds = (-1, 0, 1) if self._is_shared else (0,)
        batch: list[UrlRecord] = []
        async for record in ledger.records(UP_TO_DATE):
            if (record.at or 0.0) >= before.started and is_up_to_date_page(record):
                batch.append(record)
            if len(batch) == BATCH:
                _add_missing(batch, unfinished, has_whole, seconds)
                batch = []
        _add_missing(batch, unfinished, has_whole, seconds)


class _Unfinished(NamedTuple):
    copy: Copy
    mark: str
    present: set[int]


def _add_missing(
    records: list[UrlRecord],
    unfinished: list[_Unfinished],
    has_whole: Callable[[PageFacts], bool],
    seconds: Sequence[int],
) -> None:
    """``seconds``: by which the time in a line may differ."""
    for copy, mark, present in unfinished:
        absent = [
            one
            for one in records
            if not any(identity(one.url, second_of(one) + by) in present for by in seconds)
        ]
        missing = [one for one in absent if has_whole(one.facts)]
        if missing:
            copy.append(missing, mark)


class FileCopy:
    """A copy that is a file; ``mark`` is its path, which may differ from run to run."""

    def __init__(self, name: str, path: Path, form: LineFormat) -> None:
        self.name = name
        self.mark = str(path)
        self._form = form

    def present(self, mark: str) -> set[int]:
        return set(self._form.identities(GrowingFile(Path(mark)).whole_lines()))

    def append(self, records: Sequence[UrlRecord], mark: str) -> None:
        lines = [line for line in map(self._form.line, records) if line is not None]
        if lines:
            GrowingFile(Path(mark)).append(lines, self._form.header)


async def _read_standing(ledger: Ledger, name: str) -> Standing | None:
    note = await ledger.get_note(name)
    try:
        return None if note is None else msgspec.json.decode(note, type=Standing)
    except msgspec.MsgspecError:
        return None


async def _note(ledger: Ledger, name: str, standing: Standing) -> None:
    await ledger.put_note(name, msgspec.json.encode(standing).decode())
