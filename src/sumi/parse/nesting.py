"""Blocks within inline elements, and tags that would begin a block.

Browsers show the former, while in Markdown a mark in front of a fence or a list ends it before it has begun,
and code that was safe in its fence becomes tags.
"""

import re
from typing import Final

from sumi.parse.html import Element

_BLOCKS: Final = (
    *("address", "article", "aside", "blockquote", "div", "dl", "figure", "h1", "h2", "h3", "h4", "h5", "h6"),
    *("hr", "li", "main", "ol", "p", "pre", "section", "table", "ul"),
)
# To the converter these are letters, to many readers of Markdown white space: a tag before them would be
# alone on its line and begin a block of HTML.
_ALONE: Final = re.compile("(<[a-z]{1,6}>)[\x85\u2028\u2029]+(?=[ \t]*$)", re.MULTILINE)
_SEPARATORS: Final = ("\x85", "\u2028", "\u2029")
_NOTHING_TO_SEE: Final = "\u200b"


def keep_tags_in_line(markdown: str) -> str:
    if "<" not in markdown or not any(separator in markdown for separator in _SEPARATORS):
        return markdown  # to look for four characters is a tenth of what the expression costs
    return _ALONE.sub(rf"\g<1>{_NOTHING_TO_SEE}", markdown)


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
    for block in root.iter_elements(_BLOCKS):
        for ancestor in block.ancestors:
            if ancestor in met:
                break
            met.add(ancestor)
            if isinstance(ancestor, Element) and ancestor.tag in tags:
                found.append(ancestor)
    return found
