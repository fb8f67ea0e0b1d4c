"""Values, checked by kind: each mistake is a sentence with the setting, what stands there and what should."""

import difflib
from collections.abc import Iterable

from sumi.errors import ConfigError, UsageError, without_passwords
from sumi.settings.kinds import Kind


def from_native(kind: Kind, value: object, where: str) -> object:
    if kind.many and not isinstance(value, list):
        raise ConfigError([complaint(where, value, f"a list, each item {kind.expects}")])
    items = value if kind.many and isinstance(value, list) else [value]
    taken: list[object] = []
    violations: list[str] = []
    for item in items:
        try:
            taken.append(from_scalar(kind, item, where))
        except UsageError as error:
            violations.append(str(error))
    if violations:
        raise ConfigError(violations)
    return tuple(taken) if kind.many else taken[0]


def parsed(kind: Kind, text: str, where: str, shown: str | None = None) -> object:
    """``shown`` is what the user wrote, if that is not the text."""
    try:
        return kind.parse(text)
    except ValueError:
        raise UsageError(complaint(where, text if shown is None else shown, kind.expects)) from None
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None


def complaint(where: str, value: object, expects: str) -> str:
    shown = without_passwords(repr(value))
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    return f"{where} is {shown}, but must be {expects}"


def suggestion(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word.replace("_", "-").lower(), list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def from_scalar(kind: Kind, value: object, where: str) -> object:
    # type() and not isinstance(): True is an int to Python, but not to the author of the file.
    if type(value) not in kind.natives:
        quotes = " in quotes" if kind.natives == (str,) else ""
        raise UsageError(complaint(where, value, kind.expects + quotes))
    return value if isinstance(value, bool) else parsed(kind, str(value), where)
