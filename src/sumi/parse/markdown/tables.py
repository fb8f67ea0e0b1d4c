"""Tables that Markdown can hold: a grid without spans, each cell on one line.

What cannot be one is taken apart, losing its lines but none of its text: tables for layout, tables that hold
tables or headings, and the ones that highlighters put line numbers in.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from typing import Final, TypeAlias

from sumi.parse.html import Document, Element, Text, element_children, new_element
from sumi.parse.markdown.alignment import Alignment
from sumi.parse.markdown.blocks import is_lone_meaning
from sumi.parse.markdown.chrome import Part, part_of
from sumi.parse.markdown.fidelity import Grids, Inventory, code_text
from sumi.parse.markdown.table_cells import FLATTENED, flatten, join_cells, unwrap_only_block

# Filling up spans and short rows makes cells; a page gets this many, then its tables are taken apart.
_MAX_FILLED: Final = 20_000
_WIDEST_SPAN: Final = 100
_ALL_ROWS: Final = 1_000_000
_NUMBER: Final = re.compile(r"[ \t\n\f\r]*\+?([0-9]{1,6})")  # at the beginning of whatever is there

_ROW_GROUPS: Final = frozenset({"thead", "tbody", "tfoot"})
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_UNCELLABLE: Final = ("table", *_HEADINGS, "hr")
_DEMANDING: Final = (*FLATTENED, *_UNCELLABLE)
_SPANS: Final = ("td[colspan], td[rowspan]", "th[colspan], th[rowspan]")
_ANY_SPAN: Final = ", ".join(_SPANS)
_TAKEN_APART: Final = ("table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption")


_LEAST_GRID: Final = 2  # columns
_MOST_JOINED: Final = 3
_LONGEST_LINE: Final = 300
_Grid: TypeAlias = list[tuple[Element, list[Element]]]  # each row with its cells


class TableFitter:
    """For the tables of one page: the bound on filled cells is shared by all of them."""

    __slots__ = (
        "_alignment",
        "_cells",
        "_code",
        "_filled",
        "_has_spans",
        "_headings",
        "_items",
        "_languages",
        "_rows",
        "_tables",
        "has_any",
    )

    def __init__(self, document: Document) -> None:
        self._filled = 0
        self._tables = self._rows = self._cells = 0
        self._items = self._languages = 0
        self._headings = [0] * len(_HEADINGS)  # by level
        self._code: Counter[str] = Counter()
        self.has_any = document.find("table") is not None
        self._alignment = Alignment(document) if self.has_any else None
        self._has_spans = self.has_any and any(document.select_one(span) is not None for span in _SPANS)

    def fit(self, table: Element) -> None:
        has_spans = self._has_spans and table.select_one(_ANY_SPAN) is not None
        lengths = [] if has_spans else _plain_lengths(table)
        if _is_in_grid(table):
            _write_as_lines(table)
            return
        if lengths:
            self._count(lengths)
            self._align(table)
            return
        _drop_line_numbers(table)
        grid = [(row, _cells(row)) for row in _rows(table)]
        if _has_head(grid):
            self._embolden_headings(table)
        if _is_layout(table, grid):
            _join_short_rows(table, grid)
            _take_apart(table, grid)
            return
        if _is_one_line(table, grid):
            _write_as_line(table, grid)
            return
        self._count([len(cells) for _, cells in grid if cells])
        self._count_inside(table)
        if has_spans:
            self._fill_spans(grid)
            grid = [(row, _cells(row)) for row, _ in grid]
        self._fill_short_rows(grid)
        if self._filled >= _MAX_FILLED:
            _take_apart(table, [(row, _cells(row)) for row, _ in grid])
        elif next(table.iter_elements(FLATTENED), None) is not None:
            has_caption = next(table.iter_elements("caption"), None) is not None
            flatten(chain.from_iterable(cells for _, cells in grid) if has_caption else (table,))
        if table.tag == "table":
            self._align(table)

    def _align(self, table: Element) -> None:
        if self._alignment is not None:
            self._alignment.mark(table)

    def aligned(self, markdown: str) -> str:
        """What was converted, with how its columns stand."""
        return markdown if self._alignment is None else self._alignment.write(markdown)

    def _embolden_headings(self, table: Element) -> None:
        """In the cells of what is a table by its own headings."""
        for heading in list(table.iter_elements(_HEADINGS)):
            if heading.text.strip():
                self._headings[_HEADINGS.index(heading.tag)] += 1
            heading.tag = "p"
            heading.wrap_children(new_element("strong"))

    def counted(self, inventory: Inventory) -> Inventory:
        """With the tables. What is in cells is a line there, and neither a block nor an item."""
        if not self._tables:
            return inventory
        return inventory._replace(
            grids=Grids(self._tables, self._rows, self._cells),
            code=inventory.code - self._code if self._code else inventory.code,
            languages=inventory.languages - self._languages,
            items=inventory.items - self._items,
            headings=tuple(
                all_of - inside for all_of, inside in zip(inventory.headings, self._headings, strict=True)
            ),
        )

    def _count(self, lengths: list[int]) -> None:
        self._tables += 1
        self._rows += len(lengths)
        self._cells += sum(lengths)

    def _count_inside(self, table: Element) -> None:
        for block in table.iter_elements(("li", "pre")):
            if block.tag == "pre":
                self._code[code_text(block)] += 1
                self._languages += block.attr("class") is not None
            elif not is_lone_meaning(block):
                self._items += 1

    def _fill_spans(self, grid: _Grid) -> None:
        below: dict[int, int] = {}  # column -> the first row that no cell above reaches into
        group = None
        for number, (row, cells) in enumerate(grid):
            if row.parent is not group:  # out of which no cell reaches
                group, below = row.parent, {}
            self._fill_row(number, cells, below)

    def _fill_short_rows(self, grid: _Grid) -> None:
        """The converter writes a table of uneven rows as raw HTML."""
        width = max((len(cells) for _, cells in grid), default=0)
        for row, cells in grid:
            if not cells:
                row.decompose()
                continue
            for _ in range(width - len(cells)):
                if self._may_fill():
                    row.append(new_element("td"))

    def _may_fill(self) -> bool:
        self._filled += 1
        return self._filled < _MAX_FILLED

    def _fill_row(self, number: int, cells: list[Element], below: dict[int, int]) -> None:
        column = 0
        for cell in cells:
            if self._filled >= _MAX_FILLED:
                break
            while below.get(column, 0) > number:
                column += 1
                if self._may_fill():
                    cell.insert_before(new_element(cell.tag))
            width, height = _take_width(cell), _take_height(cell)
            for covered in range(column, column + width):
                if height > 1:
                    below[covered] = max(number + height, below.get(covered, 0))
                if covered > column and self._may_fill():
                    cell.insert_after(new_element(cell.tag))
            column += width


def _plain_lengths(table: Element) -> list[int]:
    """How many cells are in each row of what is a grid of lines already, as most are, so that nothing is to
    be done. May be empty for one that is."""
    if table.tag != "table" or table.attr("role") is not None:
        return []
    if next(table.iter_elements(_DEMANDING), None) is not None:
        return []
    lengths: list[int] = []
    for part in table.iter_elements(("tr", "td", "th")):
        if part.tag == "tr":
            lengths.append(0)
        elif lengths:
            lengths[-1] += 1
    even = len(lengths) > 1 and lengths[0] > 1 and lengths.count(lengths[0]) == len(lengths)
    return lengths if even else []


def _drop_line_numbers(table: Element) -> None:
    """Highlighters number lines in a column of their own, which is no part of the code."""
    if table.select_one("pre") is None:
        return
    for cell in table.select("td"):
        if part_of(cell.attr("class") or "") is Part.CHROME:
            cell.decompose()


def _rows(table: Element) -> Iterator[Element]:
    for child in element_children(table):
        if child.tag == "tr":
            yield child
        elif child.tag in _ROW_GROUPS:
            yield from (row for row in element_children(child) if row.tag == "tr")


def _cells(row: Element) -> list[Element]:
    return [cell for cell in row.children if isinstance(cell, Element) and cell.tag in ("td", "th")]


def _is_layout(table: Element, grid: _Grid) -> bool:
    if table.attr("role") in ("presentation", "none"):
        return True
    if next(table.iter_elements(_UNCELLABLE), None) is not None:
        return True
    if any(len(cells) > 1 for _, cells in grid):
        return False
    # One column. With a heading it is a table, unless that is the name of a file over its code.
    return next(table.iter_elements("th"), None) is None or next(table.iter_elements("pre"), None) is not None


def _is_in_grid(table: Element) -> bool:
    """Whether it is in a cell of a table that has headings, as the parts of a parameter are."""
    cell = table.parent.closest("td") if isinstance(table.parent, Element) else None
    outer = None if cell is None else cell.closest("table")
    if outer is None or outer.attr("role") in ("presentation", "none"):
        return False
    if not _has_head([(row, _cells(row)) for row in islice(_rows(outer), 1)]):
        return False
    return next(table.iter_elements(("pre", "table", *_HEADINGS)), None) is None


def _has_head(grid: _Grid) -> bool:
    """Of several columns."""
    head = grid[0][1] if grid else []
    return len(head) >= _LEAST_GRID and all(cell.tag == "th" for cell in head)


def _write_as_lines(table: Element) -> None:
    """A line per row, as a cell has no room for more."""
    rows = [_cells(row) for row in _rows(table)]
    lines = [join_cells(cells, ", ") for cells in rows if any(cell.text.strip() for cell in cells)]
    for line in lines:
        line.insert(0, Text("• "))
    table.clear()
    table.tag = "div"
    table.extend(lines)


def _is_one_line(table: Element, grid: _Grid) -> bool:
    """A single row without a heading lays something out, be it a footnote beside its number."""
    if len(grid) != 1 or any(cell.tag == "th" for cell in grid[0][1]):
        return False
    return next(table.iter_elements("caption"), None) is None


def _write_as_line(table: Element, grid: _Grid) -> None:
    cells = grid[0][1]
    for cell in cells:
        unwrap_only_block(cell)
    if next(table.iter_elements(FLATTENED), None) is not None:
        _take_apart(table, grid)
        return
    line = join_cells(cells, " - ")
    table.clear()
    table.tag = "div"
    table.append(line)


def _join_short_rows(table: Element, grid: _Grid) -> None:
    """Between headings, as the type and the name of a function: a row that has no blocks is a line."""
    if next(table.iter_elements(_HEADINGS), None) is None or table.attr("role") in ("presentation", "none"):
        return
    for row, cells in grid:
        shown = sum(bool(cell.text.strip()) for cell in cells)
        if _LEAST_GRID <= shown <= len(cells) <= _MOST_JOINED and _is_short_line(row):
            line = join_cells(cells, " ")
            row.clear()
            row.append(line)
            cells.clear()


def _is_short_line(row: Element) -> bool:
    if len(row.text) > _LONGEST_LINE:
        return False
    return next(row.iter_elements((*FLATTENED, *_UNCELLABLE)), None) is None


def _take_apart(table: Element, grid: _Grid) -> None:
    """Only this table: one inside it may be a table indeed, and has its own turn."""
    parts = [table, *(part for part in element_children(table) if part.tag in _TAKEN_APART)]
    for part in chain(parts, *([row, *cells] for row, cells in grid)):
        part.tag = "div"


def _take_width(cell: Element) -> int:
    return max(1, min(_take_span(cell, "colspan"), _WIDEST_SPAN))


def _take_height(cell: Element) -> int:
    """Of 0 it is all rows that are left."""
    return _take_span(cell, "rowspan") or _ALL_ROWS


def _take_span(cell: Element, name: str) -> int:
    value = cell.attr(name)
    if value is None:
        return 1
    del cell.attrs[name]
    number = _NUMBER.match(value)
    return 1 if number is None else int(number[1])
