"""What users write as a pattern, compiled: a glob, or a regular expression after ``re:``.

Both take a time linear in the URL, whoever wrote the URL and whatever the pattern: sites choose the URLs.
"""

from typing import Any, Final, Protocol

from sumi.errors import UsageError
from sumi.scope.globs import Glob

_REGEX_MARK: Final = "re:"
_MAX_PATTERN: Final = 1000
_BACKTRACKING: Final = ("(?=", "(?!", "(?<=", "(?<!", "(?P=", *(f"\\{digit}" for digit in range(1, 10)))


class Pattern(Protocol):
    def matches(self, text: str) -> bool: ...


class Regex:
    """Found anywhere in the text, unless anchored."""

    __slots__ = ("_search",)

    def __init__(self, source: str) -> None:
        import re2  # here, because most runs have no regular expression and need not load an engine for them

        options = re2.Options()
        options.log_errors = False  # it would write them to the terminal itself
        try:
            self._search = re2.compile(source, options).search
        except re2.error as error:
            raise ValueError(_words_of(error)) from None

    def matches(self, text: str) -> bool:
        return self._search(text) is not None


def path_pattern(text: str) -> Pattern:
    """A pattern on paths: a glob for the whole path, or ``re:`` and a regular expression."""
    _check_size(text)
    if text.startswith(_REGEX_MARK):
        return _regex(text.removeprefix(_REGEX_MARK), "--include and --exclude")
    try:
        return Glob(text)
    except UnicodeEncodeError as error:
        raise UsageError(f"Pattern {text!r} contains a character that no URL can contain.") from error


def url_pattern(text: str) -> Pattern:
    """A regular expression on whole URLs."""
    return _regex(text, "allow_patterns and deny_patterns")


def _regex(text: str, settings: str) -> Pattern:
    """``settings``: what together says what one expression cannot."""
    _check_size(text)
    try:
        return Regex(text)
    except ValueError as error:
        advice = _advice(text, settings)
        raise UsageError(f"Regular expression {text!r} is not valid: {error}.{advice}") from None


def _words_of(error: Any) -> str:
    words = error.args[0]
    return words.decode("utf-8", "replace") if isinstance(words, bytes) else str(words)


def _advice(text: str, settings: str) -> str:
    """For what other engines offer and a linear one cannot."""
    if not any(mark in text for mark in _BACKTRACKING):
        return ""
    return f" Look-around and back-references are not supported; combine {settings} instead."


def _check_size(text: str) -> None:
    if not text:
        raise UsageError("A pattern must not be empty.")
    if len(text) > _MAX_PATTERN:
        raise UsageError(f"Pattern {text[:40]!r}… is longer than {_MAX_PATTERN:,} characters.")
