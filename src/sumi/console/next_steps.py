"""What to do after a run: the exact commands, as lines below its summary."""

import argparse
from collections.abc import Sequence

from sumi.console.command_lines import command_line
from sumi.console.terminal import Sink, printable
from sumi.settings.sources import SECRET

_ONCE = ("--fresh", "--update", "--again", "--resume")
_URL = "URL"
_SECRET = tuple(f"--{field.replace('_', '-')}" for field in SECRET)


def same_again(command: str, arguments: Sequence[str], *more: str) -> str:
    """The command as it was typed, without what is meant for one run, and without secrets."""
    words: list[str] = []
    hidden = False
    for word in arguments:
        name = word.partition("=")[0]
        if hidden:
            words.append("...")
        elif name in _SECRET and "=" in word:
            words.append(f"{name}=...")
        elif word not in _ONCE:
            words.append(word)
        hidden = not hidden and word in _SECRET
    return command_line("sumi", *command.split(), *words, *more).replace("'...'", "...")


def show_next(options: argparse.Namespace, err: Sink, steps: Sequence[tuple[str, str]]) -> None:
    """``steps``: what for, in a word, and the command. Only for people who did not ask for silence."""
    if options.quiet or options.json or not steps:
        return
    err.line("")
    for purpose, command in steps:
        err.line(f"  {purpose:<10}  {printable(command)}")


def steps_of_mirror(status: str, arguments: Sequence[str], output: str) -> list[tuple[str, str]]:
    look = ("look", command_line("sumi", "serve", output))
    match status:
        case "complete" | "limited":
            return [("update", same_again("mirror", arguments, "--update")), look]
        case "partial":
            return [("retry", same_again("mirror", arguments)), ("why", f"sumi explain {_URL}"), look]
        case _:
            return [("continue", same_again("mirror", arguments))]
