"""Blocks within inline elements, tags that would begin a block, and blocks of nothing but blanks.

Browsers show the former, while in Markdown a mark in front of a fence or a list ends it before it has begun,
and code that was safe in its fence becomes tags.
"""

import re
from typing import Final

from sumi.parse.html import Element, elements_of_fixed_blanks

BLOCKS: Final = (
    *("address", "article", "aside", "blockquote", "div", "dl", "figure", "h1", "h2", "h3", "h4", "h5", "h6"),
    *("hr", "li", "main", "ol", "p", "pre", "section", "table", "ul"),
)
# To the converter these are letters, to many readers of Markdown white space: a tag before them would be
# alone on its line and begin a block of HTML.
_ALONE: Final = re.compile("(<[a-z]{1,6}>)[\x85\u2028\u2029]+(?=[ \t]*$)", re.MULTILINE)
_SEPARATORS: Final = ("\x85", "\u2028", "\u2029")
_NOTHING_TO_SEE: Final = "\u200b"
# As the converter writes a blank that does not break at the beginning or end of a line.
_FIXED_BLANK: Final = "&#160;"
_MARKUP: Final = frozenset({"b", "em", "font", "i", "span", "strong"})
_EMPTIED: Final = frozenset({"div", "p"})


def keep_tags_in_line(markdown: str) -> str:
    if "<" not in markdown or not any(separator in markdown for separator in _SEPARATORS):
        return markdown  # to look for four characters is a tenth of what the expression costs
    return _ALONE.sub(rf"\g<1>{_NOTHING_TO_SEE}", markdown)


def came_out_with_blank_blocks(markdown: str) -> bool:
    if "&" not in markdown or _FIXED_BLANK not in markdown:
        return False  # one character is looked for faster than six
    lines = (line for line in markdown.split("\n") if _FIXED_BLANK in line)
    return any(not line.replace(_FIXED_BLANK, "").strip("> \t") for line in lines)


def empty_blank_blocks(root: Element) -> None:
    """Paragraphs and cells that only keep others apart, by a blank that to the converter is a letter."""
    for element in elements_of_fixed_blanks(root):
        block = element
        while block.tag in _MARKUP and isinstance(block.parent, Element) and len(block.parent) == 1:
            block = block.parent
        if block.tag in _EMPTIED:
            block.clear()


def release_blocks(root: Element, tags: tuple[str, ...]) -> None:
    """Takes the elements of these names away from around blocks; their contents stay."""
    if next(root.iter_elements(tags), None) is None:
        return
    for element in _around_blocks(root, tags):
        if element.parent is not None:
            element.unwrap()


def _around_blocks(root: Element, tags: tuple[str, ...]) -> list[Element]:
    """Each ancestor is met once, however deep the blocks are nested in one another."""
    found: list[Element] = []
    met: set[object] = {root}
    for block in root.iter_elements(BLOCKS):
        for ancestor in block.ancestors:
            if ancestor in met:
                break
            met.add(ancestor)
            if isinstance(ancestor, Element) and ancestor.tag in tags:
                found.append(ancestor)
    return found
