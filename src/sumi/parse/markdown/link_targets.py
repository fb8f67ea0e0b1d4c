"""The link and image targets of a Markdown text: told, or replaced one by one; code is left alone."""

import re
from collections.abc import Callable, Iterator
from enum import Enum
from html import escape, unescape
from typing import Final

_FENCE: Final = re.compile(r"[\s>]*(?:[-*+]\s+|\d{1,9}[.)]\s+)*(`{3,}|~{3,})")
_TICKS: Final = re.compile("`+")
# In angle brackets, or without blanks and with its brackets in pairs.
_TARGET_FORM: Final = r"(?:<(?P<quoted>[^<>\n]*)>|(?P<bare>[^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*))"
_LABEL: Final = r"(?:[^\[\]\\]|\\.){0,1000}\]"
_TARGET: Final = re.compile(rf"(?P<before>\]\(){_TARGET_FORM}")
_IMAGE: Final = re.compile(rf"!\[{_LABEL}\({_TARGET_FORM}")
# What names a target for the whole text. A footnote names none, and behind a word of prose there is more.
_DEFINITION: Final = re.compile(
    rf"(?P<before>[ >]{{0,9}}\[(?![\]^]){_LABEL}:[ \t]*){_TARGET_FORM}(?=\s*$|[ \t]+[\"'(])"
)
_PARAGRAPH: Final = re.compile(r"[ >]*[^ >#\s]")
_TAG: Final = re.compile(
    r"(?<!\\)(?P<before><(?:a|area|audio|img|source|video)\s(?:[^<>]{0,2000}?\s)?(?:href|src)\s*=\s*)"
    r"""(?:"(?P<quoted>[^"<>]*)"|(?P<bare>'[^'<>]*'|[^\s"'=<>`]+))""",
    re.IGNORECASE,
)


class _Kind(Enum):
    CODE = "code"
    DEFINITION = "definition"
    PROSE = "prose"


def replace_targets(text: str, replacement: Callable[[str], str | None]) -> str:
    """``replacement`` gives a target's new form, ready to stand in brackets, or None to leave it. Targets are
    also in tags, and in the definitions that links refer to."""

    def put(found: re.Match[str]) -> str:
        new = replacement(_target(found))
        return found[0] if new is None else f"{found['before']}{new}"

    def put_in_tag(found: re.Match[str]) -> str:
        new = replacement(unescape(_target(found).strip("'")))
        return found[0] if new is None else f'{found["before"]}"{escape(_without_brackets(new))}"'

    def replaced(piece: str, kind: _Kind) -> str:
        if kind is _Kind.CODE:
            return piece
        if kind is _Kind.DEFINITION:
            return _DEFINITION.sub(put, piece, count=1)
        piece = _TARGET.sub(put, piece)
        return _TAG.sub(put_in_tag, piece) if "<" in piece else piece

    return "".join(replaced(piece, kind) for piece, kind in _pieces(text))


def image_targets(text: str) -> Iterator[str]:
    """As written, in their order, repeats included."""
    for piece, kind in _pieces(text):
        if kind is _Kind.PROSE and "![" in piece:
            yield from map(_target, _IMAGE.finditer(piece))


def targets_of(text: str) -> Iterator[str]:
    """Every target, as ``replace_targets`` shows it."""
    found: list[str] = []
    replace_targets(text, found.append)
    yield from found


def lines_of_prose(text: str) -> Iterator[str]:
    """All that are in no fence."""
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence or mark:
            fence = _fence_after(line, mark, fence)
        else:
            yield line


def _pieces(text: str) -> Iterator[tuple[str, _Kind]]:
    """The text in pieces, and what links are in each."""
    fence = ""
    is_in_paragraph = False
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence or mark:
            fence = _fence_after(line, mark, fence)
            is_in_paragraph = False
            yield line, _Kind.CODE
        elif not is_in_paragraph and "]:" in line and _DEFINITION.match(line):
            yield line, _Kind.DEFINITION
        else:
            is_in_paragraph = _PARAGRAPH.match(line) is not None
            yield from _pieces_of_line(line)


def _fence_after(line: str, mark: re.Match[str] | None, fence: str) -> str:
    if not fence:
        return mark[1] if mark else ""
    closes = mark and mark[1].startswith(fence) and not line[mark.end() :].strip("`~ \t\r\n")
    return "" if closes else fence


def _pieces_of_line(line: str) -> Iterator[tuple[str, _Kind]]:
    if "](" not in line and "<" not in line:
        yield line, _Kind.CODE
    elif "`" not in line:
        yield line, _Kind.PROSE
    else:
        for piece, is_prose in _spans(line):
            yield piece, _Kind.PROSE if is_prose else _Kind.CODE


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


def _without_brackets(target: str) -> str:
    return target[1:-1] if target.startswith("<") else target
