"""argparse, with errors that are one sentence and say what to do, and with a short help and a whole one."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn

from sumi.errors import UsageError

ALL = "all"
SHOWN_EXAMPLES = 2


# What other programs, and earlier versions, call an option.
_OTHERS_SAY = {
    "--render-mode": "--render",
    "--mirror": "--update",
    "--recursive": "--follow-links",
    "--level": "--max-depth",
    "--depth": "--max-depth",
    "--limit-rate": "--rate-limit",
    "--wait": "--rate-limit",
    "--directory-prefix": "--output",
    "--page-requisites": "--assets",
    "--convert-links": "--rewrite-links",
}


class CommandLineError(UsageError):
    """Its message already names the command."""


class _Help(argparse.HelpFormatter):
    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Wrap descriptions, but not examples and lists."""
        return text if "\n" in text else super()._fill_text(text, width, indent)


class _Short(_Help):
    def _format_action_invocation(self, action: argparse.Action) -> str:
        """Without the options that turn something off, and with a value once: ``-o, --output DIR``."""
        if not action.option_strings:
            return super()._format_action_invocation(action)
        names = [name for name in action.option_strings if not name.startswith("--no-")]
        takes = f" {action.metavar}" if isinstance(action.metavar, str) else ""
        return ", ".join(names) + takes


class _ShowHelp(argparse.Action):
    """``--help``, or ``--help all``."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: object, values: object, option: object = None
    ) -> None:
        is_whole = values == ALL or not isinstance(parser, SentenceParser)
        text = parser.format_help() if is_whole else parser.format_short_help()  # type: ignore[attr-defined]
        sys.stdout.write(text)
        parser.exit()


class SentenceParser(argparse.ArgumentParser):
    """No usage page for a mistyped flag, no abbreviations; errors are raised, without an exit.

    ``usual``: of many options those that people use, by their first name or, for arguments, their field.
    ``lacks``: options of like commands, and why they are not options of this one."""

    def __init__(
        self, *, usual: Sequence[str] = (), lacks: Mapping[str, str] = MappingProxyType({}), **options: Any
    ) -> None:
        super().__init__(
            allow_abbrev=False,
            add_help=False,
            formatter_class=lambda prog: _Help(prog, max_help_position=30),
            **options,
        )
        self.usual = tuple(usual)
        self._lacks = lacks
        self.add_argument(
            "-h",
            "--help",
            nargs="?",
            action=_ShowHelp,
            metavar=ALL,
            help="Show the usual options; with all, every option." if usual else "Show this help.",
        )

    def format_short_help(self) -> str:
        """The usual options and the first examples; the whole help of a command with few options."""
        if not self.usual:
            return self.format_help()
        formatter = _Short(self.prog, max_help_position=30)
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(self.description)
        formatter.start_section("usual options")
        formatter.add_arguments([self._named(name) for name in self.usual])
        formatter.end_section()
        formatter.add_text("\n".join((self.epilog or "").splitlines()[: SHOWN_EXAMPLES + 1]))
        more = sum(action.help is not argparse.SUPPRESS for action in self._actions) - len(self.usual)
        formatter.add_text(f"{self.prog} --help {ALL} shows {more} more options, and more examples.")
        return formatter.format_help()

    def _named(self, name: str) -> argparse.Action:
        for action in self._actions:
            if name in action.option_strings or (not action.option_strings and action.dest == name):
                return action
        raise LookupError(f"{self.prog} has no option {name}")

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

        if word in self._lacks:
            return f"no option {word}: {self._lacks[word]}"
        if word in _OTHERS_SAY and any(_OTHERS_SAY[word] in one.option_strings for one in self._actions):
            return f"unknown option {word}; here it is {_OTHERS_SAY[word]}"
        known = [option for action in self._actions for option in action.option_strings]
        close = difflib.get_close_matches(word, known, n=1)
        shown = word if word.isprintable() else repr(word)
        return f"unknown option {shown}" + (f"; did you mean {close[0]}?" if close else "")
