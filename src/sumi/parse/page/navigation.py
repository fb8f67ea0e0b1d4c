"""The navigation of a documentation site that scripts make of data: read as data, never run.

Doxygen writes its menu into ``menudata.js`` and its tree into ``navtreedata.js`` (once ``navtree.js``), whose
pages it indexes in ``navtreeindexN.js``; without these its start page links to next to nothing. Each file is
a few assignments of literals. They may be hostile: nothing is made of them but addresses, and only so many,
however deeply they are nested.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from sumi.parse.html import Document

_MOST_ADDRESSES: Final = 50_000
_MOST_FILES: Final = 10_000
_MOST_NESTED: Final = 200
_LONGEST: Final = 8192  # characters of an address

# What a page includes: the last one only where the data has no file of its own.
_SCRIPTS: Final = ("menudata.js", "navtreedata.js", "navtree.js")
_MENTIONED: Final = (b"menudata.js", b"navtree")

_ASSIGNMENT: Final = re.compile(r"(?<![\w.$])(\w{1,200})\s{0,20}=\s{0,20}(?=[\[{])")
_TOKEN: Final = re.compile(
    r"""\s+|//[^\n]*|/\*.*?\*/
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<mark>[\[\]{},:])
    |(?P<other>[\w.$+-]+)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_INDEX: Final = re.compile(r"NAVTREEINDEX\d+")
# An index has pages that are nowhere in the tree, and often nowhere at all: "pages.html":[]
_NOWHERE: Final = re.compile(r"\s{0,20}:\s{0,20}\[\s{0,20}\]")
_FILE: Final = re.compile(r"[\w./-]{1,200}")


class Navigation(NamedTuple):
    addresses: list[str]  # as written, relative to the file
    files: list[str]  # with more of it, likewise
    found: bool  # whether there was any such data at all
    cut: bool  # some of it could not be read


class _Text(NamedTuple):
    """A string of a literal and where it stands: a key, the value of one, or by its number in a list."""

    text: str
    depth: int
    is_key: bool
    key: str
    number: int  # -1 in an object


def navigation_scripts(document: Document, body: bytes) -> list[str]:
    """What a page includes of such data, as written there."""
    if not any(name in body for name in _MENTIONED):
        return []
    found: dict[str, str] = {}
    for script in document.select("script[src]"):
        source = script.attr("src") or ""
        name = source.partition("?")[0].partition("#")[0].rpartition("/")[2]
        if name in _SCRIPTS:
            found.setdefault(name, source)
    if "navtreedata.js" in found:
        found.pop("navtree.js", None)
    return list(found.values())


def read_navigation(text: str, stem: str) -> Navigation:
    """``stem``: the file's name without ``.js``; a part of the tree is called like its file."""
    read = _Read()
    for match in _ASSIGNMENT.finditer(text):
        if _is_wanted(match[1], stem):
            read.take(match[1], _strings(text, match.end()))
    # The index has the pages of the whole tree, in far fewer files.
    files = [f"navtreeindex{number}.js" for number in range(read.indexes)]
    files = files or [f"{name}.js" for name in read.children]
    cut = read.cut or len(files) > _MOST_FILES
    return Navigation(list(read.addresses), files[:_MOST_FILES], read.found, cut)


class _Read:
    def __init__(self) -> None:
        self.addresses: dict[str, None] = {}
        self.children: dict[str, None] = {}
        self.indexes = 0
        self.found = self.cut = False

    def take(self, name: str, strings: Iterator[_Text | None]) -> None:
        """All of one assignment, as far as there is room."""
        self.found = True
        for each in strings:
            if each is None or self._is_full():
                self.cut = True
                return
            if name == "NAVTREEINDEX":
                self.indexes += each.depth == 1
            elif _is_child(each, name):
                self.children[each.text] = None
            elif _is_address(each, name):
                self.addresses[each.text] = None

    def _is_full(self) -> bool:
        return len(self.addresses) + len(self.children) + self.indexes >= _MOST_ADDRESSES


def _is_wanted(name: str, stem: str) -> bool:
    return name in ("menudata", "NAVTREE", "NAVTREEINDEX", stem) or _INDEX.fullmatch(name) is not None


def _is_address(each: _Text, name: str) -> bool:
    if not each.text or len(each.text) > _LONGEST:
        return False
    if name == "menudata":
        return each.key == "url" and not each.is_key
    if _INDEX.fullmatch(name):
        return each.is_key and each.depth == 1
    return each.number == 1  # [title, address, children]


def _is_child(each: _Text, name: str) -> bool:
    """The name of the file that has a page's children."""
    in_tree = name != "menudata" and not _INDEX.fullmatch(name)
    return in_tree and each.number == 2 and _FILE.fullmatch(each.text) is not None


class _Level:
    """A list or an object that is open."""

    __slots__ = ("key", "number")

    def __init__(self, mark: str) -> None:
        self.key = ""
        self.number = 0 if mark == "[" else -1

    def next(self) -> None:
        self.key = ""
        self.number += self.number != -1

    def placed(self, text: str, depth: int) -> _Text:
        is_key = self.number == -1 and not self.key
        before, self.key = self.key, text or "?" if is_key else self.key
        return _Text(text, depth, is_key, before, self.number)


def _strings(text: str, start: int) -> Iterator[_Text | None]:
    """The strings of the literal that begins at ``start``; then None if it is cut off, nests too deeply or is
    something else."""
    levels: list[_Level] = []
    position = start
    while match := _TOKEN.match(text, position):
        position = match.end()
        kind, token = match.lastgroup, match[0]
        if kind == "mark":
            _moved(levels, token)
            if not levels:
                return
            if len(levels) > _MOST_NESTED:
                break
        elif kind is not None:
            string = levels[-1].placed(_unescaped(token[1:-1]) if kind == "string" else token, len(levels))
            if kind == "string" and not (string.is_key and _NOWHERE.match(text, position)):
                yield string
    yield None


def _moved(levels: list[_Level], mark: str) -> None:
    if mark in "[{":
        levels.append(_Level(mark))
    elif mark in "]}":
        levels.pop()
    elif mark == ",":
        levels[-1].next()


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(
        lambda match: chr(int(match[1] or match[2], 16)) if match[3] is None else match[3], text
    )
