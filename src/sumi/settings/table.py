"""The settings of a mirror job as one table: name, kind, group and help of each.

Flags, environment variables, configuration keys and the reference page are all made from ``SETTINGS``; the
defaults stand once, in ``MirrorSettings``. Nothing here knows where a value came from.
"""

from typing import NamedTuple

import msgspec

from sumi.policy import Durability, OnError, RenderMode, RobotsOnError, SourceChoice, StateBackend
from sumi.settings.kinds import (
    AGENT,
    AUTH,
    CONTACT,
    FIDELITY,
    FILE,
    FOLDER,
    GIB,
    HEADER,
    HEADER_FOR,
    HOST_PATTERN,
    KIB,
    MIB,
    PATTERN,
    PROGRAM,
    PROXY,
    RATE,
    RESOLVE,
    SELECTOR,
    SWITCH,
    URL,
    Kind,
    choice,
    decimal,
    many,
    size,
    size_text,
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
        return size_text(value)
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None or value == () else str(value)


TAKE, PACE, NETWORK, LIMITS = "What to take", "How gently", "Network", "Limits"
RENDERING, OUTPUT = "Rendering", "Output and state"
GROUPS = (TAKE, PACE, NETWORK, RENDERING, LIMITS, OUTPUT)

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
        "source",
        choice(SourceChoice),
        TAKE,
        "What pages are made from: their HTML, or the site's own Markdown where it is at least as good; auto "
        "looks for it where pages say that there is some and a sitemap lists them, markdown everywhere.",
    ),
    Setting(
        "assets",
        SWITCH,
        TAKE,
        "Also keep the images that pages show, from any host, and the files that they link to within the "
        "scope, and link to them locally.",
    ),
    Setting(
        "max-asset-size",
        size(KIB, 4 * GIB),
        TAKE,
        "With --assets: a larger image or file is passed over.",
        "bytes",
    ),
    Setting(
        "max-assets-total",
        size(0, 1024 * GIB),
        TAKE,
        "With --assets: what all of them together may take; what would go beyond is passed over.",
        "bytes",
    ),
    Setting(
        "drop-duplicates",
        SWITCH,
        TAKE,
        "Of pages with the same title and text write only the first; the others are recorded as duplicates.",
    ),
    Setting(
        "min-fidelity",
        FIDELITY,
        TAKE,
        "The least share of a page that its Markdown must hold. Pages below are kept and listed, and the run "
        "ends with exit code 1; 0 for no bar.",
    ),
    Setting(
        "trap-pages",
        whole(0, 1_000_000, "pages"),
        TAKE,
        "URLs that differ in dates, ids or parameters are cut after so many pages without a new word; "
        "0 for never.",
        "pages",
    ),
    Setting(
        "trap-segments",
        whole(0, 10_000, "segments"),
        TAKE,
        "A path with more segments is a trap; 0 for no limit.",
        "segments",
    ),
    Setting(
        "trap-repeats",
        whole(0, 10_000, "times"),
        TAKE,
        "A path that repeats a segment more often, or a query that repeats itself, is a trap; 0 for neither.",
        "times",
    ),
    Setting(
        "trap-parameters",
        whole(0, 10_000, "parameters"),
        TAKE,
        "A query of more parameters is a trap; 0 for no limit.",
        "parameters",
    ),
    Setting(
        "trap-hops",
        whole(0, 1_000_000, "links"),
        TAKE,
        "A page that is more links away from the start is a trap; 0 for no limit.",
        "links",
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
    Setting(
        "retries",
        whole(0, 20, "attempts"),
        NETWORK,
        "Further attempts after a failure that may pass.",
        "attempts",
    ),
    Setting(
        "on-error",
        choice(OnError),
        NETWORK,
        "A page that failed: skip it, retry passing failures once everything else is done, or abort the run "
        "with everything saved.",
    ),
    Setting(
        "cookies",
        SWITCH,
        NETWORK,
        "Keep the cookies that a site sets, in memory and for this run, and send them back to it.",
    ),
    Setting(
        "auth",
        AUTH,
        NETWORK,
        "Basic authentication for the URL's own scheme, host and port, never for others. Rather a variable "
        "than a flag: other users of the machine can see flags.",
    ),
    Setting(
        "header",
        many(HEADER),
        NETWORK,
        "A further header for the URL's own scheme, host and port, never for others. Repeatable.",
    ),
    Setting(
        "header-for",
        many(HEADER_FOR),
        NETWORK,
        "A further header for another site that the job covers, never for others. Repeatable.",
    ),
    Setting(
        "proxy",
        many(PROXY),
        NETWORK,
        "Go through this proxy. Repeatable: hosts are spread over them, and one that fails is rested.",
    ),
    Setting(
        "trust-proxy-dns",
        SWITCH,
        NETWORK,
        "Let the proxy resolve names. Where they lead is then not checked by anybody.",
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
        "render",
        choice(RenderMode),
        RENDERING,
        "Show pages to a Chromium: none, those that say nothing without JavaScript (auto), or all, until "
        "their scripts have run (fast), all has come (balanced), or been scrolled to as well (thorough).",
    ),
    Setting(
        "wait-for",
        many(SELECTOR),
        RENDERING,
        "Wait until something on the rendered page matches, for at most 10 seconds. Repeatable.",
    ),
    Setting(
        "browser",
        PROGRAM,
        RENDERING,
        "The Chromium or Chrome to use.",
        otherwise="the first that is installed",
    ),
    Setting("render-tabs", whole(1, 64, "pages"), RENDERING, "Pages rendered at once.", "pages"),
    Setting(
        "render-timeout",
        decimal(1, 600, "seconds"),
        RENDERING,
        "For rendering one page; a browser that is not done by then is ended, and the page tried again.",
        "seconds",
    ),
    Setting(
        "render-memory",
        size(256 * MIB, 64 * GIB),
        RENDERING,
        "Memory of one browser; one that takes more is ended, and the page tried again.",
        "bytes",
    ),
    Setting("timeout", decimal(1, 86_400, "seconds"), LIMITS, "For one whole exchange.", "seconds"),
    Setting(
        "connect-timeout",
        decimal(0.1, 3600, "seconds"),
        LIMITS,
        "For looking up a name, and again for connecting and the TLS handshake.",
        "seconds",
    ),
    Setting(
        "first-byte-timeout",
        decimal(0.1, 3600, "seconds"),
        LIMITS,
        "Until an answer begins.",
        "seconds",
    ),
    Setting(
        "idle-timeout", decimal(0.1, 3600, "seconds"), LIMITS, "Silence in the midst of an answer.", "seconds"
    ),
    Setting(
        "min-speed",
        whole(0, 1_000_000_000, "bytes per second"),
        LIMITS,
        "A slower answer, on average over the idle timeout, is given up; 0 for no limit.",
        "bytes per second",
    ),
    Setting("max-wire", size(KIB, GIB), LIMITS, "A larger body, as transferred, is given up.", "bytes"),
    Setting(
        "parse-cpu",
        decimal(0.1, 3600, "seconds"),
        LIMITS,
        "Processor time for turning one page into Markdown, in worker processes.",
        "seconds",
    ),
    Setting(
        "parse-memory",
        size(131_072 * KIB, 64 * GIB),
        LIMITS,
        "Memory of a worker process that turns pages into Markdown.",
        "bytes",
    ),
    Setting(
        "html-depth",
        whole(16, 10_000, "elements"),
        LIMITS,
        "A page whose elements are nested deeper is kept as plain text.",
        "elements",
    ),
    Setting(
        "html-nodes",
        whole(1000, 1_000_000_000, "nodes"),
        LIMITS,
        "A page of more nodes is kept as plain text.",
        "nodes",
    ),
    Setting("max-body", size(KIB, GIB), LIMITS, "A larger page, after decompression, is given up.", "bytes"),
    Setting(
        "max-ratio",
        whole(1, 1_000_000, "times"),
        LIMITS,
        "A body that grows by more when decompressed, and over 1 MiB, is given up.",
        "times",
    ),
    Setting(
        "max-codings",
        whole(0, 20, "codings"),
        LIMITS,
        "Compressions of one body on top of each other.",
        "codings",
    ),
    Setting(
        "max-header-bytes",
        size(KIB, 256 * KIB),
        LIMITS,
        "An answer with larger headers, all together, is given up.",
        "bytes",
    ),
    Setting(
        "max-header-fields",
        whole(1, 4096, "headers"),
        LIMITS,
        "An answer with more headers is given up.",
        "headers",
    ),
    Setting(
        "max-redirects", whole(0, 100, "redirects"), LIMITS, "In a row, meta refresh included.", "redirects"
    ),
    Setting(
        "max-url-length", whole(64, 8192, "characters"), LIMITS, "A longer URL is passed over.", "characters"
    ),
    Setting("max-links", whole(1, 1_000_000, "links"), LIMITS, "Of one page; the rest is left out.", "links"),
    Setting(
        "max-retry-after",
        decimal(0, 604_800, "seconds"),
        LIMITS,
        "A server that asks to be left alone for longer is asked again after this.",
        "seconds",
    ),
    Setting(
        "max-crawl-delay",
        decimal(0, 86_400, "seconds"),
        LIMITS,
        "A longer Crawl-delay of a robots.txt counts as this.",
        "seconds",
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
        "update",
        SWITCH,
        OUTPUT,
        "Bring a finished mirror up to date: only what changed is fetched and rewritten; pages that are gone "
        "move to _gone/.",
    ),
    Setting(
        "trust-lastmod",
        SWITCH,
        OUTPUT,
        "In an update, leave out pages that their sitemap dates before the copy that is here.",
    ),
    Setting(
        "rewrite-links",
        SWITCH,
        OUTPUT,
        "At the end, point links between mirrored pages at their files, so that the tree works offline.",
    ),
    Setting(
        "raw",
        SWITCH,
        OUTPUT,
        "Keep the pages as they came, compressed, so that sumi rebuild can make the Markdown again.",
    ),
    Setting(
        "state",
        choice(StateBackend),
        OUTPUT,
        "What the state is kept in: files are readable text and fastest for one site; sqlite and lmdb keep "
        "memory small over millions of URLs.",
        otherwise="what it is kept in already, files for a new mirror",
    ),
    Setting(
        "durability",
        choice(Durability),
        OUTPUT,
        "batch survives the death of the process; strict survives a power cut too, and is slower.",
    ),
    Setting(
        "min-free",
        size(0, 1024 * GIB),
        OUTPUT,
        "Do not start, and stop in good order, with less room on the disk, or with a twentieth of its inodes "
        "left; 0 for no such check.",
        "bytes",
        otherwise="1GiB or a twentieth of the disk, whichever is more, but at most 10GiB",
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

# Of the mirror command, which takes several: each becomes the ``url`` of settings of its own.
URLS = Setting("urls", many(URL), TAKE, "The sites, or parts of them under a path, one after the other.")

_DEFAULTS: dict[str, object] = {
    field.name: None if field.required else field.default for field in msgspec.structs.fields(MirrorSettings)
}
