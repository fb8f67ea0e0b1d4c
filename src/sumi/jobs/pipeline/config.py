"""What a user decides about a crawl and its scraper: the schema of the YAML file, and the table of settings.

To add a setting, add a field to a section and a row to ``CRAWL_SETTINGS``. A file may configure crawler,
scraper or both; what it does not mention has the default given here. ``config_file`` reads it and makes its
paths absolute.
"""

import glob
import re
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec

from sumi.errors import UsageError
from sumi.policy import Durability, FetchLimits, RenderMode, RobotsOnError, StateBackend
from sumi.scope.patterns import url_pattern
from sumi.scope.profiles import ProfileName
from sumi.settings.kinds import (
    AGENT,
    FILE,
    GIB,
    HEADER,
    HOST_PATTERN,
    MIB,
    PATH_BUDGET,
    PROXY,
    RESOLVE,
    SELECTOR,
    SWITCH,
    URL,
    Kind,
    choice,
    decimal,
    many,
    size,
    whole,
)
from sumi.settings.operating import Operating
from sumi.settings.setting import Setting, in_section

MOST_PROCESSES = 256


class CrawlMode(StrEnum):
    SEPARATED = "separated"  # the crawler finds pages, the scraper archives them
    UNIFIED = "unified"  # one process fetches each page once, archives it and follows its links


class IndexBackend(StrEnum):
    """Storage of the page index."""

    FILES = "files"
    LMDB = "lmdb"


class PackingDictionary(StrEnum):
    """Whether compressed pages share a zstd dictionary."""

    OFF = "off"  # each page can be decompressed by itself
    AUTO = "auto"  # a dictionary trained on the first pages


class RobotsSection(msgspec.Struct, frozen=True):
    respect: bool = True
    on_error: RobotsOnError = RobotsOnError.RFC9309
    cache_ttl_sec: float = 24 * 3600.0


class ScopeSection(msgspec.Struct, frozen=True):
    allowed_hosts: tuple[str, ...] = ()
    denied_subdomains: tuple[str, ...] = ()
    allow_patterns: tuple[str, ...] = ()  # empty: the profile's page types, or everything if it has none
    deny_patterns: tuple[str, ...] = ()
    keep_query: tuple[str, ...] = ()  # query parameters that identify pages; others are dropped from URLs
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
    """0 means no limit."""

    max_pages: int = 0  # of the whole crawl
    per_repo_max_pages: int = 0
    per_repo_max_issues: int = 0
    per_repo_max_prs: int = 0
    max_pages_under: tuple[str, ...] = ()


class FrontierSection(msgspec.Struct, frozen=True):
    db_path: Path
    backend: StateBackend | None = None  # None: files, then sqlite for large crawls


class SpoolSection(msgspec.Struct, frozen=True):
    dir: Path
    max_backlog_gb: float = 10.0
    segment_mb: float = 64.0  # size after which the crawler begins the next file
    hand_over: bool = True  # the crawler stores bodies, so the scraper need not fetch them


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
    headers: tuple[str, ...] = ()
    accept_language: str | None = None
    cookies: bool = False
    cookie_file: str | None = None
    login: str | None = None
    trust_proxy_dns: bool = False
    shared_pace: bool = True
    per_address: int = 0
    sign: bool = False
    identity: str | None = None


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
    # Each path relative to the workspace, by dotted key, as a glob pattern: * stands for the run id.
    patterns: dict[str, str]


class RunOptions(Operating, frozen=True, kw_only=True):
    """What is decided per run instead of in the configuration. Raises UsageError for unusable values."""

    warc: str | None = None
    processes: int | None = None
    min_free: int | None = None
    durability: Durability = Durability.BATCH

    def __post_init__(self) -> None:
        if self.warc is not None and not self.warc.endswith(".warc.gz"):
            raise UsageError(f"the WARC file {self.warc} must end in .warc.gz: readers go by the suffix")
        if self.processes is not None and not 0 <= self.processes <= MOST_PROCESSES:
            raise UsageError(f"processes must be between 0 and {MOST_PROCESSES}, not {self.processes}")


