"""Tables that Markdown can hold: a grid without spans, each cell on one line.

What cannot be one is taken apart, losing its lines but none of its text: tables for layout, tables that hold
tables or headings, and the ones that highlighters put line numbers in.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Final

from sumi.parse.chrome import Part, part_of
from sumi.parse.holdings import Grids, Holdings, code_text
from sumi.parse.html import Document, Element, Node, Text, element_children, new_element

# Filling up spans and short rows makes cells; a page gets this many, then its tables are taken apart.
_MAX_FILLED: Final = 20_000
_WIDEST_SPAN: Final = 100

_ROW_GROUPS: Final = frozenset({"thead", "tbody", "tfoot"})
_BREAKING_TAGS: Final = ("p", "div", "li", "dd", "dt", "pre", "blockquote")
_NEAR: Final = 8  # siblings looked at for text; without a bound, cells of empty blocks would cost the square
_LISTS: Final = ("ul", "ol", "dl")
_FLATTENED: Final = (*_BREAKING_TAGS, *_LISTS)
_UNCELLABLE: Final = ("table", "h1", "h2", "h3", "h4", "h5", "h6", "hr")
_DEMANDING: Final = (*_FLATTENED, *_UNCELLABLE)
_SPANS: Final = ("td[colspan]", "td[rowspan]", "th[colspan]", "th[rowspan]")
_TAKEN_APART: Final = ("table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption")


class TableFitter:
    """For the tables of one page: the bound on filled cells is shared by all of them."""

    __slots__ = ("_cells", "_code", "_filled", "_has_spans", "_items", "_languages", "_rows", "_tables")

    def __init__(self, document: Document) -> None:
        self._filled = 0
        self._tables = self._rows = self._cells = 0
        self._items = self._languages = 0
        self._code: Counter[str] = Counter()
        self._has_spans = any(document.select_one(span) is not None for span in _SPANS)

    def fit(self, table: Element) -> None:
        lengths = [] if self._has_spans else _plain_lengths(table)
        if lengths:
            self._count(lengths)
            return
        _drop_line_numbers(table)
        rows = list(_rows(table))
        if _is_layout(table, rows):
            _take_apart(table)
            return
        self._count([length for row in rows if (length := len(_cells(row)))])
        self._count_inside(table)
        self._fill_spans(table, rows)
        self._fill_short_rows(rows)
        if self._filled >= _MAX_FILLED:
            _take_apart(table)
            return
        if next(table.iter_elements(_FLATTENED), None) is None:
            return
        for cell in _cells_of(rows):
            _flatten(cell)

    def counted(self, holdings: Holdings) -> Holdings:
        """With the tables. What is in cells is a line there, and neither a block nor an item."""
        return holdings._replace(
            grids=Grids(self._tables, self._rows, self._cells),
            code=holdings.code - self._code,
            languages=max(0, holdings.languages - self._languages),
            # Cells are looked into after the page was tidied, which makes items of what were none.
            items=max(0, holdings.items - self._items),
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
            else:
                self._items += 1

    def _fill_spans(self, table: Element, rows: list[Element]) -> None:
        if not self._has_spans:
            return
        below: dict[int, int] = {}  # column -> rows that a cell above still reaches into
        for row in rows:
            below = self._fill_row(row, below)

    def _fill_short_rows(self, rows: list[Element]) -> None:
        """The converter writes a table of uneven rows as raw HTML."""
        lengths = [len(_cells(row)) for row in rows]
        width = max(lengths, default=0)
        for row, length in zip(rows, lengths, strict=True):
            if not length:
                row.decompose()
            for _ in range(width - length if length else 0):
                if self._may_fill():
                    row.append(new_element("td"))

    def _may_fill(self) -> bool:
        self._filled += 1
        return self._filled < _MAX_FILLED

    def _fill_row(self, row: Element, below: dict[int, int]) -> dict[int, int]:
        reaching: dict[int, int] = {}
        column = 0
        for cell in _cells(row):
            if self._filled >= _MAX_FILLED:
                break
            while column in below:
                column = self._pass_under(cell, column, below, reaching)
            width, height = _take_span(cell, "colspan"), _take_span(cell, "rowspan")
            for offset in range(width):
                if height > 1:
                    reaching[column + offset] = height - 1
                if offset and self._may_fill():
                    cell.insert_after(new_element(cell.tag))
            column += width
        return reaching

    def _pass_under(self, cell: Element, column: int, below: dict[int, int], reaching: dict[int, int]) -> int:
        if below[column] > 1:
            reaching[column] = below[column] - 1
        if self._may_fill():
            cell.insert_before(new_element(cell.tag))
        return column + 1


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
    even = bool(lengths) and lengths[0] > 1 and lengths.count(lengths[0]) == len(lengths)
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


def _cells_of(rows: list[Element]) -> Iterator[Element]:
    for row in rows:
        yield from _cells(row)


def _is_layout(table: Element, rows: list[Element]) -> bool:
    if table.attr("role") in ("presentation", "none"):
        return True
    if next(table.iter_elements(_UNCELLABLE), None) is not None:
        return True
    if any(len(_cells(row)) > 1 for row in rows):
        return False
    # One column. With a heading it is a table, unless that is the name of a file over its code.
    return next(table.iter_elements("th"), None) is None or next(table.iter_elements("pre"), None) is not None


def _take_apart(table: Element) -> None:
    """Only this table: one inside it may be a table indeed, and has its own turn."""
    parts = [table, *(part for part in element_children(table) if part.tag in _TAKEN_APART)]
    rows = list(_rows(table))
    for part in (*parts, *rows, *_cells_of(rows)):
        part.tag = "div"


def _take_span(cell: Element, name: str) -> int:
    value = cell.attr(name)
    if value is None:
        return 1
    del cell.attrs[name]
    value = value.strip()[:6]
    return max(1, min(int(value), _WIDEST_SPAN)) if value.isascii() and value.isdigit() else 1


def _flatten(cell: Element) -> None:
    """Blocks in a cell become lines of it, parted by <br>."""
    blocks = list(cell.iter_elements(_FLATTENED))
    if len(blocks) == 1 and len(cell) == 1 and blocks[0].tag == "p":
        blocks[0].tag = "span"  # as Sphinx writes every cell
        return
    for block in blocks:
        _FLATTENERS.get(block.tag, _as_line)(block)


def _as_line(block: Element) -> None:
    if _follows_text(block):
        block.insert_before(new_element("br"))
    if block.tag != "pre" and _is_followed_by_text(block):
        block.insert_after(new_element("br"))
    block.tag = "span"


def _item_as_line(item: Element) -> None:
    item.insert(0, Text("• "))
    _as_line(item)


def _code_as_lines(pre: Element) -> None:
    """A code span per line: a span folds line ends, and would lose what they mean in code."""
    for line_break in list(pre.iter_elements("br")):
        line_break.replace_with(Text("\n"))
    lines = pre.text.strip("\n").split("\n")
    pre.clear()
    for number, line in enumerate(lines):
        if number:
            pre.append(new_element("br"))
        if line.strip():
            pre.append(new_element("code", line))
    _as_line(pre)


def _as_lines(items: Element) -> None:
    items.tag = "span"


_FLATTENERS: Final = {"li": _item_as_line, "pre": _code_as_lines, **dict.fromkeys(_LISTS, _as_lines)}


def _follows_text(block: Element) -> bool:
    """Whether anything stands before it in the cell: itself first in a first wrapper is still first."""
    node: Element = block
    while True:
        for sibling in islice(node.previous_siblings, _NEAR):
            if _is_shown(sibling):
                return not (isinstance(sibling, Element) and sibling.tag == "br")
        parent = node.parent
        if not isinstance(parent, Element) or node.tag in ("td", "th") or parent.tag in ("td", "th"):
            return False
        node = parent


def _is_followed_by_text(block: Element) -> bool:
    following = next((node for node in islice(block.next_siblings, _NEAR) if _is_shown(node)), None)
    if isinstance(following, Element):
        return following.tag not in (*_BREAKING_TAGS, "br", "ul", "ol", "dl", "table")
    return following is not None


def _is_shown(node: Node) -> bool:
    if isinstance(node, Text):
        return bool(node.data.strip())
    return isinstance(node, Element) and (node.tag in ("img", "br") or bool(node.text.strip()))
