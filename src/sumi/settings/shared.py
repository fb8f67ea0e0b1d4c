"""The settings that a mirror and a capture share: how pages are requested, read and kept."""

from typing import Final

from sumi import __version__
from sumi.policy import Durability, RenderMode, RobotsOnError
from sumi.settings.kinds import (
    AGENT,
    AUTH,
    COLUMN,
    CONTACT,
    EMAIL,
    FILE,
    GIB,
    HEADER,
    HEADER_FOR,
    KIB,
    MIB,
    PATH_BUDGET,
    PATTERN,
    PROGRAM,
    PROXY,
    RATE,
    RESOLVE,
    SELECTOR,
    SWITCH,
    URL,
    WARC,
    choice,
    decimal,
    many,
    size,
    split_path_budget,
    split_resolve,
    whole,
)
from sumi.settings.limits import OF_LIMITS
from sumi.settings.operating import OPERATING, Operating
from sumi.settings.setting import (
    NETWORK,
    OUTPUT,
    PACE,
    RENDERING,
    TAKE,
    Setting,
    grouped,
)

HOME_PAGE: Final = "https://pypi.org/project/sumi/"


SEEN_MEMORY: Final = Setting(
    "seen-memory",
    size(64 * KIB, 1024 * GIB),
    "With --state postgresql://HOST/DATABASE, the memory of each worker process for URLs that are done; "
    "beyond it, the database is asked whether a URL is known. URLs that wait are always in memory.",
    group=OUTPUT,
    otherwise="all of them, some 0.6 kB each",
)


def ways_out_of(cookie_file: str | None, login: str | None) -> tuple[str, ...]:
    """The paths that a run with a browser's session does not take."""
    from sumi.scope.patterns import SIGNS_IN_OR_OUT  # --help does not need it

    return () if cookie_file is None and login is None else (SIGNS_IN_OR_OUT,)


class SharedSettings(Operating, frozen=True, kw_only=True):
    """None means derived: see the properties."""

    raw: bool = True
    warc: str | None = None
    history: bool = True
    index: bool = True
    replay: tuple[str, ...] = ()
    replay_unlinked: bool = False
    durability: Durability = Durability.BATCH
    min_free: int | None = None
    processes: int | None = None
    urls_from: tuple[str, ...] = ()
    urls_column: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    loose_paths: bool = False
    max_pages_under: tuple[str, ...] = ()
    rate_limit: float = 1.0
    max_requests_per_host: int = 0
    shared_pace: bool = True
    per_address: int = 0
    respect_robots: bool = True
    robots_on_error: RobotsOnError = RobotsOnError.RFC9309
    user_agent: str | None = None
    contact: str | None = None
    sign: bool = False
    identity: str | None = None
    retries: int = 3
    cookies: bool = True
    cookie_file: str | None = None
    login: str | None = None
    auth: str | None = None
    header: tuple[str, ...] = ()
    header_for: tuple[str, ...] = ()
    proxy: tuple[str, ...] = ()
    trust_proxy_dns: bool = False
    allow_private: bool = False
    resolve: tuple[str, ...] = ()
    ca_file: str | None = None
    render: RenderMode = RenderMode.NONE
    wait_for: tuple[str, ...] = ()
    browser: str | None = None
    render_tabs: int = 2
    render_timeout: float = 30.0
    render_memory: int = 1024 * MIB
    timeout: float = 120.0
    connect_timeout: float = 10.0
    first_byte_timeout: float = 30.0
    idle_timeout: float = 30.0
    min_speed: int = KIB
    max_wire: int = 16 * MIB
    max_body: int = 32 * MIB
    max_in_flight: int = 64 * MIB
    max_ratio: int = 200
    max_codings: int = 5
    max_header_bytes: int = 64 * KIB
    max_header_fields: int = 256
    max_redirects: int = 10
    max_url_length: int = 8192
    max_links: int = 5000
    max_retry_after: float = 6 * 3600.0
    max_crawl_delay: float = 300.0
    trap_pages: int = 150
    trap_segments: int = 20
    trap_repeats: int = 2
    trap_parameters: int = 32
    trap_hops: int = 250
    parse_cpu: float = 20.0
    parse_memory: int = 1024 * MIB
    html_depth: int = 512
    html_nodes: int = 1_000_000

    @property
    def agent(self) -> str:
        """The User-Agent, always with a contact: ``name/version (+url; email)``."""
        if self.user_agent and not self.contact:
            return self.user_agent
        name = self.user_agent or f"sumi/{__version__}"
        if self.contact and not EMAIL.fullmatch(self.contact):
            return f"{name} (+{self.contact})"
        return f"{name} (+{HOME_PAGE}; {self.contact})" if self.contact else f"{name} (+{HOME_PAGE})"

    @property
    def excluded(self) -> tuple[str, ...]:
        """``exclude``, and the ways into and out of the session of a browser."""
        return (*self.exclude, *ways_out_of(self.cookie_file, self.login))

    @property
    def path_budgets(self) -> tuple[tuple[str, int], ...]:
        """``max_pages_under`` as (pattern, pages)."""
        return tuple(split_path_budget(entry) for entry in self.max_pages_under)

    @property
    def pinned_addresses(self) -> tuple[tuple[str, int, str], ...]:
        """``resolve`` as (host, port, address)."""
        return tuple(split_resolve(entry) for entry in self.resolve)


