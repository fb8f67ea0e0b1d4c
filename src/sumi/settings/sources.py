"""Where settings come from: flags, then the environment, then a configuration file, then the defaults."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import msgspec

from sumi.errors import ConfigError, UsageError
from sumi.settings.mirror import MirrorSettings
from sumi.settings.table import SETTINGS, Setting
from sumi.settings.toml_values import from_toml, parsed, read_toml, suggestion

Given: TypeAlias = str | bool | list[str]


def load_settings(
    flags: Mapping[str, Given], environ: Mapping[str, str], config: str | None = None
) -> MirrorSettings:
    """``flags`` are by setting name, as typed. Raises UsageError, or ConfigError for a file's violations."""
    values: dict[str, object] = _from_file(Path(config)) if config is not None else {}
    values |= _from_environment(environ)
    values |= _from_flags(flags)
    if "url" not in values:
        raise UsageError("no URL given; as an example: sumi mirror https://docs.example.org")
    return msgspec.convert(values, MirrorSettings)


def _from_flags(flags: Mapping[str, Given]) -> dict[str, object]:
    chosen = (setting for setting in SETTINGS if setting.name in flags)
    return {setting.field: _from_flag(setting, flags[setting.name]) for setting in chosen}


def _from_flag(setting: Setting, given: Given) -> object:
    if isinstance(given, bool):
        return given
    where = setting.name.upper() if setting.name == "url" else f"--{setting.name}"
    if isinstance(given, list):
        return tuple(parsed(setting.kind, text, where) for text in given)
    return parsed(setting.kind, given, where)


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    """Several values of one variable are separated by white space, by line breaks where a value may contain
    blanks. An empty variable is no variable."""
    chosen = (setting for setting in SETTINGS if environ.get(setting.variable, "").strip())
    return {setting.field: _from_variable(setting, environ[setting.variable]) for setting in chosen}


def _from_variable(setting: Setting, text: str) -> object:
    if setting.kind.many:
        values = filter(str.strip, text.splitlines()) if setting.kind.spaced else text.split()
        return tuple(parsed(setting.kind, value, setting.variable) for value in values)
    return parsed(setting.kind, text, setting.variable)


def _from_file(path: Path) -> dict[str, object]:
    document = read_toml(path, "--config")
    violations = [
        f"{path}: [{key}] is not a section; settings go under [mirror]" for key in document if key != "mirror"
    ]
    table = document.get("mirror", {})
    if not isinstance(table, dict):
        raise ConfigError([*violations, f"{path}: mirror must be a section, written [mirror]"])
    values: dict[str, object] = {}
    for key, value in table.items():
        try:
            setting = _setting_named(key, path)
            values[setting.field] = from_toml(setting.kind, value, f"{path}: [mirror] {key}")
        except ConfigError as error:
            violations += error.violations
    if violations:
        raise ConfigError(violations)
    return values


def _setting_named(key: str, path: Path) -> Setting:
    by_name = {setting.name: setting for setting in SETTINGS}
    if key in by_name:
        return by_name[key]
    raise ConfigError([f"{path}: [mirror] {key} is not a setting{suggestion(key, by_name)}"])
