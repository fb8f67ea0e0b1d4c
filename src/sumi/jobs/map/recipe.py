"""The configuration of a map as a job: what to crawl, and how, as data."""

from sumi.fetch.guard import open_host_for
from sumi.fetch.identity import identity_of
from sumi.fetch.signed_in import signed_in
from sumi.jobs.map.config import MapConfig
from sumi.model import Candidate, Hop
from sumi.outcomes import Outcome
from sumi.policy import (
    FetchLimits,
    FrontierPolicy,
    NetworkPolicy,
    PacingPolicy,
    Preset,
    RenderPolicy,
    RetryPolicy,
    RobotsOnError,
    RobotsPolicy,
)
from sumi.recipe import Job, Recipe
from sumi.scope.caps import CapPolicy
from sumi.scope.scope import Scope
from sumi.settings.kinds import split_path_budget
from sumi.settings.shared import ways_out_of
from sumi.urls import Spelled, map_rules, spelled

RETRIES = 3
RETRY_SECONDS = 5.0
# Transient failures. A host that cannot be reached, or has no valid certificate, is not asked again in this
# run; nor is one that answered 429.
RETRIED = (
    Outcome.SERVER_ERROR,
    Outcome.TIMED_OUT,
    Outcome.CONNECTION_LOST,
    Outcome.BAD_HTTP,
    Outcome.ROBOTS_UNREACHABLE,
)
CONNECT_SECONDS = 10.0
TOTAL_SECONDS = 30.0


def map_job(config: MapConfig) -> Job:
    pacing = PacingPolicy(
        delay=config.crawler.minimum_time_on_page / 1000,
        sitemap_delay=config.crawler.minimum_time_on_page / 1000,
        host_budget=config.crawler.max_domain_requests,
    )
    origins = tuple(dict.fromkeys(entry.domain for entry in config.quality))
    recipe = Recipe(
        job="map",
        seeds=tuple(Candidate(seed.identity, Hop.SEED, address=seed.address) for seed in map_seeds(config)),
        preset=Preset.MAP_WITH_HTTP if config.http.allow_http else Preset.MAP,
        scope=Scope(
            max_depth=config.crawler.max_depth,
            blacklist=tuple(entry.domain for entry in config.blacklist),
            stub=tuple(entry.domain for entry in config.stub),
            exclude=ways_out_of(config.http.cookie_file, config.http.login),
        ),
        user_agent=config.user_agent.header,
        robots=RobotsPolicy(on_error=config.robots.on_error),
        pacing=pacing,
        retry=RetryPolicy(RETRIES, RETRY_SECONDS, steady=True, only=RETRIED),
        concurrency=config.crawler.max_concurrent_pages_open,
        keep_raw=config.content.keep,
        record_links=True,
        caps=CapPolicy(under=tuple(map(split_path_budget, config.crawler.max_pages_under))),
        origins=origins,
        head_first=True,
        requests_per_page=2,
    )
    return Job(
        recipe=recipe,
        frontier=FrontierPolicy(pacing=pacing),
        network=_network(config),
        limits=FetchLimits(
            connect=CONNECT_SECONDS,
            first_byte=TOTAL_SECONDS,
            total=TOTAL_SECONDS,
            flight_bytes=config.http.max_in_flight,
        ),
        notes=_notes(config),
        render=RenderPolicy(mode=config.render.mode, wait_for=config.render.wait_for),
    )


def map_seeds(config: MapConfig) -> tuple[Spelled, ...]:
    """Each page once, in its first spelling."""
    rules = map_rules(allow_http=config.http.allow_http)
    written = (spelled(seed, rules) for entry in config.quality for seed in entry.seeds)
    found: dict[str, Spelled] = {}
    for seed in filter(None, written):
        found.setdefault(seed.identity, seed)
    return tuple(found.values())


def _network(config: MapConfig) -> NetworkPolicy:
    seeds = [seed.target for seed in map_seeds(config)]
    cookies, session = signed_in(config.http.cookie_file, config.http.login, seeds)
    private = map(open_host_for, seeds)
    return NetworkPolicy(
        user_agent=config.user_agent.header,
        resolve=config.http.pinned_addresses,
        open_hosts=frozenset(host for host in private if host is not None),
        ca_file=config.http.ca_file,
        credentials=cookies,
        session=session,
        shared_pace=config.http.shared_pace,
        per_address=config.http.per_address,
        identity=identity_of(sign=config.http.sign, file=config.http.identity),
        https_only=not config.http.allow_http,
    )


def _notes(config: MapConfig) -> tuple[str, ...]:
    notes = list(config.advice)
    if config.robots.on_error is not RobotsOnError.RFC9309:
        notes.append(f"an unreachable robots.txt means: {config.robots.on_error}")
    if config.http.allow_http:
        notes.append("pages may be requested without TLS (allow-http)")
    return tuple(notes)