_TAKE: Final = grouped(
    TAKE,
    Setting(
        "urls-from",
        many(FILE),
        "Take the pages in this list, and no others unless links are followed: lines, CSV, JSON lines, a "
        "sitemap, feed or llms.txt, CDX, WARC or WACZ; - reads standard input. Repeatable.",
        otherwise="find pages by sitemaps and links",
        also="urls",
    ),
    Setting(
        "urls-column",
        COLUMN,
        "The column or field of --urls-from that has the URLs.",
        otherwise="url, uri, loc, link, href or address",
    ),
    Setting(
        "include",
        many(PATTERN),
        "Take only pages whose path matches, and the given URL. Repeatable.",
    ),
    Setting("exclude", many(PATTERN), "Skip pages whose path matches; wins over --include. Repeatable."),
    Setting(
        "loose-paths",
        SWITCH,
        "For a URL with the path /docs, take /docs-old as well; otherwise only what lies under /docs/.",
    ),
    Setting(
        "max-pages-under",
        many(PATH_BUDGET),
        "Request at most N pages whose path matches, such as '/blog/**=200'. Repeatable.",
    ),
    Setting(
        "trap-pages",
        whole(0, 1_000_000, "pages"),
        "Stop following URLs that differ only in dates, ids or parameters after this many pages without a "
        "new word; 0 for never.",
        "pages",
    ),
    Setting(
        "trap-segments",
        whole(0, 10_000, "segments"),
        "A path with more segments is a trap; 0 for no limit.",
        "segments",
    ),
    Setting(
        "trap-repeats",
        whole(0, 10_000, "times"),
        "A path that repeats a segment more often, or a repetitive query, is a trap; 0 for no limit.",
        "times",
    ),
    Setting(
        "trap-parameters",
        whole(0, 10_000, "parameters"),
        "A query with more parameters is a trap; 0 for no limit.",
        "parameters",
    ),
    Setting(
        "trap-hops",
        whole(0, 1_000_000, "links"),
        "A page more links away from the start is a trap; 0 for no limit.",
        "links",
    ),
)

