"""What a user decides, wherever it was written: one table, one frozen result."""

from sumi.settings.mirror import MirrorSettings
from sumi.settings.setting import GROUPS, Setting
from sumi.settings.sources import Given, load_settings, load_sites
from sumi.settings.table import SETTINGS, URLS

__all__ = ["GROUPS", "SETTINGS", "URLS", "Given", "MirrorSettings", "Setting", "load_settings", "load_sites"]
