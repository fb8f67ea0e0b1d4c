"""Command lines to show to users: what was given, as it would be typed again, and what to do after a run."""

import argparse
import shlex
from collections.abc import Mapping, Sequence

import msgspec

from sumi.console.terminal import Sink, printable
from sumi.errors import without_passwords
from sumi.events import Summary
from sumi.outcomes import CAME, Outcome
from sumi.settings.setting import Setting
from sumi.settings.sources import SECRET

_ONCE = ("--fresh", "--update", "--again", "--resume")
_URL = "URL"
_SECRET = tuple(f"--{field.replace('_', '-')}" for field in SECRET)


def command_line(*words: str) -> str:
    """Without passwords in URLs: those have to be given again."""
    return shlex.join(without_passwords(word) for word in words)


def typed_options(
    settings: msgspec.Struct, table: Sequence[Setting], without: Sequence[str] = ()
) -> list[str]:
    """The options that make ``settings`` of the defaults, by the fields of ``table``. Never a secret: those
    have to be given again."""
    words: list[str] = []
    for setting in table:
        value = getattr(settings, setting.field, setting.default)
        if value == setting.default or setting.field in SECRET or setting.field in without:
            continue
        if isinstance(value, bool):
            words.append(f"--{setting.name}" if value else f"--no-{setting.name}")
            continue
        for one in value if isinstance(value, tuple) else (value,):
            words += [f"-{setting.short}" if setting.short else f"--{setting.name}", as_typed(one)]
    return words


def as_typed(value: object) -> str:
    """``2.0`` as ``2``; an enum as its value."""
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def same_again(command: str, arguments: Sequence[str], *more: str, without: str = "") -> str:
    """The command as it was typed, without what is meant for one run, without secrets, and without the option
    that ``more`` gives again."""
    words: list[str] = []
    hidden = dropped = False
    for word in arguments:
        name, equals, _ = word.partition("=")
        if dropped or name == without:
            dropped = not (dropped or equals)
            continue
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


def larger_limit(outcomes: Mapping[str, int]) -> str:
    """For a job that reached its limit of pages: room for all that it found, and for twice what it has."""
    here = sum(outcomes.get(one.value, 0) for one in CAME)
    return str(here + max(here, outcomes.get(Outcome.OVER_CAP.value, 0)))


def steps_of_mirror(
    summary: Summary, arguments: Sequence[str], output: str, database: str | None = None, job: str = ""
) -> list[tuple[str, str]]:
    """``output``: where its pages are, if they can be looked at. ``database``: where all else is, of a job
    that machines share."""
    look = [("look", command_line("sumi", "serve", output))] if output else []
    match summary.status:
        case "complete" | "limited":
            if Outcome.OVER_BUDGET.value in summary.left_out:  # each run has a new one
                return [("continue", same_again("mirror", arguments)), *look]
            steps = [("update", same_again("mirror", arguments, "--update")), *look]
            if Outcome.OVER_CAP.value not in summary.left_out:
                return steps
            larger = ("--max-pages", larger_limit(summary.outcomes))
            return [("more", same_again("mirror", arguments, *larger, without=larger[0])), *steps]
        case "partial":
            where = () if database is None else ("--in", database, "--job", job)
            why = command_line("sumi", "explain", _URL, *where)
            return [("retry", same_again("mirror", arguments)), ("why", why), *look]
        case _:
            return [("continue", same_again("mirror", arguments))]
