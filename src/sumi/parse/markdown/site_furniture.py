"""What the pages of one site have in common: lines of Markdown that stand on nearly all of them.

A page alone cannot tell a slogan from a sentence; the site can. Lines are compared by their words, so a link
that points elsewhere on each page, or is bold on its own, is the same line. Code is never furniture, and nor
is the title. At the beginning and at the end of a page furniture can be taken off; in its midst it may be the
heading of every chapter of a manual, and is only counted. Few pages may have a sentence in common that they
say themselves, so on a small site only what is short is furniture, on every page, and on pages that begin
with it: there nothing told the text from what is around it.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from hashlib import blake2b
from itertools import chain
from typing import Final, NamedTuple

FEWEST_PAGES: Final = 5  # of a site that can teach anything
_FEW_PAGES: Final = 8
_SENTENCE: Final = 16  # words of a line
_FEWEST_WORDS: Final = 3  # of bars
_MOST_LINES: Final = 400  # counted of each page, from its beginning and from its end
_MOST_TAKEN: Final = 40  # blocks, at either end
_NEARLY_ALL: Final = 0.9
_MOST: Final = 0.5
_LETTERS: Final = 6  # bytes of a hash

_TARGET: Final = re.compile(r"\]\((?:<[^>]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)")
_WORD: Final = re.compile(r"\w+")
_FENCE: Final = re.compile(r"[>\s]*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})")
_HEADING: Final = re.compile(r"#{1,6}\s")
_PLACE: Final = re.compile(r'<a id="([^"]*)"></a>')
_BLANK_LINES: Final = re.compile(r"\n[ \t]*\n")


class Block(NamedTuple):
    """What stands between two empty lines."""

    text: str
    lines: tuple[str, ...]  # hashes of those that have words; none of code
    words: int
    is_code: bool

    @property
    def is_heading(self) -> bool:
        return _HEADING.match(self.text) is not None

    @property
    def is_title(self) -> bool:
        return self.text.startswith("# ")

    def is_within(self, common: Collection[str]) -> bool:
        """Whether all of it is; a mark alone is of what is around it."""
        return not self.is_code and all(line in common for line in self.lines)


def blocks_of(markdown: str) -> list[Block]:
    blocks: list[Block] = []
    fence = ""
    held: list[str] = []  # a block of code with empty lines in it
    for text in _parts(markdown.strip("\n")):
        was_open = bool(fence)
        has_fence = "```" in text or "~~~" in text  # most have none, and the pattern is slow
        if has_fence:
            fence = _fence_after(text, fence)
        held.append(text)
        if not fence:
            is_code = was_open or (has_fence and _FENCE.search(text) is not None)
            blocks.append(_block("\n\n".join(held), is_code=is_code))
            held = []
    if held:
        blocks.append(_block("\n\n".join(held), is_code=True))
    return blocks


def _parts(markdown: str) -> list[str]:
    """Between empty lines. Without blanks at the end of a line, a plain split finds the same, sooner."""
    if " \n" in markdown or "\t\n" in markdown:
        return _BLANK_LINES.split(markdown)
    return markdown.split("\n\n")


def _fence_after(text: str, fence: str) -> str:
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found is None:
            continue
        if not fence:
            fence = found[1]
        elif found[1].startswith(fence) and not line[found.end() :].strip():
            fence = ""
    return fence


def _block(text: str, *, is_code: bool) -> Block:
    if is_code:
        return Block(text, (), len(_WORD.findall(text)), is_code=True)
    lines = [words for line in text.split("\n") if (words := _words_of(line))]
    if "<a id=" in text:  # to be told apart by, and no word to be read
        count = len(_WORD.findall(_PLACE.sub("", _TARGET.sub("]", text))))
    else:
        count = sum(map(len, lines))
    return Block(text, tuple(map(_hash, lines)), count, is_code=False)


def _words_of(line: str) -> list[str]:
    return _WORD.findall(_TARGET.sub("]", line).casefold())


def _hash(words: Iterable[str]) -> str:
    return blake2b(" ".join(words).encode("utf-8", "replace"), digest_size=_LETTERS).hexdigest()


class Site:
    """Counts on how many of its pages each line stands, and remembers no page."""

    def __init__(self) -> None:
        self.pages = 0
        self._lines: Counter[str] = Counter()
        self._sentences: set[str] = set()  # of a small site

    def add(self, blocks: Iterable[Block], taken: Iterable[str] = ()) -> None:
        """``taken``: lines that were taken off the page before."""
        blocks = list(blocks)
        lines = list(chain.from_iterable(block.lines for block in blocks))
        self.pages += 1
        if self.pages < _FEW_PAGES:
            self._sentences.update(
                *(each.lines for each in blocks if each.words >= _SENTENCE * len(each.lines))
            )
        self._lines.update({*lines[:_MOST_LINES], *lines[-_MOST_LINES:], *taken})

    def furniture(self) -> "Furniture":
        if self.pages < FEWEST_PAGES:
            return NOTHING_LEARNT
        least = _MOST * self.pages
        usual = {line: times for line, times in self._lines.items() if times > least}
        if self.pages < _FEW_PAGES:
            always = (line for line, times in usual.items() if times == self.pages)
            return Furniture(frozenset(always) - self._sentences, frozenset(usual), is_of_few=True)
        constant = frozenset(line for line, times in usual.items() if times >= _NEARLY_ALL * self.pages)
        return Furniture(constant, frozenset(usual))


class Furniture(NamedTuple):
    constant: frozenset[str]  # on nearly all pages
    usual: frozenset[str]  # on most
    is_of_few: bool = False  # pages


NOTHING_LEARNT: Final = Furniture(frozenset(), frozenset())


class Taken(NamedTuple):
    markdown: str
    lines: tuple[str, ...]
    words: int


def without_furniture(
    blocks: list[Block], constant: Collection[str], *, is_of_few: bool = False
) -> Taken | None:
    """None if there is nothing to take off, or if hardly anything but a heading would be left."""
    start, end = _beginning(blocks, constant), _end(blocks, constant)
    if is_of_few and not _begins_with_bars(blocks[:start], constant):
        return None
    taken = [
        block
        for at, block in enumerate(blocks)
        if (at < start or at >= end) and not _is_kept(block, constant)
    ]
    if start >= end:
        return None
    out = set(map(id, taken))
    rest = "\n".join(block.text for block in blocks if id(block) not in out)
    taken = [block for block in taken if not _is_led_to(block, rest)]
    lines = dict.fromkeys(chain.from_iterable(block.lines for block in taken))
    if not lines:
        return None
    out = set(map(id, taken))
    left = [block for block in blocks if id(block) not in out]
    if not any(block.words for block in left if not block.is_heading):
        return None
    markdown = "\n\n".join(block.text for block in left) + "\n"
    return Taken(markdown, tuple(lines), sum(block.words for block in taken))


def _begins_with_bars(blocks: list[Block], constant: Collection[str]) -> bool:
    """And not with a list of the page's own headings, which many pages may share."""
    bars = (each for each in blocks if not _is_kept(each, constant) and "](#" not in each.text)
    return sum(each.words for each in bars) >= _FEWEST_WORDS


