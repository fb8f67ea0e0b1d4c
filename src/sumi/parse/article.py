"""Articles: on a page of prose, the smallest part that holds nearly all of it, without the boxes within.

Manuals must never be cut short by this. So a page counts as an article only if it has prose and nothing that
reference pages are made of, and what is left out must be without prose.
"""

from itertools import islice
from typing import Final

from sumi.parse.html import Element, Node, XPath

# Calibrated on thirty labelled news and blog pages in twelve languages: teasers, captions and buttons are
# shorter than this, and of any paragraph at least one stretch between links and emphasis is longer.
_PROSE: Final = XPath(".//text()[string-length(normalize-space(.)) > 60][not(ancestor::a)]")
_ENOUGH_PROSE: Final = 600
_NEARLY_ALL: Final = 0.9
_MOST_RUNS: Final = 500  # of prose; those of a longer page are like these
_DEEPEST: Final = 100  # ancestors looked at
_REFERENCE: Final = "pre, dl, code, kbd, samp, tt, var, math, h1 ~ h1"


class Prose:
    """How much prose each element of a page holds."""

    __slots__ = ("_held", "total")

    def __init__(self, root: Element) -> None:
        self.total = 0
        self._held: dict[Node, int] = {}
        for run in islice(_PROSE(root), _MOST_RUNS):
            length = len(run.text)
            self.total += length
            for ancestor in islice(run.ancestors, _DEEPEST):
                self._held[ancestor] = self._held.get(ancestor, 0) + length
                if ancestor == root:
                    break

    def held_by(self, element: Element) -> int:
        return self._held.get(element, 0)


def narrowed(root: Element) -> Element:
    """The part of a page that is its article; the page itself, where it is none."""
    if root.select_one(_REFERENCE) is not None:
        return root
    prose = Prose(root)
    if prose.total < _ENOUGH_PROSE:
        return root
    part = root
    while (inner := _heir(part, prose)) is not None:
        part = inner
    return part


def _heir(part: Element, prose: Prose) -> Element | None:
    for child in part.children:
        if isinstance(child, Element) and prose.held_by(child) >= _NEARLY_ALL * prose.total:
            return child if child.tag not in ("p", "li", "td", "blockquote") else None
    return None
