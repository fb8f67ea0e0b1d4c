"""The runs of text on a page, each between two borders of blocks, and the blocks that hold them.

A run is the smallest part that is kept or left out as a whole: a paragraph, a caption, an entry of a menu.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

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
_PLAIN_NAME_WORD: Final = re.compile(r"[a-z]{2,}")
_LONGEST_NAMES: Final = 300


class Block:
    """An element that begins and ends a line, with what is in it and in the blocks within."""

    __slots__ = (
        "_names", "classes", "depth", "element", "letters", "linked", "parent", "prose", "runs", "tag",
    )  # fmt: skip

    def __init__(self, element: Element, tag: str, parent: "Block | None") -> None:
        self.element = element
        self.parent = parent
        self.tag = tag
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.classes = element.attr("class") or ""
        self._names: tuple[str, ...] | None = None
        self.letters = self.linked = self.prose = self.runs = 0

    @property
    def names(self) -> tuple[str, ...]:
        names = self._names
        if names is None:
            identifier = self.element.attr("id") or ""
            names = self._names = names_of(self.classes, identifier) if self.classes or identifier else ()
        return names


class Run:
    """Text without the border of a block in it."""

    __slots__ = ("block", "is_prose", "length", "linked", "names", "nodes", "parts", "pictures", "text")

    def __init__(self, block: Block, pictures: int) -> None:
        self.block = block
        self.nodes: list[Text] = []
        self.parts: list[str] = []  # what they say
        self.names: tuple[str, ...] = ()  # of the last element in line that has any
        self.linked = 0  # letters in links
        self.pictures = pictures  # between the run before and this one
        self.text = ""
        self.length = 0
        self.is_prose = False


class PageText(NamedTuple):
    runs: list[Run]
    blocks: list[Block]  # that hold text, parents first


# What a text is in: the block, whether a link, and the names of the elements in line.
_Place: TypeAlias = tuple[Block, bool, tuple[str, ...]]


@lru_cache(maxsize=8192)
def names_of(classes: str, identifier: str) -> tuple[str, ...]:
    """The words of both, as pages are full of "post-content" and "relatedPosts"."""
    names = f"{classes} {identifier}"[:_LONGEST_NAMES]
    if names.islower():
        return tuple(dict.fromkeys(_PLAIN_NAME_WORD.findall(names)))
    words = _NAME_WORD.findall(names)
    return tuple(dict.fromkeys(word.lower() for word in words if len(word) > 1))


def read_text(root: Element) -> PageText:
    """In one loop: a page has thousands of nodes, and a call for each would take as long as all the rest."""
    first = Block(root, root.tag, None)
    places = _Places(root, first)
    run = Run(first, 0)
    runs: list[Run] = []
    pictures = 0
    for node in root.descendants:
        if isinstance(node, Text):
            data = node.data
            if data.isspace():
                run.parts.append(" ")
                continue
            place = places[node.parent]
            if place is None:
                continue
            block, is_link, names = place
            if block is not run.block:
                runs.append(run)
                run = Run(block, pictures)
                pictures = 0
            run.nodes.append(node)
            run.parts.append(data)
            if names:
                run.names = names
            if is_link:
                run.linked += len(" ".join(data.split()))
        elif isinstance(node, Element):
            tag = node.tag
            pictures += tag == "img"
            if tag == "br":
                run.parts.append(" ")
    runs.append(run)
    return PageText(_settled(runs, places.blocks), places.blocks)


class _Places(dict[Node | None, _Place | None]):
    """Of each element with text. None within what is not read."""

    def __init__(self, root: Element, block: Block) -> None:
        super().__init__({None: None, root: (block, False, ())})
        self.blocks = [block]

    def __missing__(self, element: Node) -> _Place | None:
        parent = element.parent
        if parent in self:
            place = self[element] = self._enter(element, self[parent])
            return place
        way = [element]
        while parent not in self:
            way.append(parent)  # type: ignore[arg-type]
            parent = parent.parent  # type: ignore[union-attr]
        place = self[parent]
        for each in reversed(way):
            place = self[each] = self._enter(each, place)
        return place

    def _enter(self, element: Node, place: _Place | None) -> _Place | None:
        if place is None or not isinstance(element, Element):
            return None
        tag = element.tag
        if tag in _BLOCKS:
            block = Block(element, tag, place[0])
            self.blocks.append(block)
            return block, place[1], ()
        if tag == "a":
            return place[0], True, place[2]
        if tag in _UNREAD:
            return None
        classes = element.attr("class")
        return place if not classes else (place[0], place[1], names_of(classes, "") or place[2])


def _settled(runs: list[Run], blocks: list[Block]) -> list[Run]:
    """Those that say something, added up in the blocks."""
    said = []
    for run in runs:
        parts = run.parts
        text = " ".join((parts[0] if len(parts) == 1 else "".join(parts)).split())
        if not text:
            continue
        run.text = text
        run.length = length = len(text)
        linked = run.linked
        if linked > length:
            run.linked = linked = length
        block = run.block
        block.letters += length
        block.linked += linked
        block.runs += 1
        if length >= _SHORTEST_PROSE and linked < _MOST_LINKED * length:
            run.is_prose = True
            block.prose += length
        said.append(run)
    for block in reversed(blocks):
        parent = block.parent
        if parent is not None:
            parent.letters += block.letters
            parent.linked += block.linked
            parent.prose += block.prose
            parent.runs += block.runs
    return said


def blocks_within(text: PageText, outer: Block) -> set[Block]:
    """With itself."""
    blocks = text.blocks
    if outer is blocks[0]:
        return set(blocks)
    within = {outer}
    least = outer.depth
    for block in blocks:  # parents come first
        if block.depth > least and block.parent in within:
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
