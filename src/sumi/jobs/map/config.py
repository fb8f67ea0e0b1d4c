"""The configuration of a map: a TOML file, read into one frozen value."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from sumi.errors import UsageError
from sumi.policy import FetchLimits, Preset, RenderMode, RobotsOnError
from sumi.scope.hosts import DomainClass, DomainClasses, canonical_domain_pattern, is_address
from sumi.settings.config_file import Values, nested, toml_file
from sumi.settings.kinds import (
    EMAIL,
    FILE,
    GIB,
    MIB,
    PATH_BUDGET,
    RESOLVE,
    SWITCH,
    URL,
    Kind,
    choice,
    many,
    size,
    split_resolve,
    whole,
)
from sumi.settings.setting import Setting, in_section
from sumi.urls import Rules, map_rules, normalize, normalize_with, spelled, split

_U32: Final = 2**32 - 1
_DAY_MS: Final = 86_400_000
_NAME: Final = re.compile(r"[A-Za-z0-9-]+", re.ASCII)
_VERSION: Final = re.compile(r"[A-Za-z0-9._+-]+", re.ASCII)
_PRINTABLE: Final = re.compile(r"[\x21-\x7e]+", re.ASCII)
# Stricter than a URL's host: only names that can resolve.
_LABELS: Final = re.compile(
    r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*", re.ASCII
)


class CrawlerConfig(msgspec.Struct, frozen=True):
    max_depth: int = 3
    max_concurrent_pages_open: int = 10
    minimum_time_on_page: int = 1000  # milliseconds between requests to one domain
    max_domain_requests: int = 500  # per run
    max_pages_under: tuple[str, ...] = ()


class UserAgentConfig(msgspec.Struct, frozen=True):
    crawler_name: str
    crawler_version: str = "1.0"
    contact_url: str | None = None
    contact_email: str | None = None

    @property
    def header(self) -> str:
        """``Name/1.0 (+https://…; someone@…)``, without the parts that are not set."""
        page = f"+{self.contact_url}" if self.contact_url else ""
        contact = "; ".join(filter(None, (page, self.contact_email)))
        name = f"{self.crawler_name}/{self.crawler_version}"
        return f"{name} ({contact})" if contact else name


class OutputConfig(msgspec.Struct, frozen=True):
    """In the file, paths are relative to the file; here they are ready to open."""

    database_path: Path
    summary_path: Path


class DomainEntry(msgspec.Struct, frozen=True):
    domain: str  # a canonical pattern: see sumi.scope.hosts
    seeds: tuple[str, ...] = ()  # as requested; only for quality domains


class HttpConfig(msgspec.Struct, frozen=True):
    ca_file: str | None = None
    resolve: tuple[str, ...] = ()
    allow_http: bool = False
    shared_pace: bool = True
    per_address: int = 0
    sign: bool = False
    identity: str | None = None
    cookie_file: str | None = None
    login: str | None = None
    max_in_flight: int = FetchLimits().flight_bytes

    @property
    def pinned_addresses(self) -> tuple[tuple[str, int, str], ...]:
        """``resolve`` as (host, port, address)."""
        return tuple(split_resolve(entry) for entry in self.resolve)


class RobotsConfig(msgspec.Struct, frozen=True):
    on_error: RobotsOnError = RobotsOnError.RFC9309


class ContentConfig(msgspec.Struct, frozen=True):
    keep: bool = False


class WebhooksConfig(msgspec.Struct, frozen=True):
    on_complete: str | None = None
    on_error: str | None = None


class RenderConfig(msgspec.Struct, frozen=True):
    mode: RenderMode = RenderMode.NONE
    wait_for: tuple[str, ...] = ()


class MapConfig(msgspec.Struct, frozen=True, kw_only=True):
    user_agent: UserAgentConfig
    output: OutputConfig
    quality: tuple[DomainEntry, ...]
    blacklist: tuple[DomainEntry, ...] = ()
    stub: tuple[DomainEntry, ...] = ()
    crawler: CrawlerConfig = CrawlerConfig()
    http: HttpConfig = HttpConfig()
    robots: RobotsConfig = RobotsConfig()
    content: ContentConfig = ContentConfig()
    webhooks: WebhooksConfig = WebhooksConfig()
    render: RenderConfig = RenderConfig()

    @property
    def classes(self) -> DomainClasses:
        return DomainClasses(*(_patterns(entries) for entries in (self.quality, self.blacklist, self.stub)))

    @property
    def config_hash(self) -> str:
        """SHA-256 of everything that decides which pages are mapped, and how. Formatting, comments, the order
        of lists, output paths and webhooks do not count. A key that an earlier version did not know counts
        only if it is used, so that a map begun by that version goes on."""
        rules = map_rules(allow_http=self.http.allow_http)
        crawler = msgspec.structs.asdict(self.crawler)
        if not self.crawler.max_pages_under:
            del crawler["max_pages_under"]
        decisive = {
            "crawler": crawler,
            "user-agent": self.user_agent,
            "quality": sorted((entry.domain, _identities(entry.seeds, rules)) for entry in self.quality),
            "blacklist": sorted(_patterns(self.blacklist)),
            "stub": sorted(_patterns(self.stub)),
            "resolve": sorted(self.http.resolve),
            "allow-http": self.http.allow_http,
            "robots": self.robots,
            "content": self.content,
            "render": self.render,
        }
        return hashlib.sha256(msgspec.json.encode(decisive)).hexdigest()

    @property
    def advice(self) -> tuple[str, ...]:
        """Warnings about what is allowed but not good practice."""
        agent = self.user_agent
        if agent.contact_url or agent.contact_email:
            return ()
        return ("sites cannot reach you: give contact-url or contact-email under [user-agent]",)


def _patterns(entries: tuple[DomainEntry, ...]) -> list[str]:
    return [entry.domain for entry in entries]


def _identities(seeds: tuple[str, ...], rules: Rules) -> list[str]:
    """Two spellings of one page map the same pages."""
    return sorted(normalize_with(seed, rules) or seed for seed in seeds)


def load_map_config(path: Path) -> MapConfig:
    """As a run obeys it: with what was decided beside the file, see ``sumi map review``. Raises UsageError if
    it cannot be read, ConfigError with everything that is wrong in it."""
    from sumi.jobs.map.review import load_map_with_decisions

    return load_map_with_decisions(path)


def load_undecided_config(path: Path) -> MapConfig:
    """What the file alone says."""
    file = toml_file(path)
    values = file.read(map_table(allow_http=file.peek("http", "allow-http") is True), folder=path.parent)
    for words in _contradictions(values):
        file.complain(words)
    file.refuse()
    for key, name in _OUTPUT_FILES.items():
        values.setdefault(f"output.{key}", path.parent / name)
    return msgspec.convert(nested(values), MapConfig)


def map_table(*, allow_http: bool) -> tuple[Setting, ...]:
    """``allow_http``: seeds may be http:// addresses."""
    domain = Setting("domain", _DOMAIN, "The domain; *. includes its subdomains.", required=True)
    seeds = Setting(
        "seeds", many(_seed(allow_http=allow_http)), "Where the crawl of it starts.", required=True
    )
    return (
        *_SETTINGS,
        *in_section("quality", DomainEntry, domain, seeds, repeated=True),
        *in_section("blacklist", DomainEntry, domain, repeated=True),
        *in_section("stub", DomainEntry, domain, repeated=True),
    )


def _contradictions(values: Values) -> Iterator[str]:
    """Contradictions between values that are each valid."""
    if not values.get("quality"):
        yield "there is no [[quality]] section; name at least one domain to explore"
    database = values.get("output.database_path")
    if database is not None and database == values.get("output.summary_path"):
        yield "[output] database-path and summary-path are the same file; give each its own"
    yield from _stray_seeds(values)


def _stray_seeds(values: Values) -> Iterator[str]:
    """Seeds that would never be visited, or that are not on their domain."""
    patterns = {
        name: [entry["domain"] for entry in values.get(name, ()) if "domain" in entry]
        for name in ("quality", "blacklist", "stub")
    }
    classes = DomainClasses(**patterns)
    for number, entry in enumerate(values.get("quality", ()), 1):
        where = f"[[quality]] number {number}: seeds:"
        for seed in entry.get("seeds", ()) if "domain" in entry else ():
            host = split(normalize(seed, Preset.MAP_WITH_HTTP) or seed).host  # with www. or without
            found = classes.classify(host)
            if found is DomainClass.BLACKLISTED or found is DomainClass.STUBBED:
                yield f"{where} {seed} is on a {found} domain, so it would never be visited; remove one"
            elif DomainClasses([entry["domain"]]).classify(host) is not DomainClass.QUALITY:
                yield f"{where} {seed} is not on {entry['domain']}; give it a [[quality]] section of its own"


# ── kinds of values ──────────────────────────────────────────────────────────────────────────────────────


def _matching(pattern: re.Pattern[str], expects: str) -> Kind:
    def parse(text: str) -> str:
        if not pattern.fullmatch(text):
            raise ValueError(text)
        return text

    return Kind(expects, parse, "TEXT")


def _web_address(expects: str) -> Kind:
    def parse(text: str) -> str:
        # It is sent in a header, so only URL characters are allowed.
        if normalize(text, Preset.MIRROR) is None or not _PRINTABLE.fullmatch(text):
            raise ValueError(text)
        return text

    return Kind(expects, parse, "URL")


def _seed(*, allow_http: bool) -> Kind:
    """Parses a seed into the URL to request."""
    rules = map_rules(allow_http=allow_http)
    schemes = ("https://", "http://") if allow_http else ("https://",)

    def parse(text: str) -> str:
        seed = spelled(text, rules) if text.lower().startswith(schemes) else None
        if seed is None or "@" in text.partition("://")[2].partition("/")[0]:
            raise ValueError(text)
        return seed.target

    hint = "" if allow_http else " (http needs allow-http = true under [http])"
    return Kind(f"an address such as https://example.com/{hint}", parse, "URL")


def _parse_domain(text: str) -> str:
    try:
        pattern = canonical_domain_pattern(text)
    except UsageError as error:  # its advice is about host patterns, which may have ports
        raise ValueError(text) from error
    name = pattern.removeprefix("*.")
    if not _LABELS.fullmatch(name) and not is_address(name):
        raise ValueError(text)
    return pattern


def _parse_new_file(text: str) -> Path:
    if not text.strip() or "\0" in text or text.endswith("/"):
        raise ValueError(text)
    return Path(text)


def _parse_selector(text: str) -> str:
    if not text.strip():
        raise ValueError(text)
    return text


_DOMAIN: Final = Kind(
    "a domain such as example.com, perhaps after *., without a port", _parse_domain, "PATTERN"
)
_SELECTOR: Final = Kind("a CSS selector such as main article", _parse_selector, "SELECTOR")
_NEW_FILE: Final = Kind("the name of a file", _parse_new_file, "FILE", is_path=True)
_WEBHOOK: Final = _web_address("an address to send to, with http:// or https://")

_OUTPUT_FILES: Final = {"database_path": "map.db", "summary_path": "map-summary.md"}

_SETTINGS: Final = (
    *in_section(
        "crawler",
        CrawlerConfig,
        Setting("max-depth", whole(0, _U32, "links"), "The most links between a seed and a page."),
        Setting("max-concurrent-pages-open", whole(1, 100, "pages"), "Pages at once, over all domains."),
        Setting(
            "minimum-time-on-page",
            whole(100, _DAY_MS, "milliseconds"),
            "Milliseconds between requests to one domain.",
        ),
        Setting("max-domain-requests", whole(1, _U32, "requests"), "Requests to one domain per run."),
        Setting(
            "max-pages-under", many(PATH_BUDGET), "At most N pages whose path matches, such as /blog/**=200."
        ),
    ),
    *in_section(
        "user-agent",
        UserAgentConfig,
        Setting(
            "crawler-name",
            _matching(_NAME, "letters, digits and hyphens"),
            "The name to crawl under.",
            required=True,
        ),
        Setting("crawler-version", _matching(_VERSION, "a version such as 1.0"), "Its version."),
        Setting(
            "contact-url",
            _web_address("the address of a page about your crawler, with http:// or https://"),
            "A page that says who crawls, and why.",
        ),
        Setting(
            "contact-email",
            _matching(EMAIL, "an e-mail address such as crawler@example.com"),
            "Where a site's owner can reach you.",
        ),
    ),
    *in_section(
        "output",
        OutputConfig,
        Setting("database-path", _NEW_FILE, "The map.", default=_OUTPUT_FILES["database_path"]),
        Setting(
            "summary-path", _NEW_FILE, "The summary, in Markdown.", default=_OUTPUT_FILES["summary_path"]
        ),
    ),
    *in_section(
        "http",
        HttpConfig,
        Setting("ca-file", FILE, "Also trust the certificate authorities in this PEM file."),
        Setting("resolve", many(RESOLVE), "Use this address for that host and port instead of DNS."),
        Setting("allow-http", SWITCH, "Visit http:// addresses without upgrading them to https."),
        Setting("shared-pace", SWITCH, "Share the pace of a host with your other jobs on this machine."),
        Setting(
            "per-address",
            whole(0, 1000, "requests"),
            "Hosts on one IP address together get this many requests within a delay; 0: each host by itself.",
            "requests",
        ),
        Setting("sign", SWITCH, "Sign requests with your identity."),
        Setting("identity", FILE, "The identity to sign with.", otherwise="~/.config/sumi/identity.json"),
        Setting(
            "cookie-file", FILE, "Send the cookies in this file (Netscape format) to the sites of the seeds."
        ),
        Setting(
            "login", URL, "Go on with the session that you logged in to at this page; see sumi session open."
        ),
        Setting(
            "max-in-flight",
            size(MIB, 64 * GIB),
            "Total size of the bodies in transfer or being parsed; beyond it, large transfers wait.",
        ),
    ),
    *in_section(
        "robots",
        RobotsConfig,
        Setting("on-error", choice(RobotsOnError), "What to do when robots.txt cannot be fetched."),
    ),
    *in_section("content", ContentConfig, Setting("keep", SWITCH, "Keep the original pages, compressed.")),
    *in_section(
        "webhooks",
        WebhooksConfig,
        Setting("on-complete", _WEBHOOK, "Notified when a run ends."),
        Setting("on-error", _WEBHOOK, "Notified when a run fails."),
    ),
    *in_section(
        "render",
        RenderConfig,
        Setting("mode", choice(RenderMode), "Which pages a browser renders."),
        Setting("wait-for", many(_SELECTOR), "Wait until each of these selectors matches something."),
    ),
)
