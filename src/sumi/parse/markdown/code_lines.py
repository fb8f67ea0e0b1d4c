"""The lines of a block of code: every character of it and no markup, whatever its highlighter made of it."""

import re
from typing import Final

from sumi.parse.html import Element, Node, Text

_BLOCKS: Final = ("div", "li", "p", "tr")
_BREAKING: Final = ("br", *_BLOCKS)
# Of highlighters that leave it to the style sheet to begin a new line.
_LINE_CLASSES: Final = frozenset(
    {"line", "token-line", "highlight-line", "code-line", "view-line", "ec-line"}
)
_LONGEST_NUMBER: Final = 7


def lines_of(pre: Element) -> str:
    """Every character of the code and no markup, whatever its highlighter made lines of: line ends, breaks,
    blocks or spans. Changes the block, whose text the result is meant to be."""
    if next(pre.iter_elements(_BREAKING), None) is not None:
        _end_lines(pre)
    text = pre.text
    return text if "\n" in text else _by_spans(pre, text)


def without_blank_ends(code: str) -> str:
    """Lines that nobody sees, before the first and after the last that has something on it."""
    start = len(code) - len(code.lstrip())
    end = code.find("\n", len(code.rstrip()))
    return code[code.rfind("\n", 0, start) + 1 : len(code) if end < 0 else end]


def _end_lines(pre: Element) -> None:
    for line_break in list(pre.iter_elements("br")):
        line_break.replace_with(Text("\n"))
    for block in list(pre.iter_elements(_BLOCKS)):  # which a break at their end adds no line to
        _end_line(block)


def _end_line(block: Element) -> None:
    """A block begins on a line of its own and ends it; line ends between two are of the source only."""
    before, after = block.previous_sibling, block.next_sibling
    if isinstance(after, Text) and _is_line_end(after):
        after.decompose()
    if before is not None and before.text and not _ends_line(before):
        block.insert_before(Text("\n"))
    if not _ends_line(block):
        block.append(Text("\n"))


def _is_line_end(text: Text) -> bool:
    return not text.data.strip() and text.data.startswith(("\n", "\r\n"))


def _ends_line(node: Node) -> bool:
    """By the last thing in it: its whole text would be read again for every block around it."""
    while isinstance(node, Element) and len(node):
        node = node[-1]
    return isinstance(node, Text) and node.data.endswith("\n")


def _by_spans(pre: Element, text: str) -> str:
    lines = [span.text for span in pre.iter_elements("span") if _is_line(span)]
    whole = len(lines) > 1 and sum(map(len, lines)) == len(text)
    return "\n".join(lines) if whole else text


def _is_line(span: Element) -> bool:
    classes = span.attr("class")
    return classes is not None and not _LINE_CLASSES.isdisjoint(classes.split())


def are_numbers_of(words: list[str], code: str, unnumbered: int = 0) -> bool:
    """Whether they are consecutive, and as many as there are lines but the first few; of blank ones at the
    end not all may be numbered."""
    lines = len(words) + unnumbered
    if not code.strip("\n").count("\n") < lines <= code.count("\n") + 1:
        return False
    first = words[0]
    if len(first) > _LONGEST_NUMBER or not (first.isascii() and first.isdigit()):
        return False
    return all(word == str(number) for number, word in enumerate(words, int(first)))


# How highlighters call what a change added or took away; the sign itself they leave to the style sheet.
_ADDED: Final = frozenset({"ins", "add", "added", "addition", "inserted", "diff-add", "line-added"})
_REMOVED: Final = frozenset({"del", "remove", "removed", "deletion", "deleted", "diff-remove"})
_ANY_CHANGE: Final = ", ".join(f".{name}" for name in sorted(_ADDED | _REMOVED))
_SIGNED: Final = re.compile(r"\s*[+-]")


def mark_changes(pre: Element) -> None:
    """Lines that only their class tells to be new or gone get their sign, and the others the room for one."""
    changed = [line for line in pre.select(_ANY_CHANGE) if _is_whole_line(line)]
    if not changed or any(_SIGNED.match(line.text) for line in changed):
        return
    kind = (changed[0].tag, _line_name(changed[0]))
    for line in list(pre.iter_elements(kind[0])):
        classes = frozenset((line.attr("class") or "").split())
        if line in changed:
            _begin(line, "- " if classes & _REMOVED else "+ ")
        elif kind[1] in classes:
            _begin(line, "  ")


def _begin(line: Element, sign: str) -> None:
    """In front of its first character, as what is around that may be a block by itself."""
    first = next((node for node in line.descendants if isinstance(node, Text)), None)
    if first is None:
        line.insert(0, Text(sign))
    else:
        first.replace_with(Text(sign + first.data))


def _is_whole_line(part: Element) -> bool:
    """And not some words of one."""
    return part.tag in _BLOCKS or not _LINE_CLASSES.isdisjoint((part.attr("class") or "").split())


def _line_name(line: Element) -> str:
    """What lines are called that did not change."""
    names = (line.attr("class") or "").split()
    return next((name for name in names if name not in _ADDED and name not in _REMOVED), "")
