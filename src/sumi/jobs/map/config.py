"""What a user decides about a terrain map: one frozen value, with what follows from it."""

import hashlib
from pathlib import Path

import msgspec

from sumi.policy import FetchLimits, RenderMode, RobotsOnError
from sumi.scope.hosts import DomainClasses
from sumi.settings.kinds import split_resolve
from sumi.urls import Rules, map_rules, normalize_with


class CrawlerConfig(msgspec.Struct, frozen=True):
    max_depth: int = 3
    max_concurrent_pages_open: int = 10
    minimum_time_on_page: int = 1000  # milliseconds between requests to one domain
    max_domain_requests: int = 500  # per run


class UserAgentConfig(msgspec.Struct, frozen=True):
    crawler_name: str
    crawler_version: str = "1.0"
    contact_url: str | None = None
    contact_email: str | None = None

    @property
    def header(self) -> str:
        """``Name/1.0 (+https://…; someone@…)``, without what was not given."""
        page = f"+{self.contact_url}" if self.contact_url else ""
        contact = "; ".join(filter(None, (page, self.contact_email)))
        name = f"{self.crawler_name}/{self.crawler_version}"
        return f"{name} ({contact})" if contact else name


class OutputConfig(msgspec.Struct, frozen=True):
    """Paths in the file are relative to the file; here they can be opened as they are."""

    database_path: Path
    summary_path: Path


class DomainEntry(msgspec.Struct, frozen=True):
    domain: str  # a canonical pattern, see sumi.scope.hosts
    seeds: tuple[str, ...] = ()  # as they are requested; of quality domains only


class HttpConfig(msgspec.Struct, frozen=True):
    ca_file: str | None = None
    resolve: tuple[str, ...] = ()
    allow_http: bool = False
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
        """SHA-256 of what decides which pages are mapped, and how. Formatting, comments, the order of lists,
        the place of files and who is told at the end do not count."""
        rules = map_rules(allow_http=self.http.allow_http)
        decisive = {
            "crawler": self.crawler,
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
        """What is allowed, but could be better."""
        agent = self.user_agent
        if agent.contact_url or agent.contact_email:
            return ()
        return ("sites cannot reach you: give contact-url or contact-email under [user-agent]",)


def _patterns(entries: tuple[DomainEntry, ...]) -> list[str]:
    return [entry.domain for entry in entries]


def _identities(seeds: tuple[str, ...], rules: Rules) -> list[str]:
    """How a page is spelled does not decide which pages are mapped."""
    return sorted(normalize_with(seed, rules) or seed for seed in seeds)
