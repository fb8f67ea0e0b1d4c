"""The arguments of a tool call: numbers are clamped to their range; other invalid values are refused with the
valid ones."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sumi.agents.wording import one_line
from sumi.errors import UsageError

_LONGEST: Final = 4000  # characters
_TRUE: Final = ("true", "1", "yes")
_FALSE: Final = ("false", "0", "no", "")


class Arguments:
    def __init__(self, given: Mapping[str, Any] | None, known: Sequence[str]) -> None:
        self._given = dict(given or {})
        unknown = [one_line(str(name), 40) for name in self._given if name not in known]
        if unknown:
            raise UsageError(f"there is no argument {unknown[0]!r}: there are {', '.join(known)}")

    def text(self, name: str, default: str = "") -> str:
        value = self._given.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise UsageError(f"{name} is a text")
        if len(value) > _LONGEST:
            raise UsageError(f"{name} has {len(value):,} characters: at most {_LONGEST:,} are read")
        return value.strip()

    def required(self, name: str) -> str:
        value = self.text(name)
        if not value:
            raise UsageError(f"{name} is missing")
        return value

    def number(self, name: str, default: int, low: int, high: int) -> int:
        value = self._given.get(name)
        if value is None:
            return default
        if isinstance(value, str) and len(value) < 20:
            try:
                value = float(value)
            except ValueError:
                value = None
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise UsageError(f"{name} is a number from {low:,} to {high:,}")
        return int(max(low, min(value, high)))

    def flag(self, name: str) -> bool:
        value = self._given.get(name)
        if isinstance(value, bool) or value is None:
            return bool(value)
        if str(value).lower() in (*_TRUE, *_FALSE):
            return str(value).lower() in _TRUE
        raise UsageError(f"{name} is true or false")

    def choice(self, name: str, choices: Sequence[str]) -> str:
        value = self.text(name) or choices[0]
        if value not in choices:
            raise UsageError(f"{name} is one of {', '.join(choices)}")
        return value
