"""The result of all settings of a mirror: one frozen value, with what follows from it."""

from urllib.parse import unquote

import msgspec

from sumi import __version__
from sumi.policy import Durability, OnError, RenderMode, RobotsOnError, SourceChoice, StateBackend
from sumi.settings.kinds import EMAIL, KIB, MIB, split_resolve, split_userinfo

HOME_PAGE = "https://pypi.org/project/sumi/"


class MirrorSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a user decides about a mirror. None: derived, see the properties."""

    url: str
    output: str = "output"
    fresh: bool = False
    update: bool = False
    trust_lastmod: bool = True
    raw: bool = True
    rewrite_links: bool = False
    state: StateBackend | None = None
    durability: Durability = Durability.BATCH
    min_free: int | None = None
    processes: int | None = None

    follow_links: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    loose_paths: bool = False
    max_pages: int = 10_000
    max_depth: int | None = None
    source: SourceChoice = SourceChoice.AUTO
    assets: bool = False
    max_asset_size: int = 20 * MIB
    max_assets_total: int = 1024 * MIB

    rate_limit: float = 1.0
    content_rate_limit: float | None = None
    concurrency: int = 16
    per_host: int | None = None
    max_requests_per_host: int = 0
    respect_robots: bool = True
    robots_on_error: RobotsOnError = RobotsOnError.RFC9309
    user_agent: str | None = None
    contact: str | None = None

    retries: int = 3
    on_error: OnError = OnError.SKIP
    cookies: bool = True
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

    def __post_init__(self) -> None:
        """A password in the URL is set aside before anybody can see the URL."""
        url, userinfo = split_userinfo(self.url)
        if userinfo:
            user, _, password = userinfo.partition(":")
            msgspec.structs.force_setattr(self, "url", url)
            if self.auth is None:
                msgspec.structs.force_setattr(self, "auth", f"{unquote(user)}:{unquote(password)}")

    drop_duplicates: bool = False
    min_fidelity: float = 0.0
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
    def page_rate(self) -> float:
        """Pages per second and host; 0 for no limit."""
        return self.rate_limit if self.content_rate_limit is None else self.content_rate_limit

    @property
    def requests_per_host(self) -> int:
        """At once. A rate limit is a promise of gentleness, so it comes with one request at a time."""
        if self.per_host is not None:
            return self.per_host
        return 1 if self.rate_limit or self.page_rate else self.concurrency

    @property
    def agent(self) -> str:
        """What we call ourselves, always with a way to reach somebody: ``name/version (+url; email)``."""
        if self.user_agent and not self.contact:
            return self.user_agent
        name = self.user_agent or f"sumi/{__version__}"
        if self.contact and not EMAIL.fullmatch(self.contact):
            return f"{name} (+{self.contact})"
        return f"{name} (+{HOME_PAGE}; {self.contact})" if self.contact else f"{name} (+{HOME_PAGE})"

    @property
    def pinned_addresses(self) -> tuple[tuple[str, int, str], ...]:
        """``resolve`` as (host, port, address)."""
        return tuple(split_resolve(entry) for entry in self.resolve)
