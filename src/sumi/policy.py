"""The user's decisions, parsed once into small frozen groups. Comments say what 0 means."""

from enum import StrEnum
from typing import Annotated, NamedTuple

import msgspec


class Preset(StrEnum):
    """Rule sets of URL normalization; see ``sumi.urls``."""

    MIRROR = "mirror"
    CRAWL = "crawl"
    MAP = "map"
    MAP_WITH_HTTP = "map-http"  # a map of an intranet: http stays http
    CAPTURE = "capture"
    LISTED = "listed"  # for a job that gets a list of URLs: no two of them are the same page


class RobotsOnError(StrEnum):
    """What an unreachable robots.txt means."""

    RFC9309 = "rfc9309"  # 4xx allows, 5xx, 429 and no connection deny
    DENY = "deny"  # any failure denies
    ALLOW = "allow"  # any failure allows


class FollowLinks(StrEnum):
    ALWAYS = "always"
    UNLESS_SITEMAP = "unless sitemap"  # links are followed only where no sitemap lists pages
    NEVER = "never"


class Layout(StrEnum):
    """How the files of a mirror are named. ``URLS``: as before there was a choice, for mirrors made then."""

    FOLDERS = "folders"
    FLAT = "flat"
    URLS = "urls"


class SourceChoice(StrEnum):
    """What pages are made from, if a site also publishes them as Markdown."""

    AUTO = "auto"  # the site's Markdown where pages announce it, and only if it is as good as their HTML
    HTML = "html"
    MARKDOWN = "markdown"  # likewise, also looked for where no page announces it; links are followed


class Tolerance(msgspec.Struct, frozen=True):
    """Failures that the user accepts: these outcomes, and so many others, or such a share of all pages."""

    outcomes: frozenset[str] = frozenset()
    count: int = 0
    share: float = 0.0

    def admits(self, failed: int, pages: int) -> bool:
        return failed <= self.count or failed <= self.share * pages


NO_TOLERANCE = Tolerance()


class RobotsPolicy(msgspec.Struct, frozen=True):
    respect: bool = True
    on_error: RobotsOnError = RobotsOnError.RFC9309
    max_age: float = 24 * 3600.0
    max_bytes: int = 500 * 1024
    max_redirects: int = 5


class PacingPolicy(msgspec.Struct, frozen=True):
    """Politeness towards hosts. Seconds."""

    delay: float = 1.0  # between pages of one host; 0 for no limit
    sitemap_delay: float = 1.0  # after a sitemap
    per_host: int = 1  # requests to one host at once
    max_crawl_delay: float = 300.0  # a larger Crawl-delay is clamped
    max_hold: float = 6 * 3600.0  # a longer Retry-After, or pause of our own, is clamped
    rate_limited_hold: float = 30.0  # after a 429 without Retry-After; doubles each time in a row
    longest_rate_limited_hold: float = 6 * 3600.0  # it does not double beyond this
    slow_factor: float = (
        2.0  # adaptive: the pause is at least this many times the host's usual latency; 0 = off
    )
    circuit_failures: int = 10  # different URLs that failed in a row and open a host's circuit; 0 = never
    circuit_hold: float = 900.0  # how long it stays open
    circuit_openings: int = 3  # in a row, after which a run gives the host up; 0 = never
    host_budget: int = 0  # requests per host and run; 0 = no limit


class FrontierPolicy(msgspec.Struct, frozen=True):
    """What a frontier must know about its job."""

    pacing: PacingPolicy = PacingPolicy()
    max_pages: int = 0  # captured pages, exact under concurrency and crashes; 0 = no limit
    sitemaps_first: bool = False  # no page is leased while a sitemap of its host is waiting or being read
    lease_seconds: float = 300.0


class Revisit(StrEnum):
    """Which pages of a mirror an update asks for."""

    ALL = "all"
    ADAPTIVE = "adaptive"  # those that may have changed, by how often they did


class OnError(StrEnum):
    """What happens when a page has failed for good."""

    SKIP = "skip"  # it is recorded, and the run continues
    RETRY = "retry"  # temporary failures are tried again once everything else is done
    ABORT = "abort"  # the run ends, with everything saved


class RetryPolicy(msgspec.Struct, frozen=True):
    retries: int = 3
    first_delay: float = 1.0
    max_delay: float = 60.0
    steady: bool = False  # every pause is first_delay, without jitter: the user has set it
    only: tuple[str, ...] = ()  # outcomes that are retried; empty: all that are temporary


# What the standard allows one file, decompressed: https://www.sitemaps.org/protocol.html
SITEMAP_BYTES = 50 * 1024 * 1024


class FetchLimits(msgspec.Struct, frozen=True):
    """Bounds of one exchange. Seconds and bytes."""

    connect: float = 10.0
    first_byte: float = 30.0
    idle: float = 30.0
    total: float = 120.0
    min_bytes_per_second: int = 1024  # averaged over ``idle`` seconds; 0 = off
    wire_bytes: int = 16 * 1024 * 1024
    body_bytes: int = 32 * 1024 * 1024
    # For all exchanges together: what has arrived of bodies, or is being parsed. See sumi.fetch.budget.
    flight_bytes: int = 64 * 1024 * 1024
    ratio: int = 200  # decoded to transferred, once past 1 MiB
    codings: int = 5
    header_bytes: int = 64 * 1024
    header_fields: int = 256

    def with_room_for(self, most: int | None) -> "FetchLimits":
        """For an exchange whose body may be larger than the others'."""
        if most is None or most <= min(self.wire_bytes, self.body_bytes):
            return self
        return msgspec.structs.replace(
            self, wire_bytes=max(self.wire_bytes, most), body_bytes=max(self.body_bytes, most)
        )


