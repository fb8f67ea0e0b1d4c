"""Values of a configuration file, checked by kind: each mistake is a sentence with the file, the key, what
stands there and what should."""

import difflib
import tomllib
from collections.abc import Iterable
from pathlib import Path

from sumi.errors import ConfigError, UsageError, without_passwords
from sumi.settings.kinds import Kind

# A configuration file is written by a person; anything larger is some other file given by mistake.
MAX_CONFIG_BYTES = 1024 * 1024


def read_toml(path: Path, argument: str) -> dict[str, object]:
    """``argument`` is what the user gave the file with, for the complaint that it cannot be read."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_CONFIG_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file name"
        raise UsageError(f"{argument} {str(path)!r} cannot be read: {reason}") from None
    if len(raw) > MAX_CONFIG_BYTES:
        raise ConfigError([f"{path}: larger than 1 MiB: not a configuration file?"])
    try:
        return tomllib.loads(raw.decode())
    except UnicodeDecodeError:
        raise ConfigError([f"{path}: not valid UTF-8"]) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError([f"{path}: not valid TOML: {error}"]) from None


def from_toml(kind: Kind, value: object, where: str) -> object:
    if kind.many and not isinstance(value, list):
        raise ConfigError([complaint(where, value, f"a list, each item {kind.expects}")])
    items = value if kind.many and isinstance(value, list) else [value]
    taken: list[object] = []
    violations: list[str] = []
    for item in items:
        try:
            taken.append(_from_scalar(kind, item, where))
        except UsageError as error:
            violations.append(str(error))
    if violations:
        raise ConfigError(violations)
    return tuple(taken) if kind.many else taken[0]


def parsed(kind: Kind, text: str, where: str) -> object:
    try:
        return kind.parse(text)
    except ValueError:
        raise UsageError(complaint(where, text, kind.expects)) from None
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None


def complaint(where: str, value: object, expects: str) -> str:
    shown = without_passwords(repr(value))
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    return f"{where} is {shown}, but must be {expects}"


def suggestion(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word.replace("_", "-").lower(), list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _from_scalar(kind: Kind, value: object, where: str) -> object:
    # type() and not isinstance(): True is an int to Python, but not to whoever wrote the file.
    if type(value) not in kind.natives:
        quotes = " in quotes" if kind.natives == (str,) else ""
        raise UsageError(complaint(where, value, kind.expects + quotes))
    return value if isinstance(value, bool) else parsed(kind, str(value), where)
