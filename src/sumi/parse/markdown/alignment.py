"""How the columns of a table are aligned. The converter does not say, so headings carry a mark through it.

The marks are no characters of Unicode, and gone before anybody sees the Markdown.
"""

import re
from itertools import islice
from typing import Final

from sumi.parse.html import Document, Element, Text

_NONE, _LEFT, _CENTER, _RIGHT = "\ufdd1", "\ufdd2", "\ufdd3", "\ufdd4"
_SIDES: Final = {
    "left": _LEFT,
    "start": _LEFT,
    "center": _CENTER,
    "middle": _CENTER,
    "right": _RIGHT,
    "end": _RIGHT,
}
_RULES: Final = {_NONE: "---", _LEFT: ":---", _CENTER: ":---:", _RIGHT: "---:"}
_STYLE: Final = re.compile(r"text-align\s*:\s*(left|start|center|right|end)\b")
_CLASS: Final = re.compile(
    r"(?:^|\s)(?:text|halign|align|ta|has-text|cell|col|u-text|x:text|md:text)[-_]?(left|start|center|right|end)(?:ed)?(?=$|\s)"
)
_END_OF_CLASS: Final = re.compile(r"(?:Head|Body|Cell|Column|Text|Align)(Left|Center|Right)(?=$|\s)")
_MARK: Final = re.compile(f"[{_NONE}-{_RIGHT}]")
_HEAD_AND_RULE: Final = re.compile(f"^(.*[{_NONE}-{_RIGHT}].*)\n(.*)$", re.MULTILINE)
_TELLING: Final = tuple(f"{cell}[{name}]" for cell in ("th", "td") for name in ("style", "align", "class"))


class Alignment:
    """Of the tables of one page."""

    __slots__ = ("_is_told", "_marks")

    def __init__(self, document: Document) -> None:
        self._is_told = any(document.select_one(cell) is not None for cell in _TELLING)
        self._marks: list[Text] = []

    def mark(self, table: Element) -> None:
        """By the heading of each column, or else by what is under it. Where all stand at the left or nothing
        is said, there is nothing to say."""
        if not self._is_told:
            return
        rows = [_cells(row) for row in islice(table.iter_elements("tr"), 2)]
        if not rows:
            return
        below = rows[-1] if len(rows[-1]) == len(rows[0]) else rows[0]
        sides = [
            _side_of(head) or _side_of(under) or _NONE for head, under in zip(rows[0], below, strict=True)
        ]
        if _CENTER not in sides and _RIGHT not in sides:
            return
        for cell, side in zip(rows[0], sides, strict=True):
            mark = Text(side)
            cell.append(mark)
            self._marks.append(mark)

    def write(self, markdown: str) -> str:
        """The Markdown with the marks where Markdown has them, under the headings."""
        if not self._marks:
            return markdown
        for mark in self._marks:
            mark.decompose()
        return _MARK.sub("", _HEAD_AND_RULE.sub(_ruled, markdown))


def _cells(row: Element) -> list[Element]:
    return [cell for cell in row.children if isinstance(cell, Element) and cell.tag in ("td", "th")]


def _side_of(cell: Element) -> str:
    if not cell.attrs:
        return ""
    side = (cell.attr("align") or "").strip().lower()
    classes = cell.attr("class") or ""
    found = (
        _STYLE.search((cell.attr("style") or "").lower())
        or _CLASS.search(classes)
        or _END_OF_CLASS.search(classes)
    )
    return _SIDES.get(side, "") or ("" if found is None else _SIDES[found[1].lower()])


def _ruled(found: re.Match[str]) -> str:
    sides, rules = _MARK.findall(found[1]), found[2].split("---")
    if len(rules) != len(sides) + 1:
        return found[0]
    written = "".join(f"{before}{_RULES[side]}" for before, side in zip(rules, sides, strict=False))
    return f"{found[1]}\n{written}{rules[-1]}"
