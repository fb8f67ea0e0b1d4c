"""Tables that Markdown can hold: a grid without spans, each cell on one line.

What cannot be one is taken apart, losing its lines but none of its text: tables for layout, tables that hold
tables or headings, and the ones that highlighters put line numbers in.
"""

from collections.abc import Iterator
from typing import Final

from sumi.parse.html import Element, Node, Text, element_children, new_element

# Filling up spans makes cells; a page gets this many, then its spans are dropped unfilled.
_MAX_FILLED: Final = 2000
_WIDEST_SPAN: Final = 100

_ROW_GROUPS: Final = frozenset({"thead", "tbody", "tfoot"})
_BREAKING_TAGS: Final = ("p", "div", "li", "dd", "dt", "pre", "blockquote")
_UNCELLABLE: Final = "table, h1, h2, h3, h4, h5, h6, hr"
_TAKEN_APART: Final = ("table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption")


class TableFitter:
    """For the tables of one page: the bound on filled cells is shared by all of them."""

    __slots__ = ("_filled",)

    def __init__(self) -> None:
        self._filled = 0

    def fit(self, table: Element) -> None:
        rows = list(_rows(table))
        if _is_layout(table, rows):
            _take_apart(table)
            return
        self._fill_spans(rows)
        for cell in _cells_of(rows):
            _flatten(cell)

    def _fill_spans(self, rows: list[Element]) -> None:
        below: dict[int, int] = {}  # column -> rows that a cell above still reaches into
        for row in rows:
            below = self._fill_row(row, below)

    def _fill_row(self, row: Element, below: dict[int, int]) -> dict[int, int]:
        reaching: dict[int, int] = {}
        column = 0
        for cell in list(_cells(row)):
            while column in below:
                column = self._pass_under(cell, column, below, reaching)
            width, height = _take_span(cell, "colspan"), _take_span(cell, "rowspan")
            for offset in range(width):
                if height > 1:
                    reaching[column + offset] = height - 1
                if offset:
                    self._fill(cell)
            column += width
        return reaching

    def _pass_under(self, cell: Element, column: int, below: dict[int, int], reaching: dict[int, int]) -> int:
        if below[column] > 1:
            reaching[column] = below[column] - 1
        if self._filled < _MAX_FILLED:
            self._filled += 1
            cell.insert_before(new_element(cell.tag))
        return column + 1

    def _fill(self, cell: Element) -> None:
        if self._filled < _MAX_FILLED:
            self._filled += 1
            cell.insert_after(new_element(cell.tag))


def _rows(table: Element) -> Iterator[Element]:
    for child in element_children(table):
        if child.tag == "tr":
            yield child
        elif child.tag in _ROW_GROUPS:
            yield from (row for row in element_children(child) if row.tag == "tr")


def _cells(row: Element) -> Iterator[Element]:
    return (cell for cell in element_children(row) if cell.tag in ("td", "th"))


def _cells_of(rows: list[Element]) -> Iterator[Element]:
    for row in rows:
        yield from _cells(row)


def _is_layout(table: Element, rows: list[Element]) -> bool:
    if table.attr("role") in ("presentation", "none"):
        return True
    if table.select_one(_UNCELLABLE) is not None:
        return True
    return all(len(list(_cells(row))) < 2 for row in rows) and table.select_one("th") is None


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
    blocks = [block for block in cell.iter_elements(_BREAKING_TAGS) if block.tag in _BREAKING_TAGS]
    for block in blocks:
        _FLATTENERS.get(block.tag, _as_line)(block)
    for lists in list(cell.iter_elements(("ul", "ol", "dl"))):
        lists.tag = "span"


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


_FLATTENERS: Final = {"li": _item_as_line, "pre": _code_as_lines}


def _follows_text(block: Element) -> bool:
    """Whether anything stands before it in the cell: itself first in a first wrapper is still first."""
    node: Element = block
    while True:
        for sibling in node.previous_siblings:
            if _is_shown(sibling):
                return not (isinstance(sibling, Element) and sibling.tag == "br")
        parent = node.parent
        if not isinstance(parent, Element) or node.tag in ("td", "th") or parent.tag in ("td", "th"):
            return False
        node = parent


def _is_followed_by_text(block: Element) -> bool:
    following = next((node for node in block.next_siblings if _is_shown(node)), None)
    if isinstance(following, Element):
        return following.tag not in (*_BREAKING_TAGS, "br", "ul", "ol", "dl", "table")
    return following is not None


def _is_shown(node: Node) -> bool:
    if isinstance(node, Text):
        return bool(node.data.strip())
    return isinstance(node, Element) and (node.tag in ("img", "br") or bool(node.text.strip()))
