"""Every key of a crawl configuration: where it stands, what it takes, what it means. Nothing else is read."""

import glob
import re
from typing import NamedTuple

import msgspec

from sumi.errors import UsageError
from sumi.jobs.pipeline.config import (
    BookmarkSection,
    CapsSection,
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
    HOST_PATTERN,
    PROXY,
    RESOLVE,
    SELECTOR,
    SWITCH,
    Kind,
    choice,
    decimal,
    many,
    whole,
)

RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
RUN_ID_FIELD = "{run_id}"  # in a path
_PERMISSIONS = re.compile(r"0o?([0-7]{3})", re.ASCII)
_OWNER_READS_AND_WRITES = 0o600
_PARAMETER = re.compile(r"[^\s&=#+%]{1,100}")
_MOST = 1_000_000_000
_CONTACT = "+http"


class Key(NamedTuple):
    """``section`` is empty for a key of the top level. ``default`` of a path starts at the workspace."""

    section: str
    name: str
    kind: Kind
    help: str
    default: str = ""
    for_backend: tuple[tuple[str, str], ...] = ()  # other defaults of a path, by the section's backend

    @property
    def is_path(self) -> bool:
        return self.kind is PATH

    @property
    def dotted(self) -> str:
        return f"{self.section}.{self.name}" if self.section else self.name


