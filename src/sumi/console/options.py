"""A table of settings as command-line options, and the options given as values by name."""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sumi.console.parser import SentenceParser
from sumi.console.terminal import Sink, printable
from sumi.errors import UsageError
from sumi.settings.operating import OPERATING
from sumi.settings.setting import GROUPS, Setting
from sumi.settings.sources import Given, gathered

POSITIONAL = ("url", "urls")


def add_settings(
    parser: SentenceParser, table: Sequence[Setting], unused: frozenset[str] = frozenset()
) -> None:
    """Every setting as an option without a default, so that options not given are absent from the result.

    ``unused``: settings that do nothing in this command. They are accepted, so that the options of another
    command can be given to it, but no help shows them."""
    for title in GROUPS:
        settings = [one for one in table if one.group == title]
        if not settings:
            continue
        group = parser.add_argument_group(title.lower())
        for setting in settings:
            _add(group, setting, argparse.SUPPRESS if setting.name in unused else _help(setting))


def add_reporting(parser: SentenceParser) -> argparse._ArgumentGroup:
    """The options of every command that reports on a run."""
    group = parser.add_argument_group("reporting")
    add_loudness(group)
    add_progress(group)
    return group


def add_loudness(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--json", action="store_true", help="Write events as JSON lines to stdout.")
    loudness = group.add_mutually_exclusive_group()
    loudness.add_argument("-q", "--quiet", action="store_true", help="Show only problems.")
    loudness.add_argument(
        "-v",
        "--verbose",
        action="count",
        default=0,
        help="Show every page; twice, also retries and robots.txt.",
    )


def add_progress(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--progress",
        choices=("live", "line", "none"),
        default="live",
        metavar="live|line|none",
        help="On a terminal: hosts, pages and failures as they are, one line, or nothing. Default: live.",
    )


def given_flags(namespace: argparse.Namespace, table: Sequence[Setting]) -> dict[str, Given]:
    typed = vars(namespace)
    return {setting.name: typed[setting.field] for setting in table if setting.field in typed}


def add_lists(group: argparse._ArgumentGroup, what: str) -> None:
    """For a job that begins with a list, and keeps what it says in files of its own."""
    group.add_argument(
        "--urls",
        metavar="FILE",
        action="append",
        default=[],
        help=f"{what}: lines, CSV, JSON lines, a sitemap, feed or llms.txt, CDX, WARC or WACZ; - reads "
        "standard input. Repeatable.",
    )
    group.add_argument("--urls-column", metavar="NAME", help="The column or field of --urls that has them.")


def listed_urls(options: argparse.Namespace, *, bare: bool = False) -> list[str]:
    """What the lists of ``add_lists`` say, each once; how much is no address is told."""
    from sumi.files.url_lists import UrlList

    found: dict[str, None] = {}
    with lists_from_stdin({"urls-from": options.urls}) as flags:
        lists: Any = flags["urls-from"]
        for name, path in zip(options.urls, lists, strict=True):
            shown = "standard input" if name == "-" else name
            listed = UrlList(Path(path), shown, options.urls_column or "", bare=bare)
            found.update((entry.url.target, None) for entry in listed)
            if listed.passed_over:
                lines = "line" if listed.passed_over == 1 else "lines"
                Sink(sys.stderr).line(
                    f"{printable(shown)}: {listed.passed_over:,} {lines} without an address"
                )
    if options.urls and not found:
        raise UsageError(f"there is no address in {' or '.join(options.urls)}")
    return list(found)


@contextmanager
def lists_from_stdin(flags: dict[str, Given]) -> Iterator[dict[str, Given]]:
    """``--urls-from -``: what is on standard input, as a file for as long as the command runs."""
    lists = flags.get("urls-from")
    if not isinstance(lists, list) or "-" not in lists:
        yield flags
        return
    with tempfile.TemporaryDirectory(prefix="sumi-") as folder:
        path = os.path.join(folder, "stdin")
        with open(path, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield {**flags, "urls-from": [path if name == "-" else name for name in lists]}


def operating_options(namespace: argparse.Namespace) -> dict[str, Any]:
    """From flags and the environment, for commands whose other settings are in a file."""
    return gathered(given_flags(namespace, OPERATING), os.environ, None, OPERATING, "")


def _add(group: argparse._ArgumentGroup, setting: Setting, text: str) -> None:
    if setting.name in POSITIONAL:
        count = "*" if setting.kind.many else "?"
        group.add_argument(setting.name, metavar="URL", nargs=count, default=argparse.SUPPRESS, help=text)
        return
    names = [f"-{setting.short}"] if setting.short else []
    names.append(f"--{setting.name}")
    if setting.also:
        names.append(f"--{setting.also}")
    if setting.kind.switch:
        action = argparse.BooleanOptionalAction
        group.add_argument(*names, action=action, default=argparse.SUPPRESS, help=text)
        return
    group.add_argument(
        *names,
        action="append" if setting.kind.many else "store",
        metavar=setting.kind.placeholder,
        default=argparse.SUPPRESS,
        help=text,
    )


def add_option(group: argparse._ArgumentGroup, setting: Setting) -> None:
    """One setting as an option, as ``add_settings`` does it."""
    _add(group, setting, _help(setting))


def chosen_options(namespace: argparse.Namespace, table: Sequence[Setting]) -> dict[str, Any]:
    """What was given of a table, checked, by field."""
    return gathered(given_flags(namespace, table), {}, None, table, "")


def add_save_config(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--save-config",
        metavar="FILE",
        help="Write what is given here as a commented configuration file, and exit.",
    )


def _help(setting: Setting) -> str:
    if setting.name == "url" or setting.kind.many:
        return setting.help
    return f"{setting.help} Default: {setting.default_with_unit}."
