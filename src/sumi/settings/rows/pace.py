"""How gently: how often a host is asked, and who is asking."""

from sumi.policy import RobotsOnError
from sumi.settings.kinds import AGENT, CONTACT, RATE, SWITCH, choice, whole
from sumi.settings.mirror import HOME_PAGE
from sumi.settings.setting import PACE, Setting

ROWS: tuple[Setting, ...] = (
    Setting(
        "rate-limit",
        RATE,
        PACE,
        "Requests to one host for robots.txt, sitemaps and, unless set apart, pages; 0 for no limit.",
        "requests/s and host",
    ),
    Setting(
        "content-rate-limit",
        RATE,
        PACE,
        "The same for pages only.",
        "requests/s and host",
        otherwise="the rate limit",
    ),
    Setting("concurrency", whole(1, 1024, "requests"), PACE, "Requests at once over all hosts.", "requests"),
    Setting(
        "per-host",
        whole(1, 256, "requests"),
        PACE,
        "Requests at once to one host.",
        "requests",
        otherwise="1 with a rate limit, else the concurrency",
    ),
    Setting(
        "max-requests-per-host",
        whole(0, 1_000_000_000, "requests"),
        PACE,
        "Ask one host at most so often in one run, robots.txt and retries included; 0 for no limit.",
        "requests",
    ),
    Setting("respect-robots", SWITCH, PACE, "Obey robots.txt. The summary says so when this is off."),
    Setting(
        "robots-on-error",
        choice(RobotsOnError),
        PACE,
        "What a robots.txt that cannot be had means: as RFC 9309 says, stay away, or go ahead.",
    ),
    Setting(
        "user-agent",
        AGENT,
        PACE,
        "The name to crawl under; robots.txt rules for that name are the ones obeyed.",
        otherwise=f"sumi/VERSION (+{HOME_PAGE})",
    ),
    Setting(
        "contact",
        CONTACT,
        PACE,
        "Where a site's owner can reach you; goes into the agent string.",
    ),
)
