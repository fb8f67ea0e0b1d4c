"""What is in the cells of a table, as lines: a cell of Markdown has no room for blocks."""

from collections.abc import Iterable
from itertools import islice
from typing import Final

from sumi.parse.html import Element, Node, Text, new_element

_BREAKING_TAGS: Final = ("p", "div", "li", "dd", "dt", "pre", "blockquote")
_NEAR: Final = 8  # siblings looked at for text; without a bound, cells of empty blocks would cost the square
_LISTS: Final = ("ul", "ol", "dl")
_CELLS: Final = ("td", "th")
_ENDING_A_LINE: Final = frozenset((*_BREAKING_TAGS, *_LISTS, "br", "table"))
FLATTENED: Final = (*_BREAKING_TAGS, *_LISTS)


def flatten(holders: Iterable[Element]) -> None:
    """Blocks in cells become lines parted by ``<br>``. The holders are cells, or a table that has blocks
    nowhere else, which is a single walk."""
    for holder in holders:
        for block in list(holder.iter_elements(FLATTENED)):
            _FLATTENERS.get(block.tag, _as_line)(block)


def _as_line(block: Element) -> None:
    if _follows_text(block):
        block.insert_before(new_element("br"))
    if block.tag != "pre" and _is_followed_by_text(block):
        block.insert_after(new_element("br"))
    block.tag = "span"


def _item_as_line(item: Element) -> None:
    _first_block(item).insert(0, Text("• "))
    _as_line(item)


def _first_block(item: Element) -> Element:
    """The paragraph that the item begins with, or itself: a bullet must not stand on a line of its own."""
    first = _first_shown(item.children)
    return first if isinstance(first, Element) and first.tag in ("p", "div") else item


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
    node = block
    while True:
        shown = _first_shown(node.previous_siblings)
        if shown is not None:
            return not (isinstance(shown, Element) and shown.tag == "br")
        parent = node.parent
        if not isinstance(parent, Element) or parent.tag in _CELLS:
            return False
        node = parent


def _is_followed_by_text(block: Element) -> bool:
    shown = _first_shown(block.next_siblings)
    return shown is not None and not (isinstance(shown, Element) and shown.tag in _ENDING_A_LINE)


def _first_shown(nodes: Iterable[Node]) -> Node | None:
    """The nearest one that is seen."""
    return next(filter(_is_shown, islice(nodes, _NEAR)), None)


def _is_shown(node: Node) -> bool:
    if isinstance(node, Text):
        return bool(node.data.strip())
    return isinstance(node, Element) and (node.tag in ("img", "br") or bool(node.text.strip()))


_ENOUGH_APART: Final = (":", ".", "]", ")", "*", "[")


def join_cells(cells: list[Element], between: str) -> Element:
    """All of a row in one line. What ends with a sign needs no other after it."""
    line = new_element("div")
    before = ""
    for cell in cells:
        text = cell.text.strip()
        if text or next(cell.iter_elements("img"), None) is not None:
            if len(line):
                line.append(Text(" " if not before or before.endswith(_ENOUGH_APART) else between))
            cell.tag = "span"
            line.append(cell)
            before = text
    return line


def unwrap_only_block(cell: Element) -> None:
    """A paragraph that is all there is in the cell."""
    blocks = list(islice(cell.iter_elements(FLATTENED), 2))
    if len(blocks) != 1 or blocks[0].tag not in ("p", "div"):
        return
    if len(blocks[0].text.strip()) == len(cell.text.strip()):
        blocks[0].unwrap()
