"""Users' patterns, compiled: a glob, or a regular expression after ``re:``.

Both match in time linear in the URL, for every pattern and every URL, because sites choose the URLs.
"""

import re
from typing import Any, Final, Protocol
from urllib.parse import quote

from sumi.errors import UsageError
from sumi.urls.identity import tidy_escapes

SIGNS_IN_OR_OUT: Final = r"re:(?i)/(log|sign)[-_]?(in|on|out|off)(/|\.[a-z]+)?$"
_ANY: Final = "**"
_RUN: Final = "*"
_ONE: Final = "?"
_ANYWHERE: Final = [_ANY, "/", _RUN]
_TOKENS: Final = re.compile(r"\*\*|.", re.DOTALL)

# All printable ASCII that the URL standard does not escape in a path, and the glob's own characters.
_UNQUOTED: Final = "!$%&'()*+,-./:;=?@[]_|~"
_MAX_TRANSITIONS: Final = 4096


class _States(dict[str, "_States"]):
    """A set of positions in the pattern; the dictionary holds the next set for each character."""

    __slots__ = ("accepting", "positions", "settled")

    def __init__(self, positions: int, accepting: bool, settled: bool) -> None:
        super().__init__()
        self.positions = positions
        self.accepting = accepting
        self.settled = settled  # the rest of the path changes nothing


class Glob:
    """A pattern on paths, matched in time linear in the path.

    ``*`` matches any characters within a path segment, ``**`` any characters at all, ``?`` one character
    other than a slash. ``/**/`` also matches a single slash, and a final ``/**`` also the folder itself. A
    glob that starts with neither ``/`` nor ``**`` may match after any slash: ``*.pdf`` is ``**/*.pdf``.

    It is an automaton whose set of states is one integer, with a bit per position. Each set is cached with
    its transitions, so a character of a path costs one dictionary lookup. There is no backtracking.
    """

    __slots__ = (
        "_accepting",
        "_any",
        "_folders",
        "_literals",
        "_met",
        "_one",
        "_open_end",
        "_runs",
        "_start",
        "_tail",
        "_tail_only",
        "_transitions",
    )

    def __init__(self, pattern: str) -> None:
        tokens = _tokens(pattern)
        self._literals: dict[str, int] = {}
        for position, token in enumerate(tokens):
            self._literals[token] = self._literals.get(token, 0) | 1 << position
        self._any = self._literals.pop(_ANY, 0)
        self._runs = self._literals.pop(_RUN, 0)
        self._one = self._literals.pop(_ONE, 0)
        self._folders = sum(
            1 << position
            for position in range(1, len(tokens) - 1)
            if tokens[position] == _ANY and tokens[position - 1] == "/" == tokens[position + 1]
        )
        self._accepting = 1 << len(tokens)
        if tokens[-2:] == ["/", _ANY]:
            self._accepting |= 1 << len(tokens) - 2
        self._open_end = self._any & 1 << len(tokens) - 1
        self._tail = _literal_tail(tokens)
        # "**/*.pdf", the most common glob, only says how the path ends.
        self._tail_only = tokens[: len(tokens) - len(self._tail)] == _ANYWHERE and "/" not in self._tail
        self._forget()

    def matches(self, path: str) -> bool:
        """Whether the whole path matches."""
        if not path.endswith(self._tail):
            return False
        if self._tail_only and path.startswith("/"):
            return True
        states = self._start
        for char in path:
            following = states.get(char)
            if following is None:
                following = self._follow(states, char)
            states = following
            if states.settled:
                break
        return states.accepting

    def _follow(self, states: _States, char: str) -> _States:
        if self._transitions >= _MAX_TRANSITIONS:
            self._forget()
        self._transitions += 1
        following = self._met_states(self._step(states.positions, char))
        states[char] = following
        return following

    def _step(self, positions: int, char: str) -> int:
        moving = self._literals.get(char, 0)
        staying = self._any
        if char != "/":
            moving |= self._one
            staying |= self._runs
        moved = (positions & moving) << 1
        # "**/" may match nothing only directly after the first slash; later, its own slash must still match.
        moved |= (moved & self._folders) << 2
        return self._past_runs(moved | positions & staying)

    def _past_runs(self, positions: int) -> int:
        """Adds the positions after an empty run. Once is enough: no two runs are adjacent."""
        return positions | (positions & (self._any | self._runs)) << 1

    def _met_states(self, positions: int) -> _States:
        states = self._met.get(positions)
        if states is None:
            settled = not positions or bool(positions & self._open_end)
            states = _States(positions, bool(positions & self._accepting), settled)
            self._met[positions] = states
        return states

    def _forget(self) -> None:
        """A hostile mix of pattern and paths could produce ever new sets, so the cache is bounded."""
        self._met: dict[int, _States] = {}
        self._transitions = 0
        self._start = self._met_states(self._past_runs(1))


def _literal_tail(tokens: list[str]) -> str:
    length = 0
    while length < len(tokens) and tokens[-1 - length] not in (_ANY, _RUN, _ONE):
        length += 1
    return "".join(tokens[len(tokens) - length :])


def _tokens(pattern: str) -> list[str]:
    if not pattern.startswith(("/", _ANY)):
        pattern = f"**/{pattern}"
    # Paths are percent-encoded, so the pattern is encoded in the same way.
    pattern = tidy_escapes(quote(pattern, safe=_UNQUOTED))
    pattern = re.sub(r"\*{3,}", _ANY, pattern)
    pattern = re.sub(r"(?:/\*\*)+(?=/|$)", "/**", pattern)
    return _TOKENS.findall(pattern)


_REGEX_MARK: Final = "re:"
_MAX_PATTERN: Final = 1000
_BACKTRACKING: Final = ("(?=", "(?!", "(?<=", "(?<!", "(?P=", *(f"\\{digit}" for digit in range(1, 10)))


class Pattern(Protocol):
    def matches(self, text: str) -> bool: ...


class Regex:
    """Matches anywhere in the text, unless anchored."""

    __slots__ = ("_search",)

    def __init__(self, source: str) -> None:
        import re2  # here, because most runs have no regular expression

        options = re2.Options()
        options.log_errors = False  # it would print them to the terminal
        try:
            self._search = re2.compile(source, options).search
        except re2.error as error:
            raise ValueError(_words_of(error)) from None

    def matches(self, text: str) -> bool:
        return self._search(text) is not None


def path_pattern(text: str) -> Pattern:
    """A pattern for paths: a glob for the whole path, or ``re:`` and a regular expression."""
    _check_size(text)
    if text.startswith(_REGEX_MARK):
        return _regex(text.removeprefix(_REGEX_MARK), "--include and --exclude")
    try:
        return Glob(text)
    except UnicodeEncodeError as error:
        raise UsageError(f"Pattern {text!r} contains a character that no URL can contain.") from error


def url_pattern(text: str) -> Pattern:
    """A regular expression for whole URLs."""
    return _regex(text, "allow_patterns and deny_patterns")


def _regex(text: str, settings: str) -> Pattern:
    """``settings``: what to combine if one expression is not enough."""
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
    """For features of other engines that one with linear time cannot have."""
    if not any(mark in text for mark in _BACKTRACKING):
        return ""
    return f" Look-around and back-references are not supported; combine {settings} instead."


def _check_size(text: str) -> None:
    if not text:
        raise UsageError("A pattern must not be empty.")
    if len(text) > _MAX_PATTERN:
        raise UsageError(f"Pattern {text[:40]!r}… is longer than {_MAX_PATTERN:,} characters.")
