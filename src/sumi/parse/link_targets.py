"""The link and image targets of a Markdown text: told, or replaced one by one; code is left alone."""

import re
from collections.abc import Callable, Iterator
from typing import Final

_FENCE: Final = re.compile(r"[\s>]*(?:[-*+]\s+|\d{1,9}[.)]\s+)*(`{3,}|~{3,})")
_TICKS: Final = re.compile("`+")
# In angle brackets, or without blanks and with its brackets in pairs.
_TARGET_FORM: Final = r"(?:<(?P<quoted>[^<>\n]*)>|(?P<bare>[^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*))"
_TARGET: Final = re.compile(rf"\]\({_TARGET_FORM}")
_IMAGE: Final = re.compile(rf"!\[(?:[^\[\]\\]|\\.){{0,1000}}\]\({_TARGET_FORM}")


def replace_targets(text: str, replacement: Callable[[str], str | None]) -> str:
    """``replacement`` gives a target's new form, ready to stand in brackets, or None to leave it."""

    def put(found: re.Match[str]) -> str:
        new = replacement(_target(found))
        return found[0] if new is None else f"]({new}"

    return "".join(_TARGET.sub(put, piece) if is_prose else piece for piece, is_prose in _pieces(text))


def image_targets(text: str) -> Iterator[str]:
    """As written, in their order, repeats included."""
    for piece, is_prose in _pieces(text):
        if is_prose and "![" in piece:
            yield from map(_target, _IMAGE.finditer(piece))


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, and whether links are links in each."""
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip("`~ \t\r\n"):
                fence = ""
            yield line, False
        elif mark:
            fence = mark[1]
            yield line, False
        elif "](" not in line:
            yield line, False
        else:
            yield from _spans(line) if "`" in line else ((line, True),)


def _spans(line: str) -> Iterator[tuple[str, bool]]:
    """Code spans and what is between them. A run of backticks is closed by the next one as long."""
    runs = [found.span() for found in _TICKS.finditer(line)]
    closed_by: list[int | None] = [None] * len(runs)
    next_as_long: dict[int, int] = {}
    for number in range(len(runs) - 1, -1, -1):
        length = runs[number][1] - runs[number][0]
        closed_by[number] = next_as_long.get(length)
        next_as_long[length] = number
    done = number = 0
    while number < len(runs):
        end = closed_by[number]
        if end is not None:
            yield line[done : runs[number][0]], True
            yield line[runs[number][0] : runs[end][1]], False
            done, number = runs[end][1], end
        number += 1
    yield line[done:], True


def _target(found: re.Match[str]) -> str:
    target: str = found["bare"] if found["quoted"] is None else found["quoted"]
    return target
