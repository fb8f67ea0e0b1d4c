"""What of a page is not in its Markdown, piece by piece: for those who wonder where a sentence is."""

from typing import Final, NamedTuple

from sumi.parse.html import Document, Element, Node, Text, collapse
from sumi.parse.markdown.convert import page_markdown
from sumi.parse.markdown.left_out import LeftOut
from sumi.parse.page.text import clean, harmless

_LONGEST: Final = 2_000  # characters shown of a piece
_LONGEST_NAME: Final = 80


class Piece(NamedTuple):
    kind: str  # of those in the module on what is left out
    words: int
    place: str  # the tag, with its id or its first class: "div.cookie-banner"
    text: str  # how it begins


class _Pieces(LeftOut):
    """Notes each piece with its place on the page, while its text is still there."""

    __slots__ = ("_order", "_pieces")

    def __init__(self, document: Document) -> None:
        super().__init__()
        root = document.root
        self._order = {} if root is None else {node: at for at, node in enumerate(root.descendants)}
        self._pieces: list[tuple[int, Piece]] = []

    def add(self, kind: str, words: int, *what: Node) -> None:
        super().add(kind, words, *what)
        if words and what:
            text = collapse(" ".join(map(_text_of, what)))
            piece = Piece(kind, words, _place_of(what[0]), harmless(clean(text[:_LONGEST])))
            self._pieces.append((self._order.get(what[0], len(self._order)), piece))

    def in_order(self) -> list[Piece]:
        return [piece for _, piece in sorted(self._pieces, key=lambda each: each[0])]


def pieces_left_out(document: Document, base: str) -> list[Piece]:
    """In the order in which they are on the page. Changes the document."""
    pieces = _Pieces(document)
    page_markdown(document, base, pieces)
    return pieces.in_order()


def _text_of(node: Node) -> str:
    """Cells and items that stand beside each other have no blank between them."""
    if isinstance(node, Text):
        return node.data
    return " ".join(node.stripped_strings) if isinstance(node, Element) else ""


def _place_of(node: Node) -> str:
    element = node if isinstance(node, Element) else node.parent
    if not isinstance(element, Element):
        return ""
    identifier, classes = element.attr("id"), (element.attr("class") or "").split()
    name = f"#{identifier}" if identifier else f".{classes[0]}" if classes else ""
    return collapse(f"{element.tag}{name}"[:_LONGEST_NAME])
