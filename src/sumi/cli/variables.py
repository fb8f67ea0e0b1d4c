"""The variables of the environment that commands read: one for each setting, whichever job has it."""

import difflib
from collections.abc import Iterable

from sumi.errors import ConfigError
from sumi.jobs.capture.settings import CAPTURE_SETTINGS
from sumi.jobs.mirror.settings import SETTINGS, URLS

VARIABLES = frozenset(setting.variable for setting in (*SETTINGS, URLS, *CAPTURE_SETTINGS))


def refuse_unknown(given: Iterable[str]) -> None:
    """Raises ConfigError with a sentence for each name that is no variable of Sumi."""
    violations = [_sentence(name) for name in sorted(set(given) - VARIABLES)]
    if violations:
        raise ConfigError(violations)


def _sentence(name: str) -> str:
    close = difflib.get_close_matches(name, VARIABLES, n=1)
    advice = (
        f"did you mean {close[0]}?" if close else "unset it; docs/reference/settings.md lists all of them"
    )
    return f"{name} is not a variable that Sumi reads; {advice}"