def _parse_agent(text: str) -> str:
    agent = str(AGENT.parse(text))
    if _CONTACT not in agent:
        raise UsageError(
            "says nobody how to reach you; add an address after a plus sign, such as "
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


def _parse_name(pattern: "re.Pattern[str]") -> Kind:
    def parse(text: str) -> str:
        if not pattern.fullmatch(text):
            raise ValueError(text)
        return text

    return Kind("", parse, "NAME")


PATH = Kind("a path within the workspace", _parse_path, "PATH")
WORKSPACE = Kind("a folder", _parse_path, "DIR")
CONTACTABLE = AGENT._replace(parse=_parse_agent)
PERMISSIONS = Kind(
    'permissions such as "0o644", with read and write for the owner', _parse_permissions, "MODE"
)
REGEX = Kind("a regular expression on whole URLs", _parse_regex, "REGEX")
RUN_NAME = _parse_name(RUN_ID)._replace(expects="a name of up to 64 letters, digits, dots and hyphens")
PARAMETER = _parse_name(_PARAMETER)._replace(expects="the name of a query parameter, such as page")
_MILLISECONDS = whole(1, 3_600_000, "milliseconds")

KEYS: tuple[Key, ...] = (
    Key(
        "", "workspace", WORKSPACE, "The folder with everything the job writes. Starts at this file's folder."
    ),
    Key("", "user_agent", CONTACTABLE, "Who you are, with an address after a plus sign."),
    Key("", "profile", choice(ProfileName), "Which kind of site: its page types, hosts and caps."),
    Key("", "mode", choice(CrawlMode), "Crawler and scraper apart, or both in one pass."),
    Key("", "run_id", RUN_NAME, "What {run_id} stands for."),
    Key("", "seeds_file", PATH, "Where the crawl begins: one URL a line.", "seeds.txt"),
    Key("robots", "respect", SWITCH, "Obey robots.txt."),
    Key("robots", "on_error", choice(RobotsOnError), "What a robots.txt that cannot be had means."),
    Key("robots", "cache_ttl_sec", decimal(3600, 86_400, "seconds"), "How long a robots.txt is believed."),
    Key("scope", "allowed_hosts", many(HOST_PATTERN), "Hosts to visit; *.example.org takes example.org too."),
    Key("scope", "denied_subdomains", many(HOST_PATTERN), "Hosts, with all below them, to keep away from."),
    Key("scope", "allow_patterns", many(REGEX), "Only URLs that match one of these."),
    Key("scope", "deny_patterns", many(REGEX), "No URL that matches one of these; wins over allow_patterns."),
    Key("scope", "keep_query", many(PARAMETER), "Query parameters to keep in URLs; all others are dropped."),
    Key(
        "scope", "max_depth", whole(0, 10_000, "links"), "How many links away from a seed. Default: no limit."
    ),
    Key("limits", "global_concurrency", whole(1, 1024, "requests"), "Requests at once, over all hosts."),
    Key("limits", "per_host_concurrency", whole(1, 256, "requests"), "Requests at once to one host."),
    Key("limits", "req_per_sec", decimal(0.0001, 10_000, "requests per second"), "Requests to one host."),
    Key("limits", "connect_timeout_ms", _MILLISECONDS, "To connect."),
    Key("limits", "read_timeout_ms", _MILLISECONDS, "Until an answer begins, and for silence within it."),
    Key("limits", "max_retries", whole(0, 20, "attempts"), "Further attempts after a failure that may pass."),
    Key(
        "limits",
        "backoff_base_ms",
        _MILLISECONDS,
        "Pause before the first of them, and after a 429 without Retry-After; doubles each time.",
    ),
    Key("limits", "backoff_cap_ms", _MILLISECONDS, "The longest such pause."),
    Key("caps", "max_pages", whole(0, _MOST, "pages"), "Of the whole crawl; 0 for no limit."),
    Key(
        "caps",
        "per_repo_max_pages",
        whole(0, _MOST, "pages"),
        "Of one repository, of all types; 0 for no limit.",
    ),
    Key(
        "caps",
        "per_repo_max_issues",
        whole(0, _MOST, "pages"),
        "Issue pages of one repository; 0 for no limit.",
    ),
    Key("caps", "per_repo_max_prs", whole(0, _MOST, "pages"), "Pull request pages of one; 0 for no limit."),
    Key("network", "proxies", many(PROXY), "Go through these; hosts are spread over them."),
    Key("network", "resolve", many(RESOLVE), "Use this address for that host and port instead of DNS."),
    Key(
        "network",
        "ca_file",
        FILE,
        "Trust the certificate authorities in this PEM file, besides the system's.",
    ),
    Key("network", "allow_private", SWITCH, "Allow private and loopback addresses."),
    Key(
        "frontier",
        "backend",
        choice(StateBackend),
        "What the crawler's state is kept in. Not given: files, and sqlite once it knows 100,000 URLs.",
    ),
    Key(
        "frontier",
        "db_path",
        PATH,
        "Where.",
        "state/frontier",
        for_backend=(("lmdb", "state/frontier.lmdb"), ("sqlite", "state/frontier.sqlite")),
    ),
    Key("spool", "dir", PATH, "Where the crawler leaves what it found for the scraper.", "spool/discoveries"),
    Key("spool", "max_backlog_gb", decimal(0.000001, 1_000_000, "gigabytes"), "With more waiting, pause."),
    Key("spool", "segment_mb", decimal(0.001, 100_000, "megabytes"), "After which the next file begins."),
    Key("spool", "hand_over", SWITCH, "The scraper takes pages over from the crawler, not from the site."),
    Key("store", "root", PATH, "The archive of pages, by the hash of their content.", "store/html"),
    Key("store", "compress", SWITCH, "Keep pages compressed (zstd)."),
    Key("store", "permissions", PERMISSIONS, "Of the files in the archive."),
    Key("store", "dictionary", choice(PackingDictionary), "Compress with one that the first pages make."),
    Key("index", "backend", choice(IndexBackend), "What the page index is kept in."),
    Key(
        "index",
        "db_path",
        PATH,
        "Where.",
        "index/page_index.jsonl",
        for_backend=(("lmdb", "state/page_index.lmdb"),),
    ),
    Key("bookmark", "path", PATH, "How far the scraper has read the spool.", "state/spool_bookmark.json"),
    Key("pages_csv", "path", PATH, "A row for every page.", "logs/pages-{run_id}.csv"),
    Key("metadata", "path", PATH, "The same, of a unified run.", "metadata/crawl_metadata.jsonl"),
    Key("metrics", "crawler_path", PATH, "Counters of the crawler.", "logs/crawler_metrics.csv"),
    Key("metrics", "scraper_path", PATH, "Counters of the scraper.", "logs/scraper_metrics-{run_id}.csv"),
    Key("metrics", "flush_interval_sec", decimal(0.1, 86_400, "seconds"), "How often they are written."),
    Key("trajectory", "enabled", SWITCH, "Record which page led to which."),
    Key("trajectory", "path", PATH, "Where.", "logs/edges.csv"),
    Key("render", "mode", choice(RenderMode), "Which pages are shown to a browser, and read from there."),
    Key("render", "wait_for", many(SELECTOR), "Wait there until something matches each, for 10 s at most."),
)

SECTIONS: dict[str, type[msgspec.Struct]] = {
    "robots": RobotsSection,
    "scope": ScopeSection,
    "limits": LimitsSection,
    "caps": CapsSection,
    "network": NetworkSection,
    "frontier": FrontierSection,
    "spool": SpoolSection,
    "store": StoreSection,
    "index": IndexSection,
    "bookmark": BookmarkSection,
    "pages_csv": PagesCsvSection,
    "metadata": MetadataSection,
    "metrics": MetricsSection,
    "trajectory": TrajectorySection,
    "render": RenderSection,
}


def path_pattern(path: str) -> str:
    """What fits the path of every run, as a shell spells it."""
    return glob.escape(path).replace(RUN_ID_FIELD, "*")


def keys_of(section: str) -> dict[str, Key]:
    return {key.name: key for key in KEYS if key.section == section}
