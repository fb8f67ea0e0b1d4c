"""robots.txt by RFC 9309: parsed once per origin, consulted once per URL. Pure: nothing here fetches."""

from sumi.robots.file import (
    RobotsAccess,
    RobotsFile,
    RobotsVerdict,
    Ruling,
    is_web_page,
    parse_robots,
    product_token,
    robots_verdict,
)
from sumi.robots.rules import RobotsDecision, RobotsRules

__all__ = [
    "RobotsAccess",
    "RobotsDecision",
    "RobotsFile",
    "RobotsRules",
    "RobotsVerdict",
    "Ruling",
    "is_web_page",
    "parse_robots",
    "product_token",
    "robots_verdict",
]
