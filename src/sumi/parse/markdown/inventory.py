"""What a page holds that its Markdown must hold too, counted on both sides in the same terms."""

import re
from collections import Counter
from typing import Final, NamedTuple

from sumi.parse.commonmark import render
from sumi.parse.html import Document, Element, parse_text

_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_ITEMS: Final = ("li", "dt")
_COUNTED: Final = (*_HEADINGS, "pre", *_ITEMS)

_INLINE_TAG: Final = re.compile(r"</?(?:a|b|code|del|em|i|s|strong|sub|sup)(?:\s[^<>]*)?>")
_TAG: Final = re.compile(r"<[^<>]*>")
_WORD: Final = re.compile(r"\w+")
_AT_ONCE: Final = 100_000  # characters of which the words are counted together
_UNLETTERED: Final = bytes(code for code in range(128) if not chr(code).isalnum())
# Seen on one side only: bullets in cells, and blanks and breaks of other kinds than the plain one.
_UNSEEN: Final = tuple(mark.encode() for mark in "•\xa0\u200b\u2028\u2029\x85")


class Grids(NamedTuple):
    """Tables, and what is in their cells, where it is neither an item nor a block of its own."""

    tables: int = 0
    rows: int = 0
    cells: int = 0


class Holdings(NamedTuple):
    headings: tuple[int, ...]  # of each level
    code: Counter[str]
    languages: int  # blocks of code that name theirs
    grids: Grids
    items: int
    links: int
    text: str


def holdings_of_tree(root: Element) -> Holdings:
    """Without its tables: whether one is a table, and what then counts as in its cells, is known later."""
    headings = dict.fromkeys(_HEADINGS, 0)
    blocks: list[Element] = []
    items = languages = 0
    for element in root.iter_elements(_COUNTED):
        tag = element.tag
        if tag in _ITEMS:
            items += 1
        elif tag == "pre":
            blocks.append(element)
            languages += element.attr("class") is not None
        elif _says_anything(element):
            headings[tag] += 1
    return Holdings(
        headings=tuple(headings.values()),
        code=_code_of(blocks),
        languages=languages,
        grids=Grids(),
        items=items,
        links=len(root.select("a[href]")),
        text=root.text,
    )


def holdings_of_markdown(markdown: str) -> Holdings:
    """By the parser that read the page, asked of the whole document: see ``select_each``."""
    document = parse_text(render(markdown))
    return Holdings(
        headings=tuple(_number_of(document, level) for level in _HEADINGS),
        code=_code_of(document.find_all("pre")),
        languages=len(document.select("code[class]")),
        grids=Grids(
            _number_of(document, "table"),
            _number_of(document, "tr"),
            _number_of(document, "td") + _number_of(document, "th"),
        ),
        items=_number_of(document, "li"),
        links=len(document.select("a[href]")),
        text="" if document.root is None else document.root.text,
    )


def _number_of(document: Document, tag: str) -> int:
    return len(document.find_all(tag))


def code_text(pre: Element) -> str:
    return pre.text.strip("\n")


def code_as_seen(text: str) -> str:
    """Without what nobody sees: blanks at the ends of lines, and whether those at the beginning are tabs."""
    return "\n".join(line.rstrip() for line in text.expandtabs(4).strip("\n").split("\n")).strip("\n")


def same_letters(one: str, other: str) -> bool:
    """The cheapest way to see that two texts are the same but for their layout."""
    left, right = letters_of(one), letters_of(other)
    return left == right or _seen(left) == _seen(right)


def letters_of(text: str) -> bytes:
    """Letters and digits alone, and whatever is not ASCII."""
    return text.encode("utf-8", "replace").translate(None, _UNLETTERED)


def words_of_tree(root: Element) -> Counter[str]:
    """Changes the tree: the numbers of its lists would be taken for words."""
    for numbered in list(root.iter_elements("ol")):
        numbered.tag = "ul"
    return _words_in(root.to_text())


def words_of_markdown(markdown: str) -> Counter[str]:
    return _words_in(_shown(_TAG.sub(" ", _INLINE_TAG.sub("", render(markdown)))))


def _words_in(text: str) -> Counter[str]:
    """Line by line where there are many: a list of all words takes ten times as much as a text."""
    words: Counter[str] = Counter()
    start = 0
    while start < len(text):
        end = text.find("\n", start + _AT_ONCE)
        end = len(text) if end < 0 else end
        words.update(_WORD.findall(text, start, end))
        start = end
    return words


def _says_anything(heading: Element) -> bool:
    return bool(heading.text.strip())


def _code_of(blocks: list[Element]) -> Counter[str]:
    """Without what is blank."""
    texts = [text for block in blocks if (text := code_text(block)) and not text.isspace()]
    return Counter(texts) if texts else Counter()


def _shown(text: str) -> str:
    """The parser escapes four characters and no other; the library's function would look for all."""
    if "&" not in text:
        return text
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")


def _seen(letters: bytes) -> bytes:
    for mark in _UNSEEN:
        letters = letters.replace(mark, b"")
    return letters