class Secret:
    """A text that a ``repr`` does not reveal, so that it cannot end up in a log."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


class Credential(NamedTuple):
    """A header field for one origin."""

    origin: tuple[str, str, int]  # scheme, host, port
    name: str
    value: Secret


class Proxy(NamedTuple):
    scheme: str  # http, https or socks5h
    host: str  # IPv6 in brackets
    port: int
    user: Secret | None = None
    password: Secret | None = None

    @property
    def url(self) -> str:
        """Without credentials."""
        return f"{self.scheme}://{self.host}:{self.port}"


class Identity(NamedTuple):
    """Who signs requests: where the public key is published, and the private one."""

    agent: str
    seed: Secret


class BrowserSession(msgspec.Struct, frozen=True):
    """A browser's session that a run goes on with; its cookies are among the credentials."""

    log_in_again: str  # what a person does when it has ended
    file: str | None = None  # of a kept one, which is marked when it has ended
    storage: tuple[tuple[str, Secret], ...] = ()  # an origin, and its local storage as a list in JSON


class NetworkPolicy(msgspec.Struct, frozen=True):
    """The User-Agent, which addresses may be contacted, and what is sent to them."""

    user_agent: str = "sumi"
    allow_private: bool = False  # RFC 1918 and loopback; never link-local or metadata addresses
    resolve: tuple[tuple[str, int, str], ...] = ()  # (host, port, address), as curl's --resolve
    open_hosts: frozenset[tuple[str, int]] = frozenset()  # literal private seeds: that host and port only
    ca_file: str | None = None
    http2: bool = True
    https_only: bool = False  # nothing is requested without TLS, redirects and robots.txt included
    cookies: bool = False  # kept in memory for the run, sent back to the site that set them
    credentials: tuple[Credential, ...] = ()
    session: BrowserSession | None = None
    proxies: tuple[Proxy, ...] = ()
    trust_proxy_dns: bool = False  # the proxy resolves names, so their addresses are not checked
    identity: Identity | None = None  # requests are signed with it
    shared_pace: bool = True  # one pace per host for all jobs on this machine
    per_address: int = 0  # requests that an address gets within a delay; 0: each host by itself


class UrlLimits(msgspec.Struct, frozen=True):
    length: int = 8192
    redirects: int = 10
    links_per_page: int = 5000


class TrapPolicy(msgspec.Struct, frozen=True):
    """When a URL counts as one of endlessly many. 0: that rule is off."""

    segments: int = 20  # of a path
    repeats: int = 2  # of one segment in a path
    parameters: int = 32  # of a query
    # Links from the nearest seed. High, because real blogs are followed from page to page by "older posts".
    hops: int = 250
    # Pages of one URL template that brought nothing new. Below 200, so that a trap costs no more than that,
    # including the pages from which its vocabulary is learnt.
    fruitless: int = 150


class ParseLimits(msgspec.Struct, frozen=True):
    """Bounds of digesting one page. The first two hold in worker processes only."""

    cpu_seconds: float = 20.0
    memory_bytes: int = 1024**3
    depth: int = 512  # nested elements; a page beyond this or the next is kept as plain text
    nodes: int = 1_000_000


class StateBackend(StrEnum):
    """How the state of a run is stored."""

    FILES = "files"
    SQLITE = "sqlite"
    LMDB = "lmdb"


def is_database(place: str | None) -> bool:
    """Whether a state is kept in a PostgreSQL database, where many machines can work on it."""
    return place is not None and place.startswith(("postgresql://", "postgres://"))


class RenderMode(StrEnum):
    """Which pages are rendered in a browser, and for how long it waits: docs/guides/rendering.md."""

    NONE = "none"
    AUTO = "auto"  # only pages that are nearly empty without JavaScript; those as in balanced
    FAST = "fast"  # until the page's own scripts have run
    BALANCED = "balanced"  # and what they requested has loaded
    THOROUGH = "thorough"  # and what appears on scrolling down has, too


class RenderPolicy(msgspec.Struct, frozen=True):
    """Bounds of rendering. Seconds and bytes."""

    mode: RenderMode = RenderMode.NONE
    wait_for: tuple[str, ...] = ()  # CSS selectors, each waited for on every page
    browser: str | None = None  # None: the first that is found on the system
    tabs: int = 2  # pages rendered at once, each in a browser of its own
    # For one page; after that its browser is ended. Up to two thirds of it are spent waiting.
    seconds: float = 30.0
    idle: float = 10.0  # longest wait for the network to become idle
    screens: int = 100  # that thorough scrolls down at most
    sub_requests: int = 300  # of one page
    sub_bytes: int = 64 * 1024 * 1024  # of one page, through the proxy
    memory: int = 1024**3  # of one browser, without what it shares with others
    recycle: int = 100  # pages until a browser is replaced, which bounds memory leaks


class Durability(StrEnum):
    BATCH = (
        "batch"  # survives the death of the process; a power cut may undo the last second, which is redone
    )
    STRICT = "strict"  # survives a power cut too


class Retune(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The content of ``retune.<job>``. Limits that it does not name stay as they are."""

    rate_limit: Annotated[float, msgspec.Meta(ge=0, le=1000)] | None = None  # per second and host; 0: none
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=10_000)] | None = None
    per_host: Annotated[int, msgspec.Meta(ge=1, le=10_000)] | None = None
    max_pages: Annotated[int, msgspec.Meta(ge=0)] | None = None
