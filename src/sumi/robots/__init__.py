"""robots.txt as RFC 9309 has it: parsed once per host, asked once per URL. Pure: it fetches nothing."""

from sumi.robots.file import (
    RobotsAccess,
    RobotsFile,
    RobotsVerdict,
    parse_robots,
    product_token,
    robots_verdict,
)
from sumi.robots.lines import is_web_page
from sumi.robots.rules import RobotsDecision, RobotsRules

__all__ = [
    "RobotsAccess",
    "RobotsDecision",
    "RobotsFile",
    "RobotsRules",
    "RobotsVerdict",
    "is_web_page",
    "parse_robots",
    "product_token",
    "robots_verdict",
]
