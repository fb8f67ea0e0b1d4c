"""Command lines to show to users: what was given, as it would be typed again."""

import shlex
from collections.abc import Sequence

import msgspec

from sumi.errors import without_passwords
from sumi.settings.setting import Setting
from sumi.settings.sources import SECRET


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
