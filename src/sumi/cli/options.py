"""The settings table as command-line options, and what was typed back as values by name."""

import argparse

from sumi.cli.parser import SentenceParser
from sumi.settings import GROUPS, SETTINGS, Given, Setting


def add_settings(parser: SentenceParser) -> None:
    """Every setting as an option without a default, so that what was not typed is absent from the result."""
    for title in GROUPS:
        group = parser.add_argument_group(title.lower())
        for setting in (one for one in SETTINGS if one.group == title):
            _add(group, setting)


def given_flags(namespace: argparse.Namespace) -> dict[str, Given]:
    typed = vars(namespace)
    return {setting.name: typed[setting.field] for setting in SETTINGS if setting.field in typed}


def _add(group: argparse._ArgumentGroup, setting: Setting) -> None:
    text = _help(setting)
    if setting.name == "url":
        group.add_argument("url", metavar="URL", nargs="?", default=argparse.SUPPRESS, help=text)
        return
    names = [f"-{setting.short}"] if setting.short else []
    names.append(f"--{setting.name}")
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


def _help(setting: Setting) -> str:
    if setting.name == "url" or setting.kind.many:
        return setting.help
    return f"{setting.help} Default: {setting.default_text}."
