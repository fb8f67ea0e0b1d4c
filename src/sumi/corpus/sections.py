"""A page's Markdown cut into sections, for search and for stores that follow a site. Pure, and nothing is
lost: the sections, joined, are the page.

Cut at headings outside code. A section that is longer than ``LONGEST`` is cut again, at an empty line outside
code and tables if there is one within reach, else at the end of a line, else anywhere.
"""

import re
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from typing import Final, NamedTuple

LONGEST: Final = 4000  # characters
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\Z")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_LINK: Final = re.compile(r"!?\[([^\]\[]*)\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*\)")
_SYNTAX: Final = re.compile(r"\\([!-/:-@\[-`{-~])|[`*]")


class Section(NamedTuple):
    """``start`` and ``length`` count bytes of the page as UTF-8."""

    start: int
    length: int
    level: int  # of its heading; 0 before the first
    heading: str  # as plain text
    trail: tuple[str, ...]  # the headings above it, its own last
    part: int  # 0, and from 1 for the further parts of a section that was cut again
    text: str


def sections(page: str) -> list[Section]:
    found: list[Section] = []
    trail: list[tuple[int, str]] = []
    start = 0
    for level, heading, text in _by_heading(page):
        if level:
            trail = [*(above for above in trail if above[0] < level), (level, heading)]
        names = tuple(name for _, name in trail)
        for part, piece in enumerate(_pieces(text)):
            length = len(piece.encode("utf-8", "replace"))
            found.append(Section(start, length, level, heading, names, part, piece))
            start += length
    return found


def section_ids(url: str, cut: list[Section]) -> list[str]:
    """A name for each that stays while the headings above it do, whatever else changes on the page."""
    seen: Counter[tuple[tuple[str, ...], int]] = Counter()
    ids = []
    for section in cut:
        key = section.trail, section.part
        seen[key] += 1
        name = "\0".join((url, *section.trail, str(section.part), str(seen[key])))
        ids.append(sha256(name.encode("utf-8", "replace")).hexdigest()[:32])
    return ids


def plain_heading(text: str) -> str:
    return " ".join(_SYNTAX.sub(r"\1", _LINK.sub(r"\1", text)).split())


def _by_heading(page: str) -> Iterator[tuple[int, str, str]]:
    level, heading, lines = 0, "", list[str]()
    for line, code in _lines(page):
        found = None if code else _HEADING.match(line.rstrip("\n"))
        if found:
            if lines:
                yield level, heading, "".join(lines)
            level, heading, lines = len(found[1]), plain_heading(found[2] or ""), []
        lines.append(line)
    if lines:
        yield level, heading, "".join(lines)


def _lines(page: str) -> Iterator[tuple[str, bool]]:
    """Each line with its end, and whether it belongs to a fenced block of code."""
    fence = ""
    for line in _with_ends(page):
        mark = _FENCE.match(line.rstrip("\n"))
        if fence:
            yield line, True
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        else:
            if mark and not (mark[1][0] == "`" and "`" in mark[2]):
                fence = mark[1]
            yield line, bool(fence)


def _with_ends(page: str) -> list[str]:
    """Lines as Markdown knows them: other characters than these end none."""
    *lines, last = page.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _pieces(text: str) -> Iterator[str]:
    if len(text) <= LONGEST:
        yield text
        return
    piece, size, gap = list[str](), 0, 0  # ``gap``: how many bits of the piece end at an empty line
    for line, code in _lines(text):
        for bit in (line[at : at + LONGEST] for at in range(0, len(line), LONGEST)):
            while piece and size + len(bit) > LONGEST:
                cut = gap or len(piece)
                yield "".join(piece[:cut])
                piece, gap = piece[cut:], 0
                size = sum(map(len, piece))
            piece.append(bit)
            size += len(bit)
            if not code and not bit.strip():
                gap = len(piece)
    if piece:
        yield "".join(piece)
