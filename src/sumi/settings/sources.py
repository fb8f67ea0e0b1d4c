"""Where settings come from: flags, then the environment, then a configuration file, then the defaults; or
keyword arguments of a program.
"""

import os
from collections.abc import Mapping, Sequence
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import Final, TypeAlias

from sumi.errors import UsageError
from sumi.settings.config_file import toml_file
from sumi.settings.kinds import from_native, parsed, suggestion
from sumi.settings.setting import Setting

Given: TypeAlias = str | bool | list[str]
# Fields that are never stored, nor repeated in a message.
SECRET: Final = ("auth", "header", "header_for", "proxy", "notify", "notify_secret")


def gathered(
    flags: Mapping[str, Given],
    environ: Mapping[str, str],
    config: str | None,
    table: Sequence[Setting],
    section: str,
) -> dict[str, object]:
    """The given values of a table of settings, by field. ``section``: that of the configuration file."""
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
    """Several values of one variable are separated by white space, or by line breaks if a value may contain
    spaces. An empty variable counts as not set."""
    chosen = (setting for setting in table if environ.get(setting.variable, "").strip())
    return {setting.field: _from_variable(setting, environ[setting.variable]) for setting in chosen}


def _from_variable(setting: Setting, text: str) -> object:
    if setting.kind.many:
        values = filter(str.strip, text.splitlines()) if setting.kind.spaced else text.split()
        return tuple(parsed(setting.kind, value, setting.variable) for value in values)
    return parsed(setting.kind, text, setting.variable)


def from_keywords(values: Mapping[str, object], table: Sequence[Setting], job: str) -> dict[str, object]:
    """By field; None counts as not given. Raises UsageError for unknown settings and for values that cannot
    be used."""
    known = {setting.field: setting for setting in table}
    for field in values:
        if field not in known:
            close = suggestion(field, (setting.name for setting in table)).replace("-", "_")
            raise UsageError(f"{field} is not a setting of a {job}{close}")
    return {field: _checked(known[field], value) for field, value in values.items() if value is not None}


def _checked(setting: Setting, value: object) -> object:
    plain = _as_in_a_file(value)
    if setting.kind.many and not isinstance(plain, list):
        plain = [plain]
    texts = plain if setting.kind.many and isinstance(plain, list) else [plain]
    if setting.field in SECRET and not all(isinstance(text, str) for text in texts):
        raise UsageError(f"{setting.field} must be {setting.kind.expects}; its value is not shown here")
    return from_native(setting.kind, plain, setting.field)


def _as_in_a_file(value: object) -> object:
    """Enums, paths and tuples as the plain values of a file."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, PathLike):
        return os.fspath(value)
    return [_as_in_a_file(item) for item in value] if isinstance(value, list | tuple) else value
