"""The result of all settings of a mirror: one frozen value, with what follows from it."""

import msgspec

from sumi import __version__
from sumi.policy import Durability, RobotsOnError
from sumi.settings.kinds import EMAIL, MIB, split_resolve

HOME_PAGE = "https://pypi.org/project/sumi/"


class MirrorSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a user decides about a mirror. None: derived, see the properties."""

    url: str
    output: str = "output"
    fresh: bool = False
    durability: Durability = Durability.BATCH
    processes: int | None = None

    follow_links: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    loose_paths: bool = False
    max_pages: int = 10_000
    max_depth: int | None = None

    rate_limit: float = 1.0
    content_rate_limit: float | None = None
    concurrency: int = 16
    per_host: int | None = None
    respect_robots: bool = True
    robots_on_error: RobotsOnError = RobotsOnError.RFC9309
    user_agent: str | None = None
    contact: str | None = None

    timeout: float = 120.0
    max_body: int = 32 * MIB
    retries: int = 3
    allow_private: bool = False
    resolve: tuple[str, ...] = ()
    ca_file: str | None = None

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
