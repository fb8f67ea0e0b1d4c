"""The link targets of a Markdown text, replaced one by one; code is left alone."""

import re
from collections.abc import Callable, Iterator
from typing import Final

_FENCE: Final = re.compile(r"[\s>]*(?:[-*+]\s+|\d{1,9}[.)]\s+)*(`{3,}|~{3,})")
# A code span, or the target of a link or an image: in angle brackets, or without blanks and with its
# brackets in pairs. Each alternative starts with its own character, so a line is read once.
_SPAN_OR_TARGET: Final = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).{0,2000}?(?<!`)(?P=ticks)(?!`))"
    r"|\]\((?:<(?P<quoted>[^<>\n]*)>|(?P<bare>[^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*))"
)


def replace_targets(text: str, replacement: Callable[[str], str | None]) -> str:
    """``replacement`` gives a target's new form, ready to stand in brackets, or None to leave it."""
    return "".join(_lines(text, replacement))


def _lines(text: str, replacement: Callable[[str], str | None]) -> Iterator[str]:
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip("`~ \t\r\n"):
                fence = ""
            yield line
        elif mark:
            fence = mark[1]
            yield line
        else:
            yield _line(line, replacement) if "](" in line else line


def _line(line: str, replacement: Callable[[str], str | None]) -> str:
    def put(found: re.Match[str]) -> str:
        if found["code"] is not None:
            return found[0]
        target = found["bare"] if found["quoted"] is None else found["quoted"]
        new = replacement(target)
        return found[0] if new is None else f"]({new}"

    return _SPAN_OR_TARGET.sub(put, line)
