"""Lines of a spool that are no discoveries: each is told with its file and line, and counted for good.

The count is kept in the ledger, so that no later run calls a spool read that was not; a file that is removed
is forgotten. What was counted is known by its offset: a line that comes again after a kill counts once.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from sumi.events import Listener, Warned
from sumi.jobs.pipeline.spool_reader import SpoolReader
from sumi.ports import Ledger, Remains, SpoolLine, SpoolPlace

NOTE: Final = "spool.passed_over"
# After so many in one run they are only counted.
MOST_TOLD: Final = 1000
_MOST_NAMED: Final = 10  # a summary is read by people


class _Passed(msgspec.Struct, frozen=True):
    lines: int
    up_to: int  # the offset of the last one


class PassedOver:
    def __init__(self, spool: SpoolReader, ledger: Ledger, tell: Listener) -> None:
        self._spool = spool
        self._ledger = ledger
        self._tell = tell
        self._by_file: dict[str, _Passed] = {}
        self._is_noted = True
        self._told = 0

    async def recall(self) -> None:
        self._by_file = _by_file(await self._ledger.get_note(NOTE))
        for name in [name for name in self._by_file if self._spool.is_gone(name)]:
            del self._by_file[name]
            self._is_noted = False
        for name, why in self._spool.rest().strangers.items():
            self._tell(Warned(f"{name} in the spool is not read: {why}"))

    def pass_over(self, line: SpoolLine, why: str) -> None:
        place = line.place
        before = self._by_file.get(place.file, _Passed(0, -1))
        if place.offset > before.up_to:
            self._by_file[place.file] = _Passed(before.lines + 1, place.offset)
            self._is_noted = False
        self.remark(place, f"passed over, {why}")

    def remark(self, place: SpoolPlace, words: str) -> None:
        self._told += 1
        if self._told <= MOST_TOLD:
            self._tell(Warned(f"{place.file}:{self._spool.line_number(place)}: {words}"))
        elif self._told == MOST_TOLD + 1:
            self._tell(Warned("more lines of the spool are no discoveries: from here on they are counted"))

    async def note(self) -> None:
        if not self._is_noted:
            self._is_noted = True
            await self._ledger.put_note(NOTE, msgspec.json.encode(self._by_file).decode())

    def remains(self) -> Remains:
        rest = self._spool.rest()
        lines = _lines(self._by_file)
        unfinished = [f"{place.file}:{self._spool.line_number(place)}" for place in rest.unfinished]
        notes = [*self._bad_lines(lines)]
        notes += [f"{where}: the line is not finished, so it was not read" for where in _few(unfinished)]
        notes += [f"{name} in the spool is not read: {rest.strangers[name]}" for name in _few(rest.strangers)]
        return Remains(rest.behind, lines + len(unfinished) + len(rest.strangers), tuple(notes))

    def _bad_lines(self, lines: int) -> list[str]:
        if not lines:
            return []
        files = ", ".join(f"{name}: {self._by_file[name].lines:,}" for name in _few(self._by_file))
        what = "one line of the spool is" if lines == 1 else f"{lines:,} lines of the spool are"
        return [f"{what} no discovery ({files}): put what was meant into another file, and remove this one"]


def lines_passed_over(note: str | None) -> int:
    """How many a ledger knows of, by its note."""
    return _lines(_by_file(note))


def _lines(by_file: dict[str, _Passed]) -> int:
    return sum(passed.lines for passed in by_file.values())


def _by_file(note: str | None) -> dict[str, _Passed]:
    try:
        return {} if note is None else msgspec.json.decode(note, type=dict[str, _Passed])
    except msgspec.MsgspecError:
        return {}


def _few(names: Iterable[str]) -> list[str]:
    return list(names)[:_MOST_NAMED]
