"""Every setting of a crawl configuration: where it stands, what it takes, what it means. No others exist."""

import glob
import re
from typing import Final

from sumi.errors import UsageError
from sumi.jobs.pipeline.config import (
    BookmarkSection,
    CapsSection,
    CrawlConfig,
    CrawlMode,
    FrontierSection,
    IndexBackend,
    IndexSection,
    LimitsSection,
    MetadataSection,
    MetricsSection,
    NetworkSection,
    PackingDictionary,
    PagesCsvSection,
    RenderSection,
    RobotsSection,
    ScopeSection,
    SpoolSection,
    StoreSection,
    TrajectorySection,
)
from sumi.policy import RenderMode, RobotsOnError, StateBackend
from sumi.scope.patterns import url_pattern
from sumi.scope.profiles import ProfileName
from sumi.settings.kinds import (
    AGENT,
    FILE,
    GIB,
    HOST_PATTERN,
    MIB,
    PROXY,
    RESOLVE,
    SELECTOR,
    SWITCH,
    Kind,
    choice,
    decimal,
    many,
    size,
    whole,
)
from sumi.settings.setting import Setting, in_section

RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
RUN_ID_FIELD = "{run_id}"  # in a path
DEFAULT_WORKSPACE: Final = "workspace"
_PERMISSIONS = re.compile(r"0o?([0-7]{3})", re.ASCII)
_OWNER_READS_AND_WRITES = 0o600
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
            "The folder with everything the job writes. Starts at this file's folder.",
            default=DEFAULT_WORKSPACE,
        ),
        Setting("user_agent", CONTACTABLE, "Who you are, with an address after a plus sign.", required=True),
        Setting("profile", choice(ProfileName), "Which kind of site: its page types, hosts and caps."),
        Setting("mode", choice(CrawlMode), "Crawler and scraper apart, or both in one pass."),
        Setting("run_id", RUN_NAME, "What {run_id} stands for.", otherwise="when the run starts"),
        Setting("seeds_file", PATH, "Where the crawl begins: one URL a line.", default="seeds.txt"),
    ),
    *in_section(
        "robots",
        RobotsSection,
        Setting("respect", SWITCH, "Obey robots.txt."),
        Setting("on_error", choice(RobotsOnError), "What a robots.txt that cannot be had means."),
        Setting("cache_ttl_sec", decimal(3600, 86_400, "seconds"), "How long a robots.txt is believed."),
    ),
    *in_section(
        "scope",
        ScopeSection,
        Setting("allowed_hosts", many(HOST_PATTERN), "Hosts to visit; *.example.org takes example.org too."),
        Setting("denied_subdomains", many(HOST_PATTERN), "Hosts, with all below them, to keep away from."),
        Setting("allow_patterns", many(REGEX), "Only URLs that match one of these."),
        Setting("deny_patterns", many(REGEX), "No URL that matches one of these; wins over allow_patterns."),
        Setting("keep_query", many(PARAMETER), "Query parameters to keep in URLs; all others are dropped."),
        Setting(
            "max_depth", whole(0, 10_000, "links"), "How many links away from a seed. Default: no limit."
        ),
    ),
    *in_section(
        "limits",
        LimitsSection,
        Setting("global_concurrency", whole(1, 1024, "requests"), "Requests at once, over all hosts."),
        Setting("per_host_concurrency", whole(1, 256, "requests"), "Requests at once to one host."),
        Setting("req_per_sec", decimal(0.0001, 10_000, "requests per second"), "Requests to one host."),
        Setting("connect_timeout_ms", _MILLISECONDS, "To connect."),
        Setting("read_timeout_ms", _MILLISECONDS, "Until an answer begins, and for silence within it."),
        Setting("max_retries", whole(0, 20, "attempts"), "Further attempts after a failure that may pass."),
        Setting(
            "backoff_base_ms",
            _MILLISECONDS,
            "Pause before the first of them, and after a 429 without Retry-After; doubles each time.",
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
        Setting("max_pages", whole(0, _MOST, "pages"), "Of the whole crawl; 0 for no limit."),
        Setting(
            "per_repo_max_pages", whole(0, _MOST, "pages"), "Of one repository, of all types; 0 for no limit."
        ),
        Setting(
            "per_repo_max_issues", whole(0, _MOST, "pages"), "Issue pages of one repository; 0 for no limit."
        ),
        Setting("per_repo_max_prs", whole(0, _MOST, "pages"), "Pull request pages of one; 0 for no limit."),
    ),
    *in_section(
        "network",
        NetworkSection,
        Setting("proxies", many(PROXY), "Go through these; hosts are spread over them."),
        Setting("resolve", many(RESOLVE), "Use this address for that host and port instead of DNS."),
        Setting("ca_file", FILE, "Trust the certificate authorities in this PEM file, besides the system's."),
        Setting("allow_private", SWITCH, "Allow private and loopback addresses."),
    ),
    *in_section(
        "frontier",
        FrontierSection,
        Setting(
            "backend",
            choice(StateBackend),
            "What the crawler's state is kept in. Not given: files, and sqlite once it knows 100,000 URLs.",
        ),
        Setting("db_path", PATH, "Where.", default="state/frontier"),
    ),
    *in_section(
        "spool",
        SpoolSection,
        Setting(
            "dir",
            PATH,
            "Where the crawler leaves what it found for the scraper.",
            default="spool/discoveries",
        ),
        Setting("max_backlog_gb", decimal(0.000001, 1_000_000, "gigabytes"), "With more waiting, pause."),
        Setting("segment_mb", decimal(0.001, 100_000, "megabytes"), "After which the next file begins."),
        Setting("hand_over", SWITCH, "The scraper takes pages over from the crawler, not from the site."),
    ),
    *in_section(
        "store",
        StoreSection,
        Setting("root", PATH, "The archive of pages, by the hash of their content.", default="store/html"),
        Setting("compress", SWITCH, "Keep pages compressed (zstd)."),
        Setting("permissions", PERMISSIONS, "Of the files in the archive.", otherwise='`"0o644"`'),
        Setting("dictionary", choice(PackingDictionary), "Compress with one that the first pages make."),
    ),
    *in_section(
        "index",
        IndexSection,
        Setting("backend", choice(IndexBackend), "What the page index is kept in."),
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
        Setting("path", PATH, "The same, of a unified run.", default="metadata/crawl_metadata.jsonl"),
    ),
    *in_section(
        "metrics",
        MetricsSection,
        Setting("crawler_path", PATH, "Counters of the crawler.", default="logs/crawler_metrics.csv"),
        Setting(
            "scraper_path", PATH, "Counters of the scraper.", default="logs/scraper_metrics-{run_id}.csv"
        ),
        Setting("flush_interval_sec", decimal(0.1, 86_400, "seconds"), "How often they are written."),
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
        Setting("mode", choice(RenderMode), "Which pages are shown to a browser, and read from there."),
        Setting("wait_for", many(SELECTOR), "Wait there until something matches each, for 10 s at most."),
    ),
)
PATHS: Final = tuple(setting for setting in CRAWL_SETTINGS if setting.kind is PATH)
# Where something is kept by default, if not in files.
PATHS_BY_BACKEND: Final = {
    "frontier.db_path": {"lmdb": "state/frontier.lmdb", "sqlite": "state/frontier.sqlite"},
    "index.db_path": {"lmdb": "state/page_index.lmdb"},
}


def path_pattern(path: str) -> str:
    """What fits the path of every run, as a shell spells it."""
    return glob.escape(path).replace(RUN_ID_FIELD, "*")
