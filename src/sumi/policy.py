"""Decisions of the user, parsed once at the edge into small frozen groups; comments say what 0 means."""

from enum import StrEnum

import msgspec


class Preset(StrEnum):
    """Rule sets of URL normalization; see ``sumi.urls``."""

    MIRROR = "mirror"
    CRAWL = "crawl"
    MAP = "map"
    CAPTURE = "capture"


class RobotsOnError(StrEnum):
    """What an unreachable robots.txt means."""

    RFC9309 = "rfc9309"  # 4xx allows, 5xx, 429 and no connection deny
    DENY = "deny"  # any failure denies
    ALLOW = "allow"  # any failure allows


class FollowLinks(StrEnum):
    ALWAYS = "always"
    UNLESS_SITEMAP = "unless sitemap"  # links are followed only where no sitemap lists pages
    NEVER = "never"


class RobotsPolicy(msgspec.Struct, frozen=True):
    respect: bool = True
    on_error: RobotsOnError = RobotsOnError.RFC9309
    max_age: float = 24 * 3600.0
    max_bytes: int = 500 * 1024
    max_redirects: int = 5


class PacingPolicy(msgspec.Struct, frozen=True):
    """How gently hosts are treated. Seconds."""

    delay: float = 1.0  # between pages of one host; 0 for no limit
    manifest_delay: float = 1.0  # after a sitemap
    per_host: int = 1  # requests to one host at once
    max_crawl_delay: float = 300.0  # a larger Crawl-delay is clamped
    max_hold: float = 6 * 3600.0  # a longer Retry-After is clamped
    rate_limited_hold: float = 30.0  # after a 429 or 503 without Retry-After; doubles each time in a row
    slow_factor: float = (
        2.0  # adaptive: the pause is at least this many times the host's usual latency; 0 = off
    )
    circuit_failures: int = 10  # failures in a row that suspend a host; 0 = never
    circuit_hold: float = 900.0
    host_budget: int = 0  # requests per host and run; 0 = no limit


class FrontierPolicy(msgspec.Struct, frozen=True):
    """What a frontier must know of its job."""

    pacing: PacingPolicy = PacingPolicy()
    max_pages: int = 0  # captured pages, exact under concurrency and crashes; 0 = no limit
    sitemaps_first: bool = False  # no page is leased while a sitemap is waiting or being read
    lease_seconds: float = 300.0


class RetryPolicy(msgspec.Struct, frozen=True):
    retries: int = 3
    first_delay: float = 1.0
    max_delay: float = 60.0


class FetchLimits(msgspec.Struct, frozen=True):
    """Bounds of one exchange. Seconds and bytes."""

    connect: float = 10.0
    first_byte: float = 30.0
    idle: float = 30.0
    total: float = 120.0
    min_bytes_per_second: int = 1024  # averaged over ``idle`` seconds; 0 = off
    wire_bytes: int = 16 * 1024 * 1024
    body_bytes: int = 32 * 1024 * 1024
    ratio: int = 200  # decoded to transferred, once past 1 MiB
    codings: int = 5
    header_bytes: int = 64 * 1024
    header_fields: int = 256


class NetworkPolicy(msgspec.Struct, frozen=True):
    """Who we say we are, and whom we may talk to."""

    user_agent: str = "sumi"
    allow_private: bool = False  # RFC 1918 and loopback; never link-local or metadata addresses
    resolve: tuple[tuple[str, int, str], ...] = ()  # (host, port, address), as curl's --resolve
    open_hosts: frozenset[tuple[str, int]] = frozenset()  # literal private seeds: that host and port only
    ca_file: str | None = None
    http2: bool = True


class UrlLimits(msgspec.Struct, frozen=True):
    length: int = 8192
    redirects: int = 10
    links_per_page: int = 5000


class TrapPolicy(msgspec.Struct, frozen=True):
    """When a URL is one of endlessly many. 0: that rule is off."""

    segments: int = 20  # of a path
    repeats: int = 2  # of one segment in a path
    parameters: int = 32  # of a query
    # Links from the nearest seed. High, because honest blogs are read from page to page by "older posts".
    hops: int = 250
    # Pages of one URL template that brought nothing new. Less than 200, so that a trap costs no more than
    # that together with the pages from which its vocabulary is learnt.
    fruitless: int = 150


class ParseLimits(msgspec.Struct, frozen=True):
    """Bounds of digesting one page. The first two hold in worker processes only."""

    cpu_seconds: float = 20.0
    memory_bytes: int = 1024**3
    depth: int = 512  # nested elements; a page beyond this or the next is kept as plain text
    nodes: int = 1_000_000


class StateBackend(StrEnum):
    """What the state of a run is kept in."""

    FILES = "files"
    SQLITE = "sqlite"
    LMDB = "lmdb"


class Durability(StrEnum):
    BATCH = (
        "batch"  # survives the death of the process; a power cut may undo the last second, which is redone
    )
    STRICT = "strict"  # survives a power cut too
