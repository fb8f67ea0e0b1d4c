"""Turns a configuration into the job of a crawler, a scraper or a unified run."""

from collections.abc import Sequence
from urllib.parse import unquote

from sumi.errors import UsageError
from sumi.fetch.guard import open_host_for
from sumi.fetch.identity import identity_of
from sumi.fetch.signed_in import signed_in
from sumi.fetch.target import parse_target
from sumi.jobs.pipeline.config import CrawlConfig
from sumi.jobs.pipeline.config_file import load_seeds
from sumi.jobs.pipeline.policy import crawl_caps, crawl_scope
from sumi.model import Candidate
from sumi.policy import (
    Credential,
    FetchLimits,
    FrontierPolicy,
    NetworkPolicy,
    PacingPolicy,
    Preset,
    Proxy,
    RenderPolicy,
    RetryPolicy,
    RobotsOnError,
    RobotsPolicy,
    Secret,
    TrapPolicy,
)
from sumi.recipe import Job, Recipe
from sumi.scope.caps import CapPolicy
from sumi.settings.kinds import split_header, split_proxy, split_resolve
from sumi.urls import crawl_rules

NO_TRAPS = TrapPolicy(segments=0, repeats=0, parameters=0, hops=0, fruitless=0)


def crawl_job(config: CrawlConfig, name: str, seeds: Sequence[Candidate], *, keep_raw: bool) -> Job:
    """The job of a crawler or a unified run: follows links, within its caps."""
    network = _network(config, [seed.target for seed in seeds])
    return _job(config, name, seeds, network, keep_raw=keep_raw, take_links=True)


def scrape_job(config: CrawlConfig, name: str) -> Job:
    """The job of a scraper: fetches listed pages. Caps are not applied again: the crawler has done so."""
    return _job(config, name, (), _network(config, _seeds_if_any(config)), keep_raw=True, take_links=False)


def _seeds_if_any(config: CrawlConfig) -> Sequence[str]:
    """Seeds that name a private host allow the crawler to contact it, and so its scraper. A missing or
    invalid file is no error here: discoveries of another program need no seeds."""
    try:
        return [seed.target for seed in load_seeds(config.seeds_file, config.scope.keep_query)]
    except UsageError:
        return ()


def _job(
    config: CrawlConfig,
    name: str,
    seeds: Sequence[Candidate],
    network: NetworkPolicy,
    *,
    keep_raw: bool,
    take_links: bool,
) -> Job:
    limits, keep_query = config.limits, config.scope.keep_query
    pacing = PacingPolicy(
        delay=1.0 / limits.req_per_sec,
        sitemap_delay=1.0 / limits.req_per_sec,
        per_host=limits.per_host_concurrency,
        rate_limited_hold=limits.backoff_base_ms / 1000,
        longest_rate_limited_hold=limits.backoff_cap_ms / 1000,
    )
    recipe = Recipe(
        job=name,
        seeds=tuple(seeds),
        # A scraper requests exactly the URL of each line.
        preset=Preset.CRAWL if take_links else Preset.LISTED,
        keep_params=keep_query if take_links else (),
        scope_rules=None if take_links else crawl_rules(keep_query),
        traps=TrapPolicy() if take_links else NO_TRAPS,
        scope=crawl_scope(config),
        user_agent=config.user_agent,
        robots=RobotsPolicy(
            respect=config.robots.respect,
            on_error=config.robots.on_error,
            max_age=config.robots.cache_ttl_sec,
        ),
        pacing=pacing,
        retry=RetryPolicy(limits.max_retries, limits.backoff_base_ms / 1000, limits.backoff_cap_ms / 1000),
        concurrency=limits.global_concurrency,
        max_pages=config.caps.max_pages if take_links else 0,
        caps=crawl_caps(config) if take_links else CapPolicy(),
        keep_raw=keep_raw,
        take_links=take_links,
    )
    return Job(
        recipe=recipe,
        frontier=FrontierPolicy(pacing=pacing, max_pages=recipe.max_pages),
        network=network,
        limits=_fetch_limits(config),
        render=RenderPolicy(mode=config.render.mode, wait_for=config.render.wait_for),
        notes=_notes(config),
    )


def _fetch_limits(config: CrawlConfig) -> FetchLimits:
    patience = config.limits.read_timeout_ms / 1000
    return FetchLimits(
        connect=config.limits.connect_timeout_ms / 1000,
        first_byte=patience,
        idle=patience,
        flight_bytes=config.limits.max_in_flight,
    )


def _network(config: CrawlConfig, seeds: Sequence[str]) -> NetworkPolicy:
    private = map(open_host_for, seeds)
    cookies, session = signed_in(config.network.cookie_file, config.network.login, seeds)
    return NetworkPolicy(
        proxies=tuple(_proxy(entry) for entry in config.network.proxies),
        user_agent=config.user_agent,
        allow_private=config.network.allow_private,
        resolve=tuple(split_resolve(entry) for entry in config.network.resolve),
        open_hosts=frozenset(host for host in private if host is not None),
        ca_file=config.network.ca_file,
        cookies=config.network.cookies,
        trust_proxy_dns=config.network.trust_proxy_dns,
        credentials=(*_headers(config, seeds), *cookies),
        session=session,
        shared_pace=config.network.shared_pace,
        per_address=config.network.per_address,
        identity=identity_of(sign=config.network.sign, file=config.network.identity),
    )


def _headers(config: CrawlConfig, seeds: Sequence[str]) -> tuple[Credential, ...]:
    """Sent to the origins of the seeds only, as they may be secret."""
    language = config.network.accept_language
    fields = [split_header(entry) for entry in config.network.headers]
    fields += [("Accept-Language", language)] if language else []
    targets = filter(None, map(parse_target, seeds))
    origins = dict.fromkeys(target.origin for target in targets)
    return tuple(Credential(origin, name, Secret(value)) for origin in origins for name, value in fields)


def _proxy(entry: str) -> Proxy:
    scheme, host, port, user, password = split_proxy(entry)
    return Proxy(
        scheme, host, port, *(None if part is None else Secret(unquote(part)) for part in (user, password))
    )


def _notes(config: CrawlConfig) -> tuple[str, ...]:
    notes = []
    if not config.robots.respect:
        notes.append("robots.txt is not respected (robots.respect)")
    if config.robots.on_error is not RobotsOnError.RFC9309:
        notes.append(f"an unreachable robots.txt means: {config.robots.on_error}")
    if config.network.allow_private:
        notes.append("private addresses may be contacted (network.allow_private)")
    return tuple(notes)
