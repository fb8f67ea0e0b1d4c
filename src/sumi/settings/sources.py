"""Where settings come from: flags, then the environment, then a configuration file, then the defaults."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from sumi.errors import ConfigError, UsageError
from sumi.settings.mirror import MirrorSettings
from sumi.settings.setting import Setting
from sumi.settings.table import SETTINGS, URLS
from sumi.settings.toml_values import from_toml, parsed, read_toml, suggestion

Given: TypeAlias = str | bool | list[str]


def load_settings(
    flags: Mapping[str, Given], environ: Mapping[str, str], config: str | None = None
) -> MirrorSettings:
    """``flags`` are by setting name, as typed. Raises UsageError, or ConfigError for a file's violations."""
    values = gathered(flags, environ, config, SETTINGS, "mirror")
    if "url" not in values:
        raise UsageError("no URL given; give one such as https://docs.example.org")
    return msgspec.convert(values, MirrorSettings)


def load_sites(
    flags: Mapping[str, Given], environ: Mapping[str, str], config: str | None = None
) -> list[MirrorSettings]:
    """As ``load_settings``, for each of the URLs; all else is the same for all of them."""
    values = gathered(flags, environ, config, (URLS, *SETTINGS), "mirror")
    several, one = values.pop("urls", ()), values.pop("url", None)
    if several and one is not None and not flags.get(URLS.name):
        raise UsageError("both url and urls are given; put all of them under urls")
    urls = tuple(several) if isinstance(several, tuple) and several else (one,) if one is not None else ()
    if not urls:
        raise UsageError("no URL given; for example: sumi mirror https://docs.example.org")
    return [msgspec.convert({**values, "url": url}, MirrorSettings) for url in dict.fromkeys(urls)]


def gathered(
    flags: Mapping[str, Given],
    environ: Mapping[str, str],
    config: str | None,
    table: Sequence[Setting],
    section: str,
) -> dict[str, object]:
    """By field, what was given of a table of settings, wherever; ``section`` is the one of the file."""
    values: dict[str, object] = _from_file(Path(config), table, section) if config is not None else {}
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


def _from_file(path: Path, known: Sequence[Setting], section: str) -> dict[str, object]:
    document = read_toml(path, "--config")
    violations = [
        f"{path}: [{key}] is not a section; settings go under [{section}]"
        for key in document
        if key != section
    ]
    table = document.get(section, {})
    if not isinstance(table, dict):
        raise ConfigError([*violations, f"{path}: {section} must be a section, written [{section}]"])
    values: dict[str, object] = {}
    for key, value in table.items():
        try:
            where = f"{path}: [{section}] {key}"
            setting = _setting_named(key, known, where)
            values[setting.field] = from_toml(setting.kind, value, where)
        except ConfigError as error:
            violations += error.violations
    if violations:
        raise ConfigError(violations)
    return values


def _setting_named(key: str, known: Sequence[Setting], where: str) -> Setting:
    by_name = {setting.name: setting for setting in known}
    if key in by_name:
        return by_name[key]
    raise ConfigError([f"{where} is not a setting{suggestion(key, by_name)}"])