def _is_led_to(block: Block, rest: str) -> bool:
    """By a link that stays on the page."""
    return "<a id=" in block.text and any(f"](#{name})" in rest for name in _PLACE.findall(block.text))


def _is_kept(block: Block, constant: Collection[str]) -> bool:
    return block.is_title or not block.is_within(constant)


def _beginning(blocks: list[Block], constant: Collection[str]) -> int:
    """Where the page itself begins: a title amid furniture ends nothing, and a heading before the text is
    that of the text."""
    is_titled = False
    linked: set[str] = set()
    at = 0
    for at, block in enumerate(blocks[:_MOST_TAKEN]):  # noqa: B007 - where it ended
        if block.is_title and not is_titled:
            is_titled = True
        elif not block.is_within(constant) or (block.lines and linked.issuperset(block.lines)):
            break  # what the bars before have as a link is, without one, the title
        elif "](" in block.text:
            linked.update(block.lines)
    while at and blocks[at - 1].is_heading:
        at -= 1
    return at


def _end(blocks: list[Block], constant: Collection[str]) -> int:
    at = len(blocks)
    while at and len(blocks) - at < _MOST_TAKEN and not _is_kept(blocks[at - 1], constant):
        at -= 1
    return at


def junk_share(blocks: list[Block], usual: Collection[str]) -> float:
    """How many of the words are in blocks that stand on most pages. A heading counts if what follows does."""
    total = sum(block.words for block in blocks)
    common = 0
    follows = True
    for block in reversed(blocks):
        is_common = bool(block.lines) and not block.is_title and block.is_within(usual)
        if is_common and (follows or not block.is_heading):
            common += block.words
        if block.words:
            follows = is_common
    return round(common / total, 4) if total else 0.0
