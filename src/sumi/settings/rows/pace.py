"""Politeness: how often to request from a host, and under which name."""

from sumi.policy import RobotsOnError
from sumi.settings.kinds import AGENT, CONTACT, RATE, SWITCH, choice, whole
from sumi.settings.mirror import HOME_PAGE
from sumi.settings.setting import PACE, Setting, grouped

ROWS = grouped(
    PACE,
    Setting(
        "rate-limit",
        RATE,
        "Request rate per host, for robots.txt, sitemaps and pages; 0 for no limit.",
        "requests/s per host",
    ),
    Setting(
        "content-rate-limit",
        RATE,
        "Request rate per host for pages only.",
        "requests/s per host",
        otherwise="the rate limit",
    ),
    Setting("concurrency", whole(1, 1024, "requests"), "Concurrent requests over all hosts.", "requests"),
    Setting(
        "per-host",
        whole(1, 256, "requests"),
        "Concurrent requests to one host.",
        "requests",
        otherwise="1 with a rate limit, else the concurrency",
    ),
    Setting(
        "max-requests-per-host",
        whole(0, 1_000_000_000, "requests"),
        "At most N requests to one host per run, robots.txt and retries included; 0 for no limit.",
        "requests",
    ),
    Setting("respect-robots", SWITCH, "Obey robots.txt. The summary says so when this is off."),
    Setting(
        "robots-on-error",
        choice(RobotsOnError),
        "When robots.txt cannot be fetched: do what RFC 9309 says, stay away, or go ahead.",
    ),
    Setting(
        "user-agent",
        AGENT,
        "The name to crawl under; robots.txt rules for this name apply.",
        otherwise=f"sumi/VERSION (+{HOME_PAGE})",
    ),
    Setting(
        "contact",
        CONTACT,
        "Where a site's owner can reach you; goes into the agent string.",
    ),
)
