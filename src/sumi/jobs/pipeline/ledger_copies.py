"""Files that follow the ledger: a line for every kept page, each exactly once, whatever was killed when.

A line is written only after what it tells of is durable in the ledger: it waits for two syncs, as the first
makes its page durable and the second finds it so. Hence no power cut can leave a line whose page is unknown,
and no reader acts on something that is later taken back. What a kill cost a file is added when
the next run starts: it compares the pages of the run that died with the lines that are there.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

import msgspec

from sumi.model import Kind, PageFacts
from sumi.outcomes import UP_TO_DATE, Outcome, Verdict
from sumi.ports import Clock, Ledger, UrlRecord

NOTE = "copies.standing"
BATCH = 1000
NOT_MODIFIED: Final = 304
_NOT_MODIFIED_RULE: Final = f"HTTP {NOT_MODIFIED}"
NOT_MODIFIED_VERDICT: Final = Verdict(Outcome.UNCHANGED, _NOT_MODIFIED_RULE)


# ── which records a copy tells of, and how it knows them again ──────────────────────────────────────────


def is_up_to_date_page(record: UrlRecord) -> bool:
    return record.kind is Kind.PAGE and record.outcome in UP_TO_DATE


def was_not_modified(record: UrlRecord) -> bool:
    """The server said so; a page that came again with the same content is another matter."""
    return record.outcome is Outcome.UNCHANGED and record.rule == _NOT_MODIFIED_RULE


def second_of(record: UrlRecord) -> int:
    return int(record.at or 0.0)


def identity(url: str, second: int) -> int:
    """Of one settlement of one page, small enough to hold for every line of a file."""
    return hash((url, second))


# ── the copies ─────────────────────────────────────────────────────────────────────────────────────────


class LineFormat(Protocol):
    """How a file tells of pages."""

    header: bytes

    def line(self, record: UrlRecord) -> bytes | None:
        """Without its end; None for a page that the file does not tell of."""
        ...

    def identities(self, lines: Iterator[bytes]) -> Iterator[int]:
        """Which settlements the lines tell of; what cannot be read is passed over."""
        ...


class Copy(Protocol):
    """A file, or something like it, that follows the ledger. ``mark`` tells where this run's lines begin."""

    name: str  # the same in every run
    mark: str

    def present(self, mark: str) -> set[int]:
        """Identities of the settlements told of since ``mark``; a torn last line is cut off."""
        ...

    def append(self, records: Sequence[UrlRecord], mark: str) -> None:
        """Durable on return."""
        ...


class Standing(msgspec.Struct, frozen=True):
    """What the ledger notes: when the last run began, where its lines are, and whether all were written."""

    started: float
    marks: dict[str, str]  # by the names of the copies
    whole: bool
    since: float = 0.0  # when the first of the runs began that were killed one after the other; 0: this one


class LedgerCopies:
    def __init__(
        self,
        copies: Sequence[Copy],
        clock: Clock,
        followed: Callable[[Sequence[UrlRecord]], None] = lambda records: None,
    ) -> None:
        self._copies = copies
        self._clock = clock
        self._followed = followed  # told of every settled page, once all copies tell of it
        self._fresh: list[UrlRecord] = []
        self._durable: list[UrlRecord] = []
        self._standing: Standing | None = None
        self._ledger: Ledger | None = None

    @property
    def since(self) -> float:
        """When this run began, or the killed one that it goes on with."""
        return 0.0 if self._standing is None else self._standing.since

    async def load(self, ledger: Ledger, has_whole: Callable[[PageFacts], bool]) -> None:
        """Complete what the last run left unfinished, and begin this one's.

        A page that is not told of yet and whose body a power cut took is left out: it will come again.
        """
        self._ledger = ledger
        before = await _read_standing(ledger)
        since = started = self._clock.now()
        if before is not None and not before.whole:
            since = before.since or before.started
            await self._complete(ledger, before, has_whole)
        marks = {copy.name: copy.mark for copy in self._copies}
        self._standing = Standing(started, marks, whole=False, since=since)
        await _note(ledger, self._standing)

    def settled(self, record: UrlRecord) -> None:
        self._fresh.append(record)

    def take_due(self) -> list[UrlRecord]:
        """At the start of a sync: what was settled before the last one began is durable by now."""
        due, self._durable, self._fresh = self._durable, self._fresh, []
        return due

    async def ask_for_another_sync(self) -> None:
        """If lines wait for one: a store that has nothing new to make durable would not sync again."""
        if self._durable and self._ledger is not None and self._standing is not None:
            await _note(self._ledger, self._standing)

    async def finish(self, ledger: Ledger) -> None:
        """At an orderly end, when everything settled is durable."""
        due, self._durable, self._fresh = self._durable + self._fresh, [], []
        self.write(due)
        if self._standing is not None:
            await _note(ledger, msgspec.structs.replace(self._standing, whole=True))

    def write(self, records: Sequence[UrlRecord]) -> None:
        """Slow: call it in a thread."""
        for copy in self._copies if records else ():
            copy.append(records, copy.mark)
        self._followed(records)

    async def _complete(
        self, ledger: Ledger, before: Standing, has_whole: Callable[[PageFacts], bool]
    ) -> None:
        unfinished = [
            _Unfinished(copy, before.marks[copy.name], copy.present(before.marks[copy.name]))
            for copy in self._copies
            if copy.name in before.marks
        ]
        batch: list[UrlRecord] = []
        async for record in ledger.records(UP_TO_DATE):
            if (record.at or 0.0) >= before.started and is_up_to_date_page(record):
                batch.append(record)
            if len(batch) == BATCH:
                _add_missing(batch, unfinished, has_whole)
                batch = []
        _add_missing(batch, unfinished, has_whole)


class _Unfinished(NamedTuple):
    copy: Copy
    mark: str
    present: set[int]


def _add_missing(
    records: list[UrlRecord], unfinished: list[_Unfinished], has_whole: Callable[[PageFacts], bool]
) -> None:
    for copy, mark, present in unfinished:
        untold = (one for one in records if identity(one.url, second_of(one)) not in present)
        missing = [one for one in untold if has_whole(one.facts)]
        if missing:
            copy.append(missing, mark)


class Lines(Protocol):
    """A file that only grows, as ``sumi.files.growing_file`` makes them."""

    def append(self, lines: Sequence[bytes], header: bytes = b"") -> None:
        """Durable on return. A new file begins with the header."""
        ...

    def whole_lines(self) -> Iterator[bytes]: ...


class FileCopy:
    """A copy that is a file; ``mark`` is its path, so that another run may have another."""

    def __init__(self, name: str, path: str, form: LineFormat, file_at: Callable[[str], Lines]) -> None:
        self.name = name
        self.mark = path
        self._form = form
        self._file_at = file_at

    def present(self, mark: str) -> set[int]:
        return set(self._form.identities(self._file_at(mark).whole_lines()))

    def append(self, records: Sequence[UrlRecord], mark: str) -> None:
        lines = [line for line in map(self._form.line, records) if line is not None]
        if lines:
            self._file_at(mark).append(lines, self._form.header)


async def _read_standing(ledger: Ledger) -> Standing | None:
    note = await ledger.get_note(NOTE)
    try:
        return None if note is None else msgspec.json.decode(note, type=Standing)
    except msgspec.MsgspecError:
        return None


async def _note(ledger: Ledger, standing: Standing) -> None:
    await ledger.put_note(NOTE, msgspec.json.encode(standing).decode())
