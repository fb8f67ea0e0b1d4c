"""Where settings come from: flags, then the environment, then a configuration file, then the defaults."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from sumi.settings.config_file import toml_file
from sumi.settings.setting import Setting
from sumi.settings.values import parsed

Given: TypeAlias = str | bool | list[str]


def gathered(
    flags: Mapping[str, Given],
    environ: Mapping[str, str],
    config: str | None,
    table: Sequence[Setting],
    section: str,
) -> dict[str, object]:
    """By field, what was given of a table of settings, wherever; ``section`` is the one of the file."""
    values: dict[str, object] = {}
    if config is not None:
        file = toml_file(Path(config), "--config")
        values = file.read(table, under=section)
        file.refuse()
    return values | _from_environment(environ, table) | _from_flags(flags, table)


def _from_flags(flags: Mapping[str, Given], table: Sequence[Setting]) -> dict[str, object]:
    chosen = (setting for setting in table if setting.name in flags)
    return {setting.field: _from_flag(setting, flags[setting.name]) for setting in chosen}


def _from_flag(setting: Setting, given: Given) -> object:
    if isinstance(given, bool):
        return given
    where = "URL" if setting.name in ("url", "urls") else f"--{setting.name}"
    if isinstance(given, list):
        return tuple(parsed(setting.kind, text, where) for text in given)
    return parsed(setting.kind, given, where)


def _from_environment(environ: Mapping[str, str], table: Sequence[Setting]) -> dict[str, object]:
    """Several values of one variable are separated by white space, by line breaks where a value may contain
    blanks. An empty variable is no variable."""
    chosen = (setting for setting in table if environ.get(setting.variable, "").strip())
    return {setting.field: _from_variable(setting, environ[setting.variable]) for setting in chosen}


def _from_variable(setting: Setting, text: str) -> object:
    if setting.kind.many:
        values = filter(str.strip, text.splitlines()) if setting.kind.spaced else text.split()
        return tuple(parsed(setting.kind, value, setting.variable) for value in values)
    return parsed(setting.kind, text, setting.variable)
