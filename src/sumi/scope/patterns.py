"""What users write as a pattern, compiled: a glob, or a regular expression after ``re:``."""

import re
from typing import Final, Protocol

from sumi.errors import UsageError
from sumi.scope.globs import Glob

_REGEX_MARK: Final = "re:"
_MAX_PATTERN: Final = 1000


class Pattern(Protocol):
    def matches(self, text: str) -> bool: ...


class Regex:
    """Found anywhere in the text, unless anchored. Its running time is its author's affair; see ``Glob``."""

    __slots__ = ("_search",)

    def __init__(self, source: str) -> None:
        self._search = re.compile(source).search

    def matches(self, text: str) -> bool:
        return self._search(text) is not None


def path_pattern(text: str) -> Pattern:
    """A pattern on paths: a glob for the whole path, or ``re:`` and a regular expression."""
    _check_size(text)
    if text.startswith(_REGEX_MARK):
        return url_pattern(text.removeprefix(_REGEX_MARK))
    try:
        return Glob(text)
    except UnicodeEncodeError as error:
        raise UsageError(f"Pattern {text!r} contains a character that no URL can contain.") from error


def url_pattern(text: str) -> Pattern:
    """A regular expression on whole URLs."""
    _check_size(text)
    try:
        return Regex(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"Regular expression {text!r} is not valid: {error}.") from error


def _check_size(text: str) -> None:
    if not text:
        raise UsageError("A pattern must not be empty.")
    if len(text) > _MAX_PATTERN:
        raise UsageError(f"Pattern {text[:40]!r}… is longer than {_MAX_PATTERN:,} characters.")
