"""robots.txt as RFC 9309 has it: parsed once per host, asked once per URL. Pure: it fetches nothing."""

from sumi.robots.agent import product_token
from sumi.robots.file import RobotsFile, parse_robots
from sumi.robots.lines import is_web_page
from sumi.robots.rules import RobotsDecision, RobotsRules
from sumi.robots.verdict import RobotsAccess, RobotsVerdict, robots_verdict

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
