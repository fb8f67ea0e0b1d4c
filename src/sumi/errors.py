"""Exceptions. Trouble with the web is a value (see ``outcomes``), never one of these.

SumiError                   a sentence for the user; the command line prints it and exits with ``exit_code``
├── UsageError              bad flag, bad URL, bad configuration                           (2)
│   ├── ConfigError         one or more bad keys in a configuration file                   (2)
│   ├── NotReached          no server answered the first request                           (5)
│   ├── NameUnknown         the host's name is unknown, or its address is refused          (6)
│   ├── NotWritable         a file or folder that was named cannot be written              (8)
│   └── TooLittleSpace      not enough free space to start                                 (8)
├── StateError              the stored state cannot be used as it is                       (2)
│   ├── StateLocked         another process is working on it                               (7)
│   └── StateDamaged        damage that must not be ignored silently                       (4)
├── IllegalTransition       a move that the state machine does not allow                   (4)
├── OutputRefused           the output would leave its folder (symlink, traversal)         (4)
├── BrowserUnavailable      no browser can be started any more: stop, resume later         (4)
├── Interrupted             stopped before there was anything to show                      (3)
└── StorageFailed           the disk failed or is full: stop, resume later                 (8)
"""

import re
from typing import Final

# What a command ends with: one code for each kind of trouble, the same in every command.
COMPLETE, WITH_FAILURES, BAD_USAGE, INTERRUPTED, ABORTED = 0, 1, 2, 3, 4
NETWORK, HOST, IN_USE, DISK, BELOW = 5, 6, 7, 8, 9

EXIT_CODES: Final = {
    COMPLETE: "complete, or limited: everything within the limits is here",
    WITH_FAILURES: "partial: pages failed or are pending, or lines of a spool could not be read; of a "
    "command that looks: it found nothing, or a fault",
    BAD_USAGE: "bad usage or configuration; nothing was done",
    INTERRUPTED: "interrupted; run the same command again to continue",
    ABORTED: "aborted: something broke; the message says what",
    NETWORK: "network: no server was reached; nothing is here",
    HOST: "name or host: the name is unknown, or its address or port is refused; nothing is here",
    IN_USE: "in use: another process works on the same folder or file",
    DISK: "disk: it is full, failed or may not be written; free some space, then run the same command again",
    BELOW: "below a threshold: all pages are here, but some are below --min-fidelity",
}
# Of several runs, the worst decides.
WORST_FIRST: Final = (
    *(ABORTED, DISK, IN_USE, BAD_USAGE, HOST, NETWORK),
    *(INTERRUPTED, WITH_FAILURES, BELOW, COMPLETE),
)

# A scheme, its slashes (a path keeps only one of them), and everything up to the last @ before a space: a
# password may contain an @ or, mistyped, a slash. "https://host:8080/@user" is a port and a path.
_WITH_SCHEME: Final = re.compile(
    r"([a-z][a-z0-9+.-]*:[/\\]+)(?:[^\s/\\?#]*|[^\s/:@]*:(?!\d{1,5}/)\S*)@", re.IGNORECASE
)
_BARE: Final = re.compile(r"(^|[\s'\"=(,])[^\s'\"/:@=(,]+:(?![/\\]|\d{1,5}/)\S+@")
# The login of a database alone is no secret, and a command that is shown needs it. A site's may be a token.
_LOGIN: Final = re.compile(r"postgres(?:ql)?://[^\s/\\?#:@%]+@", re.IGNORECASE)


def without_passwords(text: str) -> str:
    """What a user typed, safe to show: the user name and password of every URL are replaced, but for the
    login of a database that is given without a password."""
    if "@" not in text:
        return text
    return _BARE.sub(r"\1***@", _WITH_SCHEME.sub(_hidden, text))


def _hidden(found: re.Match[str]) -> str:
    return found[0] if _LOGIN.fullmatch(found[0]) else f"{found[1]}***@"


class SumiError(Exception):
    """What was wrong, where, and what to do, in one sentence. Passwords are removed."""

    exit_code = ABORTED

    def __init__(self, sentence: str = "") -> None:
        super().__init__(without_passwords(sentence))


class UsageError(SumiError):
    exit_code = BAD_USAGE


class ConfigError(UsageError):
    """All violations of a configuration at once."""

    def __init__(self, violations: list[str]) -> None:
        self.violations = [without_passwords(violation) for violation in violations]
        super().__init__("; ".join(self.violations))


class NotReached(UsageError):
    exit_code = NETWORK


class NameUnknown(UsageError):
    exit_code = HOST


class NotWritable(UsageError):
    exit_code = DISK


class TooLittleSpace(UsageError):
    exit_code = DISK


class StateError(SumiError):
    exit_code = BAD_USAGE


class StateLocked(StateError):
    exit_code = IN_USE


class StateDamaged(StateError):
    exit_code = ABORTED


class IllegalTransition(SumiError):
    pass


class OutputRefused(SumiError):
    pass


class BrowserUnavailable(SumiError):
    pass


class Interrupted(SumiError):
    exit_code = INTERRUPTED


class StorageFailed(SumiError):
    exit_code = DISK