# ── the settings: key, type and help of each ────────────────────────────────────────────────────────────

RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
RUN_ID_FIELD = "{run_id}"  # in a path
DEFAULT_WORKSPACE: Final = "workspace"
_PERMISSIONS = re.compile(r"0o?([0-7]{3})", re.ASCII)
_OWNER_READS_AND_WRITES = 0o600
_LANGUAGES = re.compile(r"[A-Za-z0-9*;=., -]{1,200}")
_PARAMETER = re.compile(r"[^\s&=#+%]{1,100}")
_MOST = 1_000_000_000
_CONTACT = "+http"


def _parse_agent(text: str) -> str:
    agent = str(AGENT.parse(text))
    if _CONTACT not in agent:
        raise UsageError(
            "does not say how to reach you; add an address after a plus sign, such as "
            "mybot/1.0 (+https://example.org/bot)"
        )
    return agent


def _parse_permissions(text: str) -> int:
    match = _PERMISSIONS.fullmatch(text.strip())
    if match is None or int(match[1], 8) & _OWNER_READS_AND_WRITES != _OWNER_READS_AND_WRITES:
        raise ValueError(text)
    return int(match[1], 8)


def _parse_regex(text: str) -> str:
    url_pattern(text)
    return text


def _parse_languages(text: str) -> str:
    if not _LANGUAGES.fullmatch(text):
        raise ValueError(text)
    return text


def _parse_path(text: str) -> str:
    if not text.strip() or "\0" in text:
        raise ValueError(text)
    return text


def _name(pattern: "re.Pattern[str]", expects: str) -> Kind:
    def parse(text: str) -> str:
        if not pattern.fullmatch(text):
            raise ValueError(text)
        return text

    return Kind(expects, parse, "NAME")


PATH = Kind("a path within the workspace", _parse_path, "PATH")
WORKSPACE = Kind("a folder", _parse_path, "DIR")
LANGUAGES = Kind("languages such as en or de-CH, de;q=0.8, en;q=0.5", _parse_languages, "TEXT")
CONTACTABLE = AGENT._replace(
    expects="printable ASCII that starts with a name and says how to reach you, such as "
    "mybot/1.0 (+https://example.org/bot)",
    parse=_parse_agent,
)
PERMISSIONS = Kind(
    'permissions such as "0o644", with read and write for the owner', _parse_permissions, "MODE"
)
REGEX = Kind("a regular expression on whole URLs", _parse_regex, "REGEX")
RUN_NAME = _name(RUN_ID, "a name of up to 64 letters, digits, dots and hyphens")
PARAMETER = _name(_PARAMETER, "the name of a query parameter, such as page")
_MILLISECONDS = whole(1, 3_600_000, "milliseconds")


