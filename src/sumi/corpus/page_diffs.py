"""The difference between two versions of a page: lines, words, or numbers only."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

import msgspec

from sumi.history.line_changes import Span, changed_spans, count_lines
from sumi.history.rows import Version
from sumi.history.store import History

CONTEXT = 3
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_WORDS_COMPARED = 200_000  # words of one side times those of the other


class Hunk(msgspec.Struct, frozen=True):
    """Lines with their sign: ``-`` removed, ``+`` added, a blank for those around them."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]

    @property
    def head(self) -> str:
        return f"@@ -{self.old_start},{self.old_lines} +{self.new_start},{self.new_lines} @@"


class PageDiff(msgspec.Struct, frozen=True):
    """``lost``: which of the texts cannot be read; ``forgotten``: that the one before was pruned, so only the
    counts are known. In both cases there are no hunks."""

    url: str
    old: Version | None
    new: Version
    hunks: tuple[Hunk, ...] = ()
    added: int = 0
    removed: int = 0
    lost: str = ""
    forgotten: bool = False


class Piece(NamedTuple):
    """Of a line: what was removed, added or kept."""

    sign: str
    text: str


def page_diff(store: History, old: Version | None, new: Version) -> PageDiff:
    if old is None and store.versions(new.url)[0].number > 1:
        return PageDiff(new.url, old, new, (), new.added or 0, new.removed or 0, forgotten=True)
    before, after = _text(store, old), _text(store, new)
    lost = [f"version {v.number}" for v, text in ((old, before), (new, after)) if v and text is None]
    if before is None or after is None:
        return PageDiff(new.url, old, new, lost=" and ".join(lost))
    old_lines, new_lines = before.splitlines(), after.splitlines()
    spans = changed_spans(old_lines, new_lines)
    added, removed = count_lines(spans)
    return PageDiff(new.url, old, new, tuple(_hunks(old_lines, new_lines, spans)), added, removed)


def _text(store: History, version: Version | None) -> str | None:
    """Empty for a page that was not there."""
    if version is None or version.sha256 is None:
        return ""
    text = store.text(version.sha256)
    return None if text is None else text.decode("utf-8", "replace")


def before(versions: list[Version], version: Version) -> Version | None:
    """The version before it, if that is recorded still."""
    return next((old for old, new in pairwise(versions) if new is version), None)


def _hunks(old: list[str], new: list[str], spans: list[Span]) -> Iterator[Hunk]:
    group: list[Span] = []
    for span in spans:
        if group and span.old_start - group[-1].old_end > 2 * CONTEXT:
            yield _hunk(old, new, group)
            group = []
        group.append(span)
    if group:
        yield _hunk(old, new, group)


def _hunk(old: list[str], new: list[str], group: list[Span]) -> Hunk:
    lead = min(CONTEXT, group[0].old_start)
    start, new_start = group[0].old_start - lead, group[0].new_start - lead
    lines, at = [], start
    for span in group:
        lines += [f" {line}" for line in old[at : span.old_start]]
        lines += [f"-{line}" for line in old[span.old_start : span.old_end]]
        lines += [f"+{line}" for line in new[span.new_start : span.new_end]]
        at = span.old_end
    trail = old[at : at + CONTEXT]
    lines += [f" {line}" for line in trail]
    old_count, new_count = at + len(trail) - start, group[-1].new_end + len(trail) - new_start
    # As diff(1) counts: from 1, and from 0 where there is no line.
    return Hunk(start + bool(old_count), old_count, new_start + bool(new_count), new_count, tuple(lines))


def word_lines(hunk: Hunk) -> Iterator[list[Piece]]:
    """The lines of a hunk with their words compared: removed and added ones stand in the same line."""
    removed: list[str] = []
    added: list[str] = []
    for line in hunk.lines:
        sign, text = line[0], line[1:]
        if sign == "+":
            added.append(text)
        elif sign == "-" and not added:
            removed.append(text)
        else:
            yield from _lines_of(_words("\n".join(removed), "\n".join(added)))
            removed, added = [text] if sign == "-" else [], []
            if sign == " ":
                yield [Piece(" ", text)]
    yield from _lines_of(_words("\n".join(removed), "\n".join(added)))


def _words(old: str, new: str) -> list[Piece]:
    if not old or not new:
        return [Piece("-", old)] * bool(old) + [Piece("+", new)] * bool(new)
    before, after = _WORD.findall(old), _WORD.findall(new)
    if len(before) * len(after) > _WORDS_COMPARED:
        return [Piece("-", old), Piece("+", "\n" + new)]
    pieces = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece(" ", "".join(before[a:b])))
            continue
        pieces += [Piece("-", "".join(before[a:b]))] * (b > a) + [Piece("+", "".join(after[c:d]))] * (d > c)
    return pieces


def _lines_of(pieces: list[Piece]) -> Iterator[list[Piece]]:
    line: list[Piece] = []
    for piece in pieces:
        first, *rest = piece.text.split("\n")
        line.append(Piece(piece.sign, first))
        for part in rest:
            yield line
            line = [Piece(piece.sign, part)]
    if line:
        yield line


def unified(diff: PageDiff) -> Iterator[str]:
    """The lines of a unified diff, without its two lines of names."""
    for hunk in diff.hunks:
        yield hunk.head
        yield from hunk.lines
