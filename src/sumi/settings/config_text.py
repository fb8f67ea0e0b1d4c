"""Configuration files written for users: what they gave as keys, the rest as comments with their defaults."""

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import PurePath
from typing import Final

from sumi.settings.kinds import size_text
from sumi.settings.setting import Setting

_WIDTH: Final = 100


def toml_text(
    head: str, table: Sequence[Setting], values: Mapping[str, object], usual: Iterable[str], under: str = ""
) -> str:
    """``values`` by ``section.name``, or by name in a table without sections, which goes ``under`` one; of a
    repeated section the value is a list of mappings. ``usual``: what to mention though it is not given."""
    lines = _comment(head)
    for section, settings in _by_section(table, set(usual), values):
        name = section or under
        if settings[0].repeated:
            for entry in _entries(values.get(section)):
                lines += ["", f"[[{name}]]"]
                lines += [
                    f"{one.name} = {_toml(entry[one.name], one)}" for one in settings if one.name in entry
                ]
            continue
        lines += ["", f"[{name}]"]
        for setting in settings:
            lines += ["", *_comment(_said(setting)), _toml_line(setting, values)]
    return "\n".join(lines) + "\n"


def yaml_text(head: str, table: Sequence[Setting], values: Mapping[str, object], usual: Iterable[str]) -> str:
    lines = _comment(head)
    for section, settings in _by_section(table, set(usual), values):
        is_given = any(setting.path in values for setting in settings)
        indent = "  " if section else ""
        # A section of which everything is a comment would be empty, which is a mistake.
        lines += ["", f"{'' if is_given else '# '}{section}:"] if section else []
        for setting in settings:
            lines += [*(["", *_comment(_said(setting))] if not section else _comment(_said(setting), indent))]
            lines.append(_yaml_line(setting, values, indent))
    return "\n".join(lines) + "\n"


def _by_section(
    table: Sequence[Setting], usual: set[str], values: Mapping[str, object]
) -> Iterable[tuple[str, list[Setting]]]:
    for section in dict.fromkeys(setting.section for setting in table):
        chosen = [
            one
            for one in table
            if one.section == section
            and (one.path in usual or one.path in values or (one.repeated and section in values))
        ]
        if chosen:
            yield section, chosen


def _entries(value: object) -> list[Mapping[str, object]]:
    return list(value) if isinstance(value, list | tuple) else []


def _said(setting: Setting) -> str:
    return f"{setting.help} Takes {'a list, each item ' if setting.kind.many else ''}{setting.kind.expects}."


def _comment(text: str, indent: str = "") -> list[str]:
    wrapped = (textwrap.wrap(line, _WIDTH - len(indent)) or [""] for line in text.splitlines())
    return [f"{indent}# {line}".rstrip() for part in wrapped for line in part]


def _toml_line(setting: Setting, values: Mapping[str, object]) -> str:
    if setting.path in values:
        return f"{setting.name} = {_toml(values[setting.path], setting)}"
    return f"# {setting.name} = {_toml(_example(setting), setting)}"


def _yaml_line(setting: Setting, values: Mapping[str, object], indent: str) -> str:
    # JSON is YAML, and quotes what YAML would take for something else.
    if setting.path in values:
        return f"{indent}{setting.name}: {_toml(values[setting.path], setting)}"
    return f"{indent}# {setting.name}: {_toml(_example(setting), setting)}"


def _example(setting: Setting) -> object:
    """The default; of a setting without one, what its value is called."""
    if setting.default not in (None, ()):
        return setting.default
    name = f"<{setting.kind.placeholder}>"
    return [name] if setting.kind.many else name


def _toml(value: object, setting: Setting) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(item, setting) for item in value)}]"
    if isinstance(value, Enum):
        return json.dumps(str(value.value))
    if isinstance(value, PurePath):
        return json.dumps(str(value))
    if setting.kind.placeholder == "SIZE" and isinstance(value, int):
        return json.dumps(size_text(value))
    if isinstance(value, float):
        return f"{value:g}" if value % 1 or abs(value) >= 1e6 else f"{value:.1f}"
    return json.dumps(value, ensure_ascii=False)
