"""How a job behaves on the network: the settings that mirrors and captures share, as policies."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from sumi.errors import UsageError
from sumi.fetch.cookie_file import readable_by_others
from sumi.fetch.guard import open_host_for
from sumi.fetch.headers import basic_auth
from sumi.fetch.identity import identity_of
from sumi.fetch.signed_in import signed_in
from sumi.fetch.target import parse_target
from sumi.policy import (
    Credential,
    FetchLimits,
    NetworkPolicy,
    PacingPolicy,
    ParseLimits,
    Proxy,
    RenderPolicy,
    RobotsOnError,
    Secret,
    TrapPolicy,
)
from sumi.settings.kinds import split_header, split_header_for, split_proxy
from sumi.settings.shared import SharedSettings


def traps_of(settings: SharedSettings) -> TrapPolicy:
    return TrapPolicy(
        segments=settings.trap_segments,
        repeats=settings.trap_repeats,
        parameters=settings.trap_parameters,
        hops=settings.trap_hops,
        fruitless=settings.trap_pages,
    )


def parse_limits_of(settings: SharedSettings) -> ParseLimits:
    return ParseLimits(settings.parse_cpu, settings.parse_memory, settings.html_depth, settings.html_nodes)


def pacing_of(settings: SharedSettings, *, per_host: int, page_rate: float | None = None) -> PacingPolicy:
    """``page_rate``: for pages, if it differs from the rate for everything else."""
    return PacingPolicy(
        delay=_seconds_between(settings.rate_limit if page_rate is None else page_rate),
        sitemap_delay=_seconds_between(settings.rate_limit),
        per_host=per_host,
        host_budget=settings.max_requests_per_host,
        max_crawl_delay=settings.max_crawl_delay,
        max_hold=settings.max_retry_after,
    )


def _seconds_between(requests_per_second: float) -> float:
    return 1.0 / requests_per_second if requests_per_second else 0.0


def limits_of(settings: SharedSettings, asset_bytes: int = 0) -> FetchLimits:
    """``asset_bytes``: the largest asset to keep."""
    # The largest asset must pass. One byte more shows that another one is too large.
    asset = asset_bytes + 1 if asset_bytes else 0
    return FetchLimits(
        connect=settings.connect_timeout,
        first_byte=settings.first_byte_timeout,
        idle=settings.idle_timeout,
        total=settings.timeout,
        min_bytes_per_second=settings.min_speed,
        wire_bytes=max(settings.max_wire, asset),
        body_bytes=max(settings.max_body, asset),
        flight_bytes=settings.max_in_flight,
        ratio=settings.max_ratio,
        codings=settings.max_codings,
        header_bytes=settings.max_header_bytes,
        header_fields=settings.max_header_fields,
    )


def network_of(
    settings: SharedSettings, sites: Sequence[str], passwords: Sequence[tuple[str, str]] = ()
) -> NetworkPolicy:
    """``sites``: the URLs that the user gave. Credentials are sent to them, and they may be private.
    ``passwords``: credentials for one of them only, as (URL, user:password)."""
    private = filter(None, map(open_host_for, sites))
    cookies, session = signed_in(settings.cookie_file, settings.login, sites)
    return NetworkPolicy(
        cookies=settings.cookies,
        credentials=(*_credentials(settings, sites, passwords), *cookies),
        session=session,
        proxies=tuple(_proxy(entry) for entry in settings.proxy),
        trust_proxy_dns=settings.trust_proxy_dns,
        user_agent=settings.agent,
        allow_private=settings.allow_private,
        resolve=settings.pinned_addresses,
        open_hosts=frozenset(private),
        ca_file=settings.ca_file,
        shared_pace=settings.shared_pace,
        per_address=settings.per_address,
        identity=identity_of(sign=settings.sign, file=settings.identity),
    )


def render_of(settings: SharedSettings) -> RenderPolicy:
    return RenderPolicy(
        mode=settings.render,
        wait_for=settings.wait_for,
        browser=settings.browser,
        tabs=settings.render_tabs,
        seconds=settings.render_timeout,
        memory=settings.render_memory,
    )


def _credentials(
    settings: SharedSettings, sites: Sequence[str], passwords: Sequence[tuple[str, str]]
) -> tuple[Credential, ...]:
    """Those for the sites' own origins, for one of them only, and for other origins that the user named."""
    origins = dict.fromkeys(map(_origin, sites))
    credentials = [basic_auth(_origin(site), password) for site, password in passwords]
    if settings.auth:
        credentials += [basic_auth(here, settings.auth) for here in origins]
    for entry in settings.header:
        name, value = split_header(entry)
        credentials += [Credential(here, name, Secret(value)) for here in origins]
    for entry in settings.header_for:
        site, name, value = split_header_for(entry)
        credentials.append(Credential(_origin(site), name, Secret(value)))
    return tuple(credentials)


def _origin(url: str) -> tuple[str, str, int]:
    target = parse_target(url)
    if target is None:
        raise UsageError(f"{url} has no host to connect to")
    return target.origin


def _proxy(entry: str) -> Proxy:
    scheme, host, port, user, password = split_proxy(entry)
    return Proxy(
        scheme, host, port, *(None if part is None else Secret(unquote(part)) for part in (user, password))
    )


def notes_of(settings: SharedSettings) -> tuple[str, ...]:
    notes = []
    if not settings.respect_robots and not settings.replay:  # no request is made, so there is nothing to obey
        notes.append("robots.txt is not respected (--no-respect-robots)")
    if settings.robots_on_error is not RobotsOnError.RFC9309:
        notes.append(f"an unreachable robots.txt means: {settings.robots_on_error}")
    if settings.cookie_file is not None and readable_by_others(Path(settings.cookie_file)):
        notes.append("other users of this machine can read the cookie file: chmod 600 protects it")
    if settings.allow_private:
        notes.append("private addresses may be contacted (--allow-private)")
    if settings.proxy and settings.trust_proxy_dns:
        notes.append("a proxy resolves names, so their addresses are not checked (--trust-proxy-dns)")
    return tuple(notes)
