"""Settings that a program gives as keyword arguments, checked as those in a configuration file are."""

import os
from collections.abc import Mapping, Sequence
from enum import Enum
from os import PathLike
from typing import Final

from sumi.errors import UsageError
from sumi.settings.setting import Setting
from sumi.settings.values import from_native, suggestion

# By field: never written down, nor repeated in a message.
SECRET: Final = ("auth", "header", "header_for", "proxy")


def from_keywords(values: Mapping[str, object], table: Sequence[Setting], job: str) -> dict[str, object]:
    """By field; None stands for what is not given. Raises UsageError for what is no setting of the job, or
    cannot be used."""
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
    """A program has more types than a file."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, PathLike):
        return os.fspath(value)
    return [_as_in_a_file(item) for item in value] if isinstance(value, list | tuple) else value
