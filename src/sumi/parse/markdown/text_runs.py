"""The runs of text on a page, each between two borders of blocks, and the blocks that hold them.

A run is the smallest part that is kept or left out as a whole: a paragraph, a caption, an entry of a menu.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from sumi.parse.html import Element, Node, Text

_UNREAD: Final = frozenset(
    {
        "audio", "button", "canvas", "embed", "head", "iframe", "map", "math", "noscript", "object", "script",
        "select", "style", "svg", "template", "textarea", "video",
    }
)  # fmt: skip
_BLOCKS: Final = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog",
        "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3",
        "h4", "h5", "h6", "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "p",
        "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
# Shorter runs are menus and captions; of longer ones, those with more links are lists of links.
_SHORTEST_PROSE: Final = 80
_MOST_LINKED: Final = 0.35
_DENSE: Final = 0.7
_OF_TEXT: Final = frozenset({"p", "blockquote"})
_NAME_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LONGEST_NAMES: Final = 300
_LONGEST_KIND: Final = 80


class Block:
    """An element that begins and ends a line, with what is in it and in the blocks within."""

    __slots__ = ("element", "kind", "letters", "linked", "names", "parent", "prose", "runs", "tag")

    def __init__(self, element: Element, tag: str, parent: "Block | None") -> None:
        self.element = element
        self.parent = parent
        self.tag = tag
        classes, identifier = element.attr("class") or "", element.attr("id") or ""
        self.names = names_of(classes, identifier) if classes or identifier else ()
        self.kind = f"{tag}.{classes[:_LONGEST_KIND]}"
        self.letters = self.linked = self.prose = self.runs = 0


class Run:
    """Text without the border of a block in it."""

    __slots__ = ("block", "is_prose", "length", "linked", "names", "nodes", "parts", "pictures", "text")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.nodes: list[Text] = []
        self.parts: list[str] = []  # what they say
        self.names: tuple[str, ...] = ()  # of the last element in line that has any
        self.linked = 0  # letters in links
        self.pictures = 0  # between the run before and this one
        self.text = ""
        self.length = 0
        self.is_prose = False


class PageText(NamedTuple):
    runs: list[Run]
    blocks: list[Block]  # that hold text, parents first


class _Place(NamedTuple):
    """What a text is in."""

    block: Block
    is_link: bool
    names: tuple[str, ...]  # of the elements in line


@lru_cache(maxsize=8192)
def names_of(classes: str, identifier: str) -> tuple[str, ...]:
    """The words of both, as pages are full of "post-content" and "relatedPosts"."""
    words = _NAME_WORD.findall(f"{classes} {identifier}"[:_LONGEST_NAMES])
    return tuple(dict.fromkeys(word.lower() for word in words if len(word) > 1))


def read_text(root: Element) -> PageText:
    reader = _Reader(root)
    reader.read(root)
    return PageText(reader.runs, reader.blocks)


class _Reader:
    __slots__ = ("_pictures", "_places", "_run", "blocks", "runs")

    def __init__(self, root: Element) -> None:
        block = Block(root, root.tag, None)
        self.blocks = [block]
        self.runs: list[Run] = []
        self._places: dict[Node, _Place | None] = {root: _Place(block, False, ())}
        self._run = Run(block)
        self._pictures = 0

    def read(self, root: Element) -> None:
        for node in root.descendants:
            if isinstance(node, Text):
                data = node.data
                if not data.isspace():
                    self._add(node, data)
                elif self._run.parts:
                    self._run.parts.append(" ")
            elif isinstance(node, Element):
                if node.tag == "br":
                    self._run.parts.append(" ")
                elif node.tag == "img":
                    self._pictures += 1
        self._end_run()
        self._add_up()

    def _add(self, node: Text, data: str) -> None:
        parent = node.parent
        if parent is None:
            return
        place = self._places[parent] if parent in self._places else self._find_place(parent)
        if place is None:
            return
        if place.block is not self._run.block:
            self._end_run()
            self._run = Run(place.block)
            self._run.pictures, self._pictures = self._pictures, 0
        run = self._run
        run.nodes.append(node)
        run.parts.append(data)
        if place.names:
            run.names = place.names
        if place.is_link:
            run.linked += len(" ".join(data.split()))

    def _find_place(self, element: Node) -> _Place | None:
        """None within what is not read."""
        way: list[Node] = []
        node: Node | None = element
        while node is not None and node not in self._places:
            way.append(node)
            node = node.parent
        place = None if node is None else self._places[node]
        for each in reversed(way):
            if place is not None:
                place = self._enter(each, place)
            self._places[each] = place
        return place

    def _enter(self, element: Node, place: _Place) -> _Place | None:
        if not isinstance(element, Element):
            return None
        tag = element.tag
        if tag in _BLOCKS:
            block = Block(element, tag, place.block)
            self.blocks.append(block)
            return _Place(block, place.is_link, ())
        if tag in _UNREAD:
            return None
        if tag == "a":
            return _Place(place.block, True, place.names)
        classes = element.attr("class")
        return (
            place if not classes else _Place(place.block, place.is_link, names_of(classes, "") or place.names)
        )

    def _end_run(self) -> None:
        run = self._run
        text = " ".join("".join(run.parts).split())
        if text:
            run.text, run.length = text, len(text)
            run.linked = min(run.linked, run.length)
            run.is_prose = run.length >= _SHORTEST_PROSE and run.linked < _MOST_LINKED * run.length
            self.runs.append(run)

    def _add_up(self) -> None:
        for run in self.runs:
            block = run.block
            block.letters += run.length
            block.linked += run.linked
            block.prose += run.length if run.is_prose else 0
            block.runs += 1
        for block in reversed(self.blocks):
            parent = block.parent
            if parent is not None:
                parent.letters += block.letters
                parent.linked += block.linked
                parent.prose += block.prose
                parent.runs += block.runs


def blocks_within(text: PageText, outer: Block) -> set[Block]:
    """With itself."""
    within = {outer}
    for block in text.blocks:
        if block.parent in within:
            within.add(block)
    return within


def densest(text: PageText) -> Block:
    """The smallest block that holds most of the prose."""
    root = text.blocks[0]
    best_of: dict[Block, Block] = {}
    for block in text.blocks:
        parent = block.parent
        if parent is not None and (parent not in best_of or best_of[parent].prose < block.prose):
            best_of[parent] = block
    least = max(1, _DENSE * root.prose)
    while root in best_of and best_of[root].prose >= least and best_of[root].tag not in _OF_TEXT:
        root = best_of[root]
    return root
