"""``llms-full.txt``: a site's whole text as one Markdown file, parted by the pages that it says it is from.

There is no standard for how a part names its page. Three ways are common, and a file may use any of them:

- a heading with its address on a line of its own below: ``Source: https://…`` or ``URL: /path``
- a block between two lines of dashes, as front matter, with ``url: /path`` in it
- a heading that ends with the address in brackets: ``# Title (/path)``

What names no page belongs to nobody, and a page that is named twice to neither: better none than a wrong one.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from sumi.policy import Preset
from sumi.urls import normalize

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_TITLE: Final = re.compile(r"#{1,2} +\S")
_TITLE_WITH_PATH: Final = re.compile(
    r"(?P<title>#{1,2} .{1,300}?) \((?P<address>(?:https?://|/)[^\s()]{0,2000})\)$"
)
_SOURCE: Final = re.compile(
    r"(?:source|url):\s*[<\"']?(?P<address>(?:https?://|/)[^\s<>\"']{0,2000})[>\"']?$", re.IGNORECASE
)
_DASHES: Final = "---"
_NEAR: Final = 3  # lines below a heading, or of a front matter, in which the address is looked for
_MOST_PARTS: Final = 50_000


class _Start(NamedTuple):
    """Where a part begins, and where its text does."""

    line: int
    text_line: int
    title: str
    address: str


def parts_by_page(text: str, base: str) -> dict[str, str]:
    """By absolute, normalized URL; without the lines that name the pages."""
    lines = text.replace("\r\n", "\n").split("\n")
    starts = list(_starts(lines))
    ends = [*(start.line for start in starts), len(lines)][1:]
    parts: dict[str, str | None] = {}
    for start, end in zip(starts, ends, strict=True):
        url = normalize(start.address, Preset.MIRROR, base)
        if url is not None:
            body = "\n".join(lines[start.text_line : end]).strip("\n")
            parts[url] = None if url in parts else f"{start.title}\n\n{body}".lstrip("\n") + "\n"
    return {url: part for url, part in parts.items() if part is not None}


def _starts(lines: list[str]) -> Iterator[_Start]:
    fence, found, past = "", 0, 0
    for number, line in enumerate(lines):
        if mark := _FENCE.match(line):
            fence = _fence_after(fence, mark[1], line)
        if fence or number < past:
            continue
        start = _start_at(lines, number, line)
        if start is None:
            continue
        yield start
        past, found = start.text_line, found + 1
        if found == _MOST_PARTS:
            return


def _fence_after(fence: str, mark: str, line: str) -> str:
    """The fence that is open after a line that may open or close one."""
    if not fence:
        return mark
    closes = mark.startswith(fence) and line.strip() == mark
    return "" if closes else fence


def _start_at(lines: list[str], number: int, line: str) -> _Start | None:
    if line == _DASHES:
        return _front_matter(lines, number)
    if not _TITLE.match(line):
        return None
    if named := _TITLE_WITH_PATH.match(line):
        return _Start(number, number + 1, named["title"], named["address"])
    for below in range(number + 1, min(number + 1 + _NEAR, len(lines))):
        if named := _SOURCE.match(lines[below]):
            return _Start(number, below + 1, line, named["address"])
        if lines[below]:
            return None
    return None


def _front_matter(lines: list[str], number: int) -> _Start | None:
    address = ""
    for below in range(number + 1, min(number + 2 + _NEAR, len(lines))):
        if lines[below] == _DASHES:
            return _Start(number, below + 1, "", address) if address else None
        if named := _SOURCE.match(lines[below]):
            address = named["address"]
    return None
