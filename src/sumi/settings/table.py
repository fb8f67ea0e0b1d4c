"""The settings of a mirror job as one table: name, kind, group and help of each.

Flags, environment variables, configuration keys and the reference page are all made from ``SETTINGS``; the
defaults stand once, in ``MirrorSettings``. Nothing here knows where a value came from.
"""

from typing import NamedTuple

import msgspec

from sumi.policy import Durability, RobotsOnError
from sumi.settings.kinds import (
    AGENT,
    CONTACT,
    FILE,
    FOLDER,
    GIB,
    HOST_PATTERN,
    KIB,
    MIB,
    PATTERN,
    RATE,
    RESOLVE,
    SWITCH,
    URL,
    Kind,
    choice,
    decimal,
    many,
    size,
    whole,
)
from sumi.settings.mirror import HOME_PAGE, MirrorSettings


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
        return f"{value // MIB}MiB"
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None or value == () else str(value)


TAKE, PACE, NETWORK, OUTPUT = "What to take", "How gently", "Network", "Output and state"
GROUPS = (TAKE, PACE, NETWORK, OUTPUT)

SETTINGS: tuple[Setting, ...] = (
    Setting(
        "url",
        URL,
        TAKE,
        "The site, or the part of it under a path.",
    ),
    Setting("follow-links", SWITCH, TAKE, "Take linked pages too where a sitemap lists the site's pages."),
    Setting("include", many(PATTERN), TAKE, "Only pages whose path matches. Repeatable."),
    Setting("exclude", many(PATTERN), TAKE, "No pages whose path matches; wins over --include. Repeatable."),
    Setting(
        "hosts",
        many(HOST_PATTERN),
        TAKE,
        "Further hosts that belong to the site; *.example.org takes example.org too. Repeatable.",
    ),
    Setting(
        "loose-paths",
        SWITCH,
        TAKE,
        "For a URL with the path /docs, take /docs-old as well; otherwise only what lies under /docs/.",
    ),
    Setting(
        "max-pages",
        whole(0, 1_000_000_000, "pages"),
        TAKE,
        "Stop after so many captured pages; 0 for no limit.",
        "pages",
    ),
    Setting(
        "max-depth",
        whole(0, 10_000, "links"),
        TAKE,
        "How many links away from the start a page may be.",
        "links",
        otherwise="no limit",
    ),
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
    Setting("timeout", decimal(1, 86_400, "seconds"), NETWORK, "For one whole exchange.", "seconds"),
    Setting(
        "max-body",
        size(KIB, GIB),
        NETWORK,
        "A larger page, after decompression, is given up.",
        "bytes",
    ),
    Setting(
        "retries",
        whole(0, 20, "attempts"),
        NETWORK,
        "Further attempts after a failure that may pass.",
        "attempts",
    ),
    Setting(
        "allow-private",
        SWITCH,
        NETWORK,
        "Allow private and loopback addresses (never link-local or cloud metadata).",
    ),
    Setting(
        "resolve",
        many(RESOLVE),
        NETWORK,
        "Use this address for that host and port instead of DNS, as curl does. Repeatable.",
    ),
    Setting(
        "ca-file",
        FILE,
        NETWORK,
        "Trust the certificate authorities in this PEM file.",
        otherwise="the system's",
    ),
    Setting(
        "output",
        FOLDER,
        OUTPUT,
        "Where the Markdown and the state of the run go.",
        short="o",
    ),
    Setting("fresh", SWITCH, OUTPUT, "Start over instead of going on where the last run stopped."),
    Setting(
        "durability",
        choice(Durability),
        OUTPUT,
        "batch survives the death of the process; strict survives a power cut too, and is slower.",
    ),
    Setting(
        "processes",
        whole(0, 64, "processes"),
        OUTPUT,
        "Worker processes that turn pages into Markdown; 0 does it within the crawling process.",
        "processes",
        otherwise="by the number of cores",
    ),
)

_DEFAULTS: dict[str, object] = {
    field.name: None if field.required else field.default for field in msgspec.structs.fields(MirrorSettings)
}
