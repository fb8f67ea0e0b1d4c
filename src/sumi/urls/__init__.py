"""What a URL is: its identity under a rule set, its parts, and the links of a page.

Parsing follows the WHATWG URL standard, so a host checked here is the host a browser would dial.
"""

from sumi.urls.identity import Spelled, normalize, normalize_with, spelled
from sumi.urls.links import LinkNormalizer
from sumi.urls.parts import DEFAULT_PORTS, UrlParts, host_key, origin, split
from sumi.urls.rules import PRESETS, Rules, crawl_rules, map_rules, rules_for

__all__ = [
    "DEFAULT_PORTS",
    "PRESETS",
    "LinkNormalizer",
    "Rules",
    "Spelled",
    "UrlParts",
    "crawl_rules",
    "host_key",
    "map_rules",
    "normalize",
    "normalize_with",
    "origin",
    "rules_for",
    "spelled",
    "split",
]
