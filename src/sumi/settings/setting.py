"""What a setting is. Jobs declare tables of them, from which flags, variables, configuration keys and the
reference are made. A default is defined once, in the struct that the values go into.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from sumi.settings.kinds import Kind, size_text

TAKE, PACE, NETWORK, LIMITS = "What to take", "Politeness", "Network", "Limits"
RENDERING, OUTPUT, OPERATING = "Rendering", "Output and state", "Unattended runs"
GROUPS = (TAKE, PACE, NETWORK, RENDERING, LIMITS, OUTPUT, OPERATING)
_PLURAL: Final = re.compile(r"s\b")  # of "requests/s per host", the first


class Setting(NamedTuple):
    name: str  # the configuration key; in kebab-case, the flag without dashes
    kind: Kind
    help: str
    unit: str = ""
    otherwise: str = ""  # what happens without it, if the default does not say so
    short: str = ""
    also: str = ""  # another name of the option, without dashes
    group: str = ""  # its heading in help and reference
    section: str = ""  # of the configuration file, if that has several
    default: object = None
    required: bool = False
    repeated: bool = False  # the section may occur any number of times

    @property
    def field(self) -> str:
        return self.name.replace("-", "_")

    @property
    def path(self) -> str:
        """The name with its section: ``limits.max_retries``."""
        return f"{self.section}.{self.name}" if self.section else self.name

    @property
    def variable(self) -> str:
        return f"SUMI_{self.field.upper()}"

    @property
    def flag(self) -> str:
        """As a user would type it: for a switch that is on, the flag that turns it off."""
        return f"--no-{self.name}" if self.default is True else f"--{self.name}"

    @property
    def default_text(self) -> str:
        return self.otherwise or _shown(self.default, self.kind)

    @property
    def default_with_unit(self) -> str:
        """``120 seconds``. 0 has none: it switches something off."""
        is_number = isinstance(self.default, int | float) and self.kind.placeholder != "SIZE"
        if self.otherwise or not (is_number and self.unit and self.default):
            return self.default_text
        return (
            f"{self.default_text} {_PLURAL.sub('', self.unit, count=1) if self.default == 1 else self.unit}"
        )


def grouped(group: str, *settings: Setting) -> tuple[Setting, ...]:
    return tuple(setting._replace(group=group) for setting in settings)


def in_section(
    section: str, struct: type[msgspec.Struct], *settings: Setting, repeated: bool = False
) -> tuple[Setting, ...]:
    """Settings of one section of a configuration file, whose values go into ``struct``."""
    placed = (setting._replace(section=section, repeated=repeated) for setting in settings)
    return with_defaults(placed, struct)


def with_defaults(settings: Iterable[Setting], struct: type[msgspec.Struct]) -> tuple[Setting, ...]:
    defaults = {field.name: field.default for field in msgspec.structs.fields(struct)}

    def completed(setting: Setting) -> Setting:
        default = defaults.get(setting.field, msgspec.NODEFAULT)
        return setting if default is msgspec.NODEFAULT else setting._replace(default=default)

    return tuple(map(completed, settings))


def _shown(value: object, kind: Kind) -> str:
    if kind.switch:
        return "on" if value else "off"
    if kind.placeholder == "SIZE" and isinstance(value, int):
        return size_text(value)
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None or value == () else str(value)
