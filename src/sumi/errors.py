"""Exceptions. Trouble with the web is a value (see ``outcomes``), never one of these.

SumiError                   a sentence for the user; the command line prints it and exits with ``exit_code``
├── UsageError              bad flag, bad URL, bad configuration, unwritable folder        (2)
│   └── ConfigError         one or more bad keys in a configuration file                   (2)
├── StateError              the stored state cannot be used as it is                       (2)
│   ├── StateLocked         another process is working on it                               (2)
│   └── StateDamaged        damage that must not be ignored silently                       (4)
├── IllegalTransition       a move that the state machine does not allow                   (4)
├── OutputRefused           the output would leave its folder (symlink, traversal)         (4)
├── BrowserUnavailable      no browser can be started any more: stop, resume later         (4)
├── Interrupted             stopped before there was anything to show                      (3)
└── StorageFailed           the disk failed or is full: stop, resume later                 (4)
"""

import re
from typing import Final

# A scheme, its slashes (a path keeps only one of them), and everything up to the last @ before a space: a
# password may contain an @ or, mistyped, a slash. "https://host:8080/@user" is a port and a path.
_WITH_SCHEME: Final = re.compile(
    r"([a-z][a-z0-9+.-]*:[/\\]+)(?:[^\s/\\?#]*|[^\s/:@]*:(?!\d{1,5}/)\S*)@", re.IGNORECASE
)
_BARE: Final = re.compile(r"(^|[\s'\"=(,])[^\s'\"/:@=(,]+:(?![/\\]|\d{1,5}/)\S+@")


def without_passwords(text: str) -> str:
    """What a user typed, safe to show: the user name and password of every URL are replaced."""
    if "@" not in text:
        return text
    return _BARE.sub(r"\1***@", _WITH_SCHEME.sub(r"\1***@", text))


class SumiError(Exception):
    """What was wrong, where, and what to do, in one sentence. Passwords are removed."""

    exit_code = 4

    def __init__(self, sentence: str = "") -> None:
        super().__init__(without_passwords(sentence))


class UsageError(SumiError):
    exit_code = 2


class ConfigError(UsageError):
    """All violations of a configuration at once."""

    def __init__(self, violations: list[str]) -> None:
        self.violations = [without_passwords(violation) for violation in violations]
        super().__init__("; ".join(self.violations))


class StateError(SumiError):
    exit_code = 2


class StateLocked(StateError):
    pass


class StateDamaged(StateError):
    exit_code = 4


class IllegalTransition(SumiError):
    pass


class OutputRefused(SumiError):
    pass


class BrowserUnavailable(SumiError):
    pass


class Interrupted(SumiError):
    exit_code = 3


class StorageFailed(SumiError):
    pass
