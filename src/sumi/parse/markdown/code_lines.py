"""The lines of a block of code, whatever its highlighter made them of: line ends, breaks, blocks or spans."""

from typing import Final

from sumi.parse.html import Element, Node, Text

_BLOCKS: Final = ("div", "li", "p", "tr")
_BREAKING: Final = ("br", *_BLOCKS)
# Of highlighters that leave it to the style sheet to begin a new line.
_LINE_CLASSES: Final = frozenset({"line", "token-line", "highlight-line", "code-line", "view-line"})
_LONGEST_NUMBER: Final = 7


def lines_of(pre: Element) -> str:
    """Every character of the code, and no markup. Changes the block, whose text the result is meant to be."""
    if next(pre.iter_elements(_BREAKING), None) is not None:
        _end_lines(pre)
    text = pre.text
    return text if "\n" in text else _by_spans(pre, text)


def _end_lines(pre: Element) -> None:
    for element in list(pre.iter_elements(_BREAKING)):
        if element.tag == "br":
            element.replace_with(Text("\n"))
        else:
            _end_line(element)


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


def are_numbers_of(words: list[str], code: str) -> bool:
    """Whether they are consecutive, and as many as there are lines; of blank ones at the end not all may be
    numbered."""
    if not code.strip("\n").count("\n") < len(words) <= code.count("\n") + 1:
        return False
    first = words[0]
    if len(first) > _LONGEST_NUMBER or not (first.isascii() and first.isdigit()):
        return False
    return all(word == str(number) for number, word in enumerate(words, int(first)))
