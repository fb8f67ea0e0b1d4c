"""Exceptions. Trouble with the web is a value (see ``outcomes``), never one of these.

SumiError                   a sentence for the user; the command line prints it and exits with ``exit_code``
├── UsageError              bad flag, bad URL, bad configuration, unwritable folder        (2)
│   └── ConfigError         one or more bad keys in a configuration file                   (2)
├── StateError              the stored state cannot be used as it is                       (2)
│   ├── StateLocked         another process is working on it                               (2)
│   └── StateDamaged        damage that must not be passed over silently                   (4)
├── IllegalTransition       a state machine was asked for a move that it does not have     (4)
├── OutputRefused           the output would leave its folder (symlink, traversal)         (4)
└── StorageFailed           the disk failed or is full: stop, resume later                 (4)
"""


class SumiError(Exception):
    """What was wrong, where, and what to do, in one sentence."""

    exit_code = 4


class UsageError(SumiError):
    exit_code = 2


class ConfigError(UsageError):
    """All violations of a configuration at once."""

    def __init__(self, violations: list[str]) -> None:
        self.violations = violations
        super().__init__("; ".join(violations))


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


class StorageFailed(SumiError):
    pass
