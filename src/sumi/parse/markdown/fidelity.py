"""How much of a page arrived in its Markdown: one number between 0 and 1, and what fell short by name.

Both sides are counted after everything that is not content was taken off the page, and the Markdown after a
CommonMark parser has read it again. So a table that came out as text is a table lost.
"""

import re
from collections import Counter
from collections.abc import Iterator
from math import sqrt
from typing import Final, NamedTuple

from sumi.parse.commonmark import render
from sumi.parse.html import Document, Element, parse_text
from sumi.parse.markdown.words import list_words

_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_ITEMS: Final = ("li", "dt")
_COUNTED: Final = (*_HEADINGS, "pre", *_ITEMS)

_INLINE_TAG: Final = re.compile(r"</?(?:a|b|code|del|em|i|s|strong|sub|sup)(?:\s[^<>]*)?>")
_TAG: Final = re.compile(r"<[^<>]*>")
_AT_ONCE: Final = 100_000  # characters of which the words are counted together
_UNLETTERED: Final = bytes(code for code in range(128) if not chr(code).isalnum())
# Seen on one side only: bullets in cells, and blanks and breaks of other kinds than the plain one.
_UNSEEN: Final = tuple(mark.encode() for mark in "•\xa0\u200b\u2028\u2029\x85")


class Grids(NamedTuple):
    """Tables, and what is in their cells, where it is neither an item nor a block of its own."""

    tables: int = 0
    rows: int = 0
    cells: int = 0


class Inventory(NamedTuple):
    """What a page holds that its Markdown must hold too, counted on both sides in the same terms."""

    headings: tuple[int, ...]  # of each level
    code: Counter[str]
    languages: int  # blocks of code that name theirs
    grids: Grids
    items: int
    links: int
    text: str


def inventory_of_tree(root: Element) -> Inventory:
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
    return Inventory(
        headings=tuple(headings.values()),
        code=_code_of(blocks),
        languages=languages,
        grids=Grids(),
        items=items,
        links=len(root.select("a[href]")),
        text=root.text,
    )


def inventory_of_markdown(markdown: str) -> Inventory:
    """By the parser that read the page, asked of the whole document: see ``select_each``."""
    document = parse_text(render(markdown))
    return Inventory(
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
        words.update(list_words(text, start, end))
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


# A usual page has 30 KB of Markdown. Longer than this, counting would cost what a hundred pages do.
LONGEST: Final = 3_000_000
_DECIMALS: Final = 4


class Fidelity(NamedTuple):
    score: float
    shortfalls: list[str]  # "tables: 0 of 1"


class _Share(NamedTuple):
    """Of one kind of thing, how many of those wanted are there."""

    what: str
    wanted: int
    kept: int

    @property
    def value(self) -> float:
        """One more on either side, so that the loss of the only one of a kind is grave, and not all."""
        return (min(self.kept, self.wanted) + 1) / (self.wanted + 1)

    def __str__(self) -> str:
        return f"{self.what}: {self.kept:,} of {self.wanted:,}"


class _Wording(NamedTuple):
    words: Counter[str]
    letters: int


class Expected(NamedTuple):
    """What the Markdown of a page is measured against."""

    inventory: Inventory
    source: Element | _Wording  # the tree as it was converted; only looked at where the texts differ
    beside: int  # words on the page that look like content, and are not in what was chosen as its content
    left_out: dict[str, int] | None = None  # words by what they were in: see the module of that name

    def without_tree(self) -> "Expected":
        """With its words counted, needed or not, so that nobody has to keep the tree."""
        return self._replace(source=self.wording())

    def wording(self) -> _Wording:
        if isinstance(self.source, _Wording):
            return self.source
        return _Wording(words_of_tree(self.source), len(letters_of(self.source.text)))


def judge(expected: Expected, markdown: str) -> Fidelity | None:
    """None for a page too long to be judged."""
    if len(markdown) > LONGEST:
        return None
    wanted, kept = expected.inventory, inventory_of_markdown(markdown)
    lost, total = _lost_words(expected, markdown, kept.text)
    text, words = _text_share(lost, total, expected.beside)
    score = text
    shortfalls = words
    for share in _weighty(wanted, kept):
        if share.kept < share.wanted:
            score *= share.value
            shortfalls.append(str(share))
    for share in _lighter(wanted, kept):
        if share.kept < share.wanted:
            score *= sqrt(share.value)
            shortfalls.append(str(share))
    return Fidelity(round(score, _DECIMALS), shortfalls)


def _weighty(wanted: Inventory, kept: Inventory) -> Iterator[_Share]:
    """Of what is not just the same on both sides, as nearly everything is on nearly every page."""
    if not dict.__eq__(wanted.code, kept.code):  # a counter compares ten times as slowly
        yield _code(wanted, kept)
    if wanted.grids != kept.grids:
        yield _grids(wanted.grids, kept.grids)


def _lighter(wanted: Inventory, kept: Inventory) -> Iterator[_Share]:
    if wanted.headings != kept.headings:
        yield _Share("headings", sum(wanted.headings), _common(wanted.headings, kept.headings))
    if wanted.languages != kept.languages:
        yield _Share("code languages", wanted.languages, kept.languages)
    if wanted.items != kept.items:
        yield _Share("list items", wanted.items, kept.items)
    if wanted.links != kept.links:
        yield _Share("links", wanted.links, kept.links)


def _code(wanted: Inventory, kept: Inventory) -> _Share:
    """Blocks of which every character that is seen is there: nearly right code is wrong."""
    same = (wanted.code & kept.code).total()
    alike = _as_seen(wanted.code - kept.code) & _as_seen(kept.code - wanted.code)
    return _Share("code blocks", wanted.code.total(), same + alike.total())


def _as_seen(code: Counter[str]) -> Counter[str]:
    seen: Counter[str] = Counter()
    for text, times in code.items():
        seen[code_as_seen(text)] += times
    return seen


def _grids(wanted: Grids, kept: Grids) -> _Share:
    """The largest of what is missing: tables, or else rows, or else cells."""
    shares = (
        _Share("tables", wanted.tables, kept.tables),
        _Share("table rows", wanted.rows, kept.rows),
        _Share("table cells", wanted.cells, kept.cells),
    )
    return next((share for share in shares if share.kept < share.wanted), shares[0])


def _common(wanted: tuple[int, ...], kept: tuple[int, ...]) -> int:
    return sum(map(min, wanted, kept))


def _text_share(lost: int, wanted: int, beside: int) -> tuple[float, list[str]]:
    share = (wanted - lost) / (wanted + beside) if lost or beside else 1.0
    shortfalls = []
    if lost:
        shortfalls.append(f"words: {wanted - lost:,} of {wanted:,}")
    if beside:
        shortfalls.append(f"words beside the chosen content: {beside:,}")
    return share, shortfalls


def _lost_words(expected: Expected, markdown: str, text: str) -> tuple[int, int]:
    """And of how many. Counting words is ten times what comparing letters costs, and seldom needed."""
    before = expected.inventory.text
    same = same_letters(before, text)
    if same and not expected.beside:
        return 0, 0
    wanted, there = expected.wording()
    if same:
        return 0, wanted.total()
    lost = _missing(wanted, words_of_markdown(markdown))
    # What was lost on the way to the tree that was converted is known in letters only.
    letters = len(letters_of(before))
    unconverted = round(wanted.total() * max(0, letters - there) / max(1, there))
    return lost + unconverted, wanted.total() + unconverted


def _missing(wanted: Counter[str], kept: Counter[str]) -> int:
    return (wanted - kept).total()
