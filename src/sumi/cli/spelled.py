"""Every command with its options, as completion scripts and man pages need them: read from the parsers."""

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from sumi.cli.main import COMMANDS, Command, load_command
from sumi.console.parser import SentenceParser


class Option(NamedTuple):
    names: tuple[str, ...]
    value: str  # what it takes: "FILE", "skip|retry|abort"; "" for a switch
    words: tuple[str, ...]  # the values that there are, if these are all
    help: str

    @property
    def first_sentence(self) -> str:
        return self.help.partition(". ")[0].rstrip(".")


class Spelled(NamedTuple):
    command: Command
    parser: SentenceParser
    options: tuple[Option, ...]
    arguments: tuple[Option, ...]


def every_command() -> Iterator[Spelled]:
    for command in COMMANDS:
        yield spelled(command)


def spelled(command: Command) -> Spelled:
    parser = load_command(command).build_parser()
    shown = [action for action in parser._actions if action.help is not argparse.SUPPRESS]
    options = tuple(_option(action) for action in shown if action.option_strings)
    arguments = tuple(_option(action) for action in shown if not action.option_strings)
    return Spelled(command, parser, options, arguments)


def _option(action: argparse.Action) -> Option:
    value = action.metavar if isinstance(action.metavar, str) else ""
    if not value and action.choices is not None:
        value = "|".join(map(str, action.choices))
    takes = value if action.nargs != 0 else ""
    # "none|auto|fast" lists all values, "URL|EMAIL" kinds of values.
    parts = tuple(takes.split("|")) if "|" in takes and takes.islower() else ()
    words = tuple(map(str, action.choices)) if action.choices is not None else parts
    return Option(tuple(action.option_strings), takes, words, action.help or "")
