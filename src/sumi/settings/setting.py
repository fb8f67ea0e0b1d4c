"""What a setting is: name, kind, group and help. Its default stands once, in ``MirrorSettings``."""

from typing import NamedTuple

import msgspec

from sumi.settings.kinds import Kind, size_text
from sumi.settings.mirror import MirrorSettings

TAKE, PACE, NETWORK, LIMITS = "What to take", "Politeness", "Network", "Limits"
RENDERING, OUTPUT = "Rendering", "Output and state"
GROUPS = (TAKE, PACE, NETWORK, RENDERING, LIMITS, OUTPUT)

_DEFAULTS: dict[str, object] = {
    field.name: None if field.required else field.default for field in msgspec.structs.fields(MirrorSettings)
}


class Setting(NamedTuple):
    name: str  # kebab-case: the flag without dashes, the configuration key
    kind: Kind
    group: str
    help: str
    unit: str = ""
    otherwise: str = ""  # what None stands for
    short: str = ""

    @property
    def field(self) -> str:
        return self.name.replace("-", "_")

    @property
    def variable(self) -> str:
        return f"SUMI_{self.field.upper()}"

    @property
    def flag(self) -> str:
        """The spelling that a user would type: for a switch that is on, the one that turns it off."""
        return f"--no-{self.name}" if self.default is True else f"--{self.name}"

    @property
    def default(self) -> object:
        return _DEFAULTS[self.field]

    @property
    def default_text(self) -> str:
        return self.otherwise or _shown(self.default, self.kind)


def _shown(value: object, kind: Kind) -> str:
    if kind.switch:
        return "on" if value else "off"
    if kind.placeholder == "SIZE" and isinstance(value, int):
        return size_text(value)
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None or value == () else str(value)
