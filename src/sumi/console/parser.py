"""argparse, with errors that are one sentence and say what to do."""

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from sumi.errors import UsageError


class CommandLineError(UsageError):
    """Its message already names the command."""


class _Help(argparse.HelpFormatter):
    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Wrap descriptions, but not examples and lists."""
        return text if "\n" in text else super()._fill_text(text, width, indent)


class SentenceParser(argparse.ArgumentParser):
    """No usage page for a mistyped flag, no abbreviations; errors are raised, without an exit."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            allow_abbrev=False,
            formatter_class=lambda prog: _Help(prog, max_help_position=30),
            **options,
        )

    def parse_all(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Like ``parse_args``, with a hint for unknown options. Options may stand between arguments, unless
        there is a ``--``: argparse cannot do both."""
        parse = self.parse_known_args if "--" in arguments else self.parse_known_intermixed_args
        namespace, unknown = parse(list(arguments))
        options = [word for word in unknown if word.startswith("-") and word != "-"]
        if options:
            self.error(self._unknown_option(options[0].partition("=")[0]))
        if unknown:
            self.error(f"unexpected argument {unknown[0]!r}")
        return namespace

    def error(self, message: str) -> NoReturn:
        raise self.complaint(message.removeprefix("argument "))

    def complaint(self, sentence: str) -> CommandLineError:
        return CommandLineError(f"{self.prog}: {sentence}")

    def _unknown_option(self, word: str) -> str:
        import difflib  # slow to import, and needed only after a typo

        known = [option for action in self._actions for option in action.option_strings]
        close = difflib.get_close_matches(word, known, n=1)
        shown = word if word.isprintable() else repr(word)
        return f"unknown option {shown}" + (f"; did you mean {close[0]}?" if close else "")
