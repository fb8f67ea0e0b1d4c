"""What a user decides about crawling by policy and scraping what was found: one schema for both sides.

A file may hold either side or both; what it does not mention has the default that stands here. Paths are
absolute once loaded: see ``config_file``.
"""

from enum import StrEnum
from pathlib import Path

import msgspec

from sumi.policy import FetchLimits, RenderMode, RobotsOnError, StateBackend
from sumi.scope.profiles import ProfileName


class CrawlMode(StrEnum):
    SEPARATED = "separated"  # the crawler finds pages, the scraper fetches and keeps them
    UNIFIED = "unified"  # one process fetches each page once, keeps it and follows its links


class IndexBackend(StrEnum):
    """Storage of the page index."""

    FILES = "files"
    LMDB = "lmdb"


class PackingDictionary(StrEnum):
    """What compressed pages of an archive share."""

    OFF = "off"  # nothing: each can be opened by itself
    AUTO = "auto"  # a dictionary, trained from the first of them


class RobotsSection(msgspec.Struct, frozen=True):
    respect: bool = True
    on_error: RobotsOnError = RobotsOnError.RFC9309
    cache_ttl_sec: float = 24 * 3600.0


class ScopeSection(msgspec.Struct, frozen=True):
    allowed_hosts: tuple[str, ...] = ()
    denied_subdomains: tuple[str, ...] = ()
    allow_patterns: tuple[str, ...] = ()  # none: the profile's page types, or everything if it has no such
    deny_patterns: tuple[str, ...] = ()
    keep_query: tuple[str, ...] = ()  # parameters that tell pages apart; all others are dropped from URLs
    max_depth: int | None = None


class LimitsSection(msgspec.Struct, frozen=True):
    global_concurrency: int = 2
    per_host_concurrency: int = 1
    req_per_sec: float = 1.0  # to one host
    connect_timeout_ms: int = 10_000
    read_timeout_ms: int = 30_000
    max_retries: int = 3
    backoff_base_ms: int = 500
    backoff_cap_ms: int = 8000
    max_in_flight: int = FetchLimits().flight_bytes


class CapsSection(msgspec.Struct, frozen=True):
    """0: no limit."""

    max_pages: int = 0  # of the whole crawl
    per_repo_max_pages: int = 0
    per_repo_max_issues: int = 0
    per_repo_max_prs: int = 0


class FrontierSection(msgspec.Struct, frozen=True):
    db_path: Path
    backend: StateBackend | None = None  # files, and sqlite once they are outgrown


class SpoolSection(msgspec.Struct, frozen=True):
    dir: Path
    max_backlog_gb: float = 10.0
    segment_mb: float = 64.0  # megabytes after which the crawler begins the next file
    hand_over: bool = True  # the crawler keeps bodies, and the scraper takes them instead of asking again


class MetricsSection(msgspec.Struct, frozen=True):
    crawler_path: Path
    scraper_path: Path
    flush_interval_sec: float = 10.0


class TrajectorySection(msgspec.Struct, frozen=True):
    path: Path
    enabled: bool = True


class StoreSection(msgspec.Struct, frozen=True):
    root: Path
    compress: bool = False
    permissions: int = 0o644
    dictionary: PackingDictionary = PackingDictionary.OFF


class PagesCsvSection(msgspec.Struct, frozen=True):
    path: Path


class IndexSection(msgspec.Struct, frozen=True):
    db_path: Path
    backend: IndexBackend = IndexBackend.FILES


class BookmarkSection(msgspec.Struct, frozen=True):
    path: Path


class MetadataSection(msgspec.Struct, frozen=True):
    path: Path


class NetworkSection(msgspec.Struct, frozen=True):
    proxies: tuple[str, ...] = ()
    resolve: tuple[str, ...] = ()
    ca_file: str | None = None
    allow_private: bool = False


class RenderSection(msgspec.Struct, frozen=True):
    mode: RenderMode = RenderMode.NONE
    wait_for: tuple[str, ...] = ()


class CrawlConfig(msgspec.Struct, frozen=True, kw_only=True):
    run_id: str
    workspace: Path
    user_agent: str
    seeds_file: Path
    profile: ProfileName = ProfileName.GITHUB
    mode: CrawlMode = CrawlMode.SEPARATED
    robots: RobotsSection = RobotsSection()
    scope: ScopeSection = ScopeSection()
    limits: LimitsSection = LimitsSection()
    caps: CapsSection = CapsSection()
    network: NetworkSection = NetworkSection()
    frontier: FrontierSection
    spool: SpoolSection
    store: StoreSection
    index: IndexSection
    bookmark: BookmarkSection
    pages_csv: PagesCsvSection
    metadata: MetadataSection
    metrics: MetricsSection
    trajectory: TrajectorySection
    render: RenderSection = RenderSection()
    # Each path as it stands in the workspace, by dotted key: a pattern of a shell, * for the run's name.
    patterns: dict[str, str]
