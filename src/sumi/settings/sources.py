"""Where settings come from: flags, then the environment, then a configuration file, then the defaults."""

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import msgspec

from sumi.errors import ConfigError, UsageError
from sumi.settings.mirror import MirrorSettings
from sumi.settings.table import SETTINGS, Setting

Given: TypeAlias = str | bool | list[str]

# A configuration file is written by a person; anything larger is some other file given by mistake.
MAX_CONFIG_BYTES = 1024 * 1024


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
        return tuple(_parsed(setting, text, where) for text in given)
    return _parsed(setting, given, where)


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    """Several values of one variable are separated by white space; an empty variable is no variable."""
    chosen = (setting for setting in SETTINGS if environ.get(setting.variable, "").strip())
    return {setting.field: _from_variable(setting, environ[setting.variable]) for setting in chosen}


def _from_variable(setting: Setting, text: str) -> object:
    if setting.kind.many:
        return tuple(_parsed(setting, word, setting.variable) for word in text.split())
    return _parsed(setting, text, setting.variable)


def _parsed(setting: Setting, text: str, where: str) -> object:
    try:
        return setting.kind.parse(text)
    except ValueError:
        raise UsageError(_complaint(where, text, setting)) from None
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None


def _complaint(where: str, value: object, setting: Setting, expects: str = "") -> str:
    shown = repr(value)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    return f"{where} is {shown}, but must be {expects or setting.kind.expects}"


def _from_file(path: Path) -> dict[str, object]:
    document = _read_toml(path)
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
            values[setting.field] = _from_toml(setting, value, f"{path}: [mirror] {key}")
        except ConfigError as error:
            violations += error.violations
    if violations:
        raise ConfigError(violations)
    return values


def _setting_named(key: str, path: Path) -> Setting:
    by_name = {setting.name: setting for setting in SETTINGS}
    if key in by_name:
        return by_name[key]
    close = difflib.get_close_matches(key.replace("_", "-").lower(), by_name, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise ConfigError([f"{path}: [mirror] {key} is not a setting{hint}"])


def _read_toml(path: Path) -> dict[str, object]:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_CONFIG_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file name"
        raise UsageError(f"--config {str(path)!r} cannot be read: {reason}") from None
    if len(raw) > MAX_CONFIG_BYTES:
        raise ConfigError([f"{path}: larger than 1 MiB, so hardly a configuration file"])
    try:
        return tomllib.loads(raw.decode())
    except UnicodeDecodeError:
        raise ConfigError([f"{path}: not a text in UTF-8"]) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError([f"{path}: not valid TOML: {error}"]) from None


def _from_toml(setting: Setting, value: object, where: str) -> object:
    kind = setting.kind
    if kind.many and not isinstance(value, list):
        raise ConfigError([_complaint(where, value, setting, f"a list, each item {kind.expects}")])
    items = value if kind.many and isinstance(value, list) else [value]
    parsed: list[object] = []
    violations: list[str] = []
    for item in items:
        try:
            parsed.append(_from_scalar(setting, item, where))
        except UsageError as error:
            violations.append(str(error))
    if violations:
        raise ConfigError(violations)
    return tuple(parsed) if kind.many else parsed[0]


def _from_scalar(setting: Setting, value: object, where: str) -> object:
    # type() and not isinstance(): True is an int to Python, but not to whoever wrote the file.
    if type(value) not in setting.kind.natives:
        quotes = " in quotes" if setting.kind.natives == (str,) else ""
        raise UsageError(_complaint(where, value, setting, setting.kind.expects + quotes))
    return value if isinstance(value, bool) else _parsed(setting, str(value), where)