_PACE: Final = grouped(
    PACE,
    Setting(
        "rate-limit",
        RATE,
        "Request rate per host, for robots.txt, sitemaps and pages; 0 for no limit.",
        "requests/s per host",
    ),
    Setting(
        "max-requests-per-host",
        whole(0, 1_000_000_000, "requests"),
        "At most N requests to one host per run, robots.txt and retries included; 0 for no limit.",
        "requests",
    ),
    Setting("shared-pace", SWITCH, "Share the pace of a host with your other jobs on this machine."),
    Setting(
        "per-address",
        whole(0, 1000, "requests"),
        "Hosts on one IP address share a pace: all together get N requests within the delay of a host; "
        "0 paces each host by itself.",
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
    Setting(
        "sign",
        SWITCH,
        "Sign requests with your identity, so that sites can check who asks; see sumi identity create.",
    ),
    Setting("identity", FILE, "The identity to sign with.", otherwise="~/.config/sumi/identity.json"),
)

_NETWORK: Final = grouped(
    NETWORK,
    Setting(
        "retries",
        whole(0, 20, "attempts"),
        "Further attempts after a temporary failure.",
        "attempts",
    ),
    Setting(
        "cookies",
        SWITCH,
        "Send a site's cookies back to it. They stay in memory and end with the run.",
    ),
    Setting(
        "cookie-file",
        FILE,
        "Send the cookies in this file (Netscape format) to the URL's own scheme, host and port; links that "
        "sign in or out are not followed.",
        otherwise="none",
    ),
    Setting(
        "login",
        URL,
        "Go on with the session that you logged in to at this page: a browser window opens for it when "
        "needed, or use sumi session open. Sent to the URL's own scheme, host and port.",
        otherwise="none",
    ),
    Setting(
        "auth",
        AUTH,
        "Basic authentication, sent only to the URL's own scheme, host and port. Prefer the environment "
        "variable: other users of the machine can see flags.",
    ),
    Setting(
        "header",
        many(HEADER),
        "An extra header, sent only to the URL's own scheme, host and port. Repeatable.",
    ),
    Setting(
        "header-for",
        many(HEADER_FOR),
        "An extra header for another site that the job covers, sent only to that site. Repeatable.",
    ),
    Setting(
        "proxy",
        many(PROXY),
        "Use this proxy. Repeatable: hosts are spread over the proxies, and one that fails is rested.",
    ),
    Setting(
        "trust-proxy-dns",
        SWITCH,
        "Let the proxy resolve names. Private addresses are then not checked.",
    ),
    Setting(
        "allow-private",
        SWITCH,
        "Allow private and loopback addresses (never link-local or cloud metadata).",
    ),
    Setting(
        "resolve",
        many(RESOLVE),
        "Use this address for that host and port instead of DNS, as curl does. Repeatable.",
    ),
    Setting(
        "ca-file",
        FILE,
        "Also trust the certificate authorities in this PEM file.",
        otherwise="only the system's",
    ),
)

_RENDERING: Final = grouped(
    RENDERING,
    Setting(
        "render",
        choice(RenderMode),
        "Render pages in Chromium: none, only those that are empty without JavaScript (auto), or all, until "
        "scripts have run (fast), everything has loaded (balanced) or been scrolled into view (thorough).",
    ),
    Setting(
        "wait-for",
        many(SELECTOR),
        "Wait up to 10 seconds until something on the rendered page matches. Repeatable.",
    ),
    Setting(
        "browser",
        PROGRAM,
        "The Chromium or Chrome to use.",
        otherwise="the first that is installed",
    ),
    Setting("render-tabs", whole(1, 64, "pages"), "Pages rendered at once.", "pages"),
    Setting(
        "render-timeout",
        decimal(1, 600, "seconds"),
        "Time to render one page; after it the browser is ended and the page tried again.",
        "seconds",
    ),
    Setting(
        "render-memory",
        size(256 * MIB, 64 * GIB),
        "Memory of one browser; one that needs more is ended and the page tried again.",
        "bytes",
    ),
)

_OUTPUT: Final = grouped(
    OUTPUT,
    Setting(
        "raw",
        SWITCH,
        "Keep the original pages, compressed, so that sumi rebuild can make the Markdown again.",
    ),
    Setting(
        "warc",
        WARC,
        "Also archive all requests and responses in this file, as they were sent; a full one (1 GiB) is "
        "followed by NAME-2.warc.gz and so on.",
        otherwise="no archive",
    ),
    Setting(
        "history",
        SWITCH,
        "Keep every version of a page's text, for sumi log, sumi diff and sumi feed.",
    ),
    Setting(
        "index",
        SWITCH,
        "Bring the search index up to date at the end of a run, for sumi search.",
    ),
    Setting(
        "replay",
        many(FILE),
        "Take all answers from this WARC or WACZ file, and request nothing from the site. Repeatable.",
        otherwise="ask the site",
    ),
    Setting(
        "replay-unlinked",
        SWITCH,
        "With --replay, also take archived pages that no page links to.",
    ),
    Setting(
        "durability",
        choice(Durability),
        "batch survives a crash of the process; strict survives a power cut too, and is slower.",
    ),
    Setting(
        "min-free",
        size(0, 1024 * GIB),
        "Do not start, or stop cleanly, when the disk has less free space or less than a twentieth of its "
        "inodes free; 0 for no check.",
        "bytes",
        otherwise="1GiB or a twentieth of the disk, whichever is more, but at most 10GiB",
    ),
    Setting(
        "processes",
        whole(0, 64, "processes"),
        "Worker processes that convert pages to Markdown; 0 converts them in the crawling process.",
        "processes",
        otherwise="by the number of cores",
    ),
)

# A job uses these with the defaults of its own struct.
SHARED: Final = (*_TAKE, *_PACE, *_NETWORK, *_RENDERING, *OF_LIMITS, *_OUTPUT, *OPERATING)