CRAWL_SETTINGS: Final = (
    *in_section(
        "",
        CrawlConfig,
        Setting(
            "workspace",
            WORKSPACE,
            "Folder for everything the job writes, relative to this file.",
            default=DEFAULT_WORKSPACE,
        ),
        Setting("user_agent", CONTACTABLE, "Your name, with an address after a plus sign.", required=True),
        Setting("profile", choice(ProfileName), "Type of site: its page types, hosts and caps."),
        Setting("mode", choice(CrawlMode), "Separate crawler and scraper, or both in one pass."),
        Setting("run_id", RUN_NAME, "Value of {run_id} in paths.", otherwise="when the run starts"),
        Setting(
            "seeds_file",
            PATH,
            "Start URLs, one per line, or another list that --urls reads.",
            default="seeds.txt",
        ),
    ),
    *in_section(
        "robots",
        RobotsSection,
        Setting("respect", SWITCH, "Obey robots.txt."),
        Setting("on_error", choice(RobotsOnError), "What to do when robots.txt cannot be fetched."),
        Setting("cache_ttl_sec", decimal(3600, 86_400, "seconds"), "How long to cache a robots.txt."),
    ),
    *in_section(
        "scope",
        ScopeSection,
        Setting("allowed_hosts", many(HOST_PATTERN), "Hosts to visit; *.example.org takes example.org too."),
        Setting("denied_subdomains", many(HOST_PATTERN), "Hosts to avoid, with all their subdomains."),
        Setting("allow_patterns", many(REGEX), "Take only URLs that match one of these."),
        Setting("deny_patterns", many(REGEX), "Skip URLs that match one of these; wins over allow_patterns."),
        Setting("keep_query", many(PARAMETER), "Query parameters to keep in URLs; all others are dropped."),
        Setting(
            "max_depth",
            whole(0, 10_000, "links"),
            "The most links between a seed and a page.",
            otherwise="no limit",
        ),
    ),
    *in_section(
        "limits",
        LimitsSection,
        Setting("global_concurrency", whole(1, 1024, "requests"), "Concurrent requests over all hosts."),
        Setting("per_host_concurrency", whole(1, 256, "requests"), "Concurrent requests to one host."),
        Setting("req_per_sec", decimal(0.0001, 10_000, "requests per second"), "Request rate per host."),
        Setting("connect_timeout_ms", _MILLISECONDS, "Time to connect."),
        Setting(
            "read_timeout_ms", _MILLISECONDS, "Time until a response begins, and longest pause within it."
        ),
        Setting("max_retries", whole(0, 20, "attempts"), "Further attempts after a temporary failure."),
        Setting(
            "backoff_base_ms",
            _MILLISECONDS,
            "Pause before the first retry, and after a 429 without Retry-After; doubles each time.",
        ),
        Setting("backoff_cap_ms", _MILLISECONDS, "The longest such pause."),
        Setting(
            "max_in_flight",
            size(MIB, 64 * GIB),
            "Total size of the bodies in transfer or being parsed; beyond it, large transfers wait.",
        ),
    ),
    *in_section(
        "caps",
        CapsSection,
        Setting("max_pages", whole(0, _MOST, "pages"), "Pages of the whole crawl; 0 for no limit."),
        Setting(
            "per_repo_max_pages",
            whole(0, _MOST, "pages"),
            "Pages of one repository, of all types; 0 for no limit.",
        ),
        Setting(
            "per_repo_max_issues", whole(0, _MOST, "pages"), "Issue pages of one repository; 0 for no limit."
        ),
        Setting(
            "per_repo_max_prs",
            whole(0, _MOST, "pages"),
            "Pull request pages of one repository; 0 for no limit.",
        ),
        Setting(
            "max_pages_under", many(PATH_BUDGET), "At most N pages whose path matches, such as /blog/**=200."
        ),
    ),
    *in_section(
        "network",
        NetworkSection,
        Setting("proxies", many(PROXY), "Proxies to use; hosts are spread over them."),
        Setting("resolve", many(RESOLVE), "Use this address for that host and port instead of DNS."),
        Setting("ca_file", FILE, "Also trust the certificate authorities in this PEM file."),
        Setting("allow_private", SWITCH, "Allow private and loopback addresses."),
        Setting("headers", many(HEADER), "Headers for requests to the sites of the seeds."),
        Setting("accept_language", LANGUAGES, "The Accept-Language header for these sites."),
        Setting("cookies", SWITCH, "Keep cookies in memory for the run, and send them back."),
        Setting(
            "cookie_file", FILE, "Send the cookies in this file (Netscape format) to the sites of the seeds."
        ),
        Setting(
            "login", URL, "Go on with the session that you logged in to at this page; see sumi session open."
        ),
        Setting("trust_proxy_dns", SWITCH, "The proxy resolves names, so addresses are not checked."),
        Setting("shared_pace", SWITCH, "Share the pace of a host with your other jobs on this machine."),
        Setting(
            "per_address",
            whole(0, 1000, "requests"),
            "Hosts on one IP address together get this many requests within a delay; 0: each host by itself.",
            "requests",
        ),
        Setting("sign", SWITCH, "Sign requests with your identity."),
        Setting("identity", FILE, "The identity to sign with.", otherwise="~/.config/sumi/identity.json"),
    ),
    *in_section(
        "frontier",
        FrontierSection,
        Setting(
            "backend",
            choice(StateBackend),
            "Storage of the crawler's state. Default: files, then sqlite from 100,000 URLs on.",
        ),
        Setting("db_path", PATH, "Where.", default="state/frontier"),
    ),
    *in_section(
        "spool",
        SpoolSection,
        Setting(
            "dir",
            PATH,
            "Where the crawler writes what it found for the scraper.",
            default="spool/discoveries",
        ),
        Setting(
            "max_backlog_gb",
            decimal(0.000001, 1_000_000, "gigabytes"),
            "Pause while more than this is unread.",
        ),
        Setting("segment_mb", decimal(0.001, 100_000, "megabytes"), "Size after which a new file begins."),
        Setting("hand_over", SWITCH, "The scraper gets pages from the crawler, not from the site."),
    ),
    *in_section(
        "store",
        StoreSection,
        Setting("root", PATH, "The archive of pages, by the hash of their content.", default="store/html"),
        Setting("compress", SWITCH, "Keep pages compressed (zstd)."),
        Setting("permissions", PERMISSIONS, "File mode in the archive.", otherwise='`"0o644"`'),
        Setting(
            "dictionary", choice(PackingDictionary), "Compress with a dictionary made from the first pages."
        ),
    ),
    *in_section(
        "index",
        IndexSection,
        Setting("backend", choice(IndexBackend), "Storage of the page index."),
        Setting("db_path", PATH, "Where.", default="index/page_index.jsonl"),
    ),
    *in_section(
        "bookmark",
        BookmarkSection,
        Setting("path", PATH, "How far the scraper has read the spool.", default="state/spool_bookmark.json"),
    ),
    *in_section(
        "pages_csv",
        PagesCsvSection,
        Setting("path", PATH, "A row for every page.", default="logs/pages-{run_id}.csv"),
    ),
    *in_section(
        "metadata",
        MetadataSection,
        Setting(
            "path", PATH, "A line for every page of a unified run.", default="metadata/crawl_metadata.jsonl"
        ),
    ),
    *in_section(
        "metrics",
        MetricsSection,
        Setting("crawler_path", PATH, "Counters of the crawler.", default="logs/crawler_metrics.csv"),
        Setting(
            "scraper_path", PATH, "Counters of the scraper.", default="logs/scraper_metrics-{run_id}.csv"
        ),
        Setting("flush_interval_sec", decimal(0.1, 86_400, "seconds"), "How often to write them."),
    ),
    *in_section(
        "trajectory",
        TrajectorySection,
        Setting("enabled", SWITCH, "Record which page led to which."),
        Setting("path", PATH, "Where.", default="logs/edges.csv"),
    ),
    *in_section(
        "render",
        RenderSection,
        Setting("mode", choice(RenderMode), "Which pages to render in a browser."),
        Setting("wait_for", many(SELECTOR), "Wait up to 10 s until something matches each."),
    ),
)
PATHS: Final = tuple(setting for setting in CRAWL_SETTINGS if setting.kind is PATH)
# Default paths of the backends that are not files.
PATHS_BY_BACKEND: Final = {
    "frontier.db_path": {"lmdb": "state/frontier.lmdb", "sqlite": "state/frontier.sqlite"},
    "index.db_path": {"lmdb": "state/page_index.lmdb"},
}


def path_pattern(path: str) -> str:
    """A glob pattern that matches the path of every run."""
    return glob.escape(path).replace(RUN_ID_FIELD, "*")
