"""Mirror: a site becomes a tree of Markdown. What that means, as data."""

from pathlib import PurePosixPath
from urllib.parse import unquote

from sumi.errors import UsageError
from sumi.fetch.credentials import basic_auth
from sumi.fetch.guard import open_host_for
from sumi.fetch.target import parse_target
from sumi.model import Candidate, Hop, Kind
from sumi.policy import (
    Credential,
    FetchLimits,
    FollowLinks,
    FrontierPolicy,
    NetworkPolicy,
    PacingPolicy,
    ParseLimits,
    Preset,
    Proxy,
    RenderPolicy,
    RetryPolicy,
    RobotsOnError,
    RobotsPolicy,
    Secret,
    TrapPolicy,
    UrlLimits,
)
from sumi.recipe import Job, Recipe
from sumi.scope import build_scope, default_hosts_for
from sumi.settings import MirrorSettings
from sumi.settings.kinds import split_header, split_header_for, split_proxy
from sumi.urls import split
from sumi.urls.paths import host_folder


def mirror_job(settings: MirrorSettings) -> Job:
    seed = Candidate(settings.url, Hop.SEED, _kind_of(settings.url))
    recipe = Recipe(
        job="mirror",
        seeds=(seed,),
        preset=Preset.MIRROR,
        scope=build_scope(
            hosts=(*default_hosts_for(seed.url), *settings.hosts),
            paths=_path_prefixes(seed.url),
            loose_paths=settings.loose_paths,
            include=settings.include,
            exclude=settings.exclude,
            max_depth=settings.max_depth,
        ),
        user_agent=settings.agent,
        robots=RobotsPolicy(respect=settings.respect_robots, on_error=settings.robots_on_error),
        pacing=_pacing(settings),
        retry=RetryPolicy(retries=settings.retries),
        urls=UrlLimits(settings.max_url_length, settings.max_redirects, settings.max_links),
        follow_links=FollowLinks.ALWAYS if settings.follow_links else FollowLinks.UNLESS_SITEMAP,
        find_sitemaps=True,
        concurrency=settings.concurrency,
        max_pages=settings.max_pages,
        markdown=True,
        traps=_traps(settings),
        parse=ParseLimits(
            settings.parse_cpu, settings.parse_memory, settings.html_depth, settings.html_nodes
        ),
        keep_duplicates=not settings.drop_duplicates,
        min_fidelity=settings.min_fidelity,
        keep_raw=settings.raw,
        on_error=settings.on_error,
        asset_bytes=settings.max_asset_size if settings.assets else 0,
        trust_dates=settings.trust_lastmod,
    )
    return Job(
        recipe=recipe,
        frontier=FrontierPolicy(
            pacing=recipe.pacing,
            max_pages=recipe.max_pages,
            sitemaps_first=recipe.follow_links is FollowLinks.UNLESS_SITEMAP,
        ),
        network=_network(settings),
        limits=_limits(settings),
        notes=_notes(settings),
        render=_render(settings),
    )


def _kind_of(url: str) -> Kind:
    """A sitemap may be given instead of a page: then what it lists, below its folder, is what is wanted."""
    name = split(url).path.rpartition("/")[2].lower()
    is_list = name.endswith((".xml", ".xml.gz")) or ("sitemap" in name and name.endswith((".txt", ".gz")))
    return Kind.SITEMAP if is_list else Kind.PAGE


def mirror_home(settings: MirrorSettings) -> str:
    """The host folder that holds the manifest and the state."""
    return host_folder(settings.url)


def _path_prefixes(seed_url: str) -> tuple[str, ...]:
    """What lies below the seed: ``/guide`` for ``/guide/intro.html``; the root takes everything."""
    path = PurePosixPath(split(seed_url).path)
    folder = path.parent if path.suffix else path
    return () if str(folder) == "/" else (str(folder),)


def _traps(settings: MirrorSettings) -> TrapPolicy:
    return TrapPolicy(
        segments=settings.trap_segments,
        repeats=settings.trap_repeats,
        parameters=settings.trap_parameters,
        hops=settings.trap_hops,
        fruitless=settings.trap_pages,
    )


def _pacing(settings: MirrorSettings) -> PacingPolicy:
    return PacingPolicy(
        delay=_seconds_between(settings.page_rate),
        manifest_delay=_seconds_between(settings.rate_limit),
        per_host=settings.requests_per_host,
        host_budget=settings.max_requests_per_host,
        max_crawl_delay=settings.max_crawl_delay,
        max_hold=settings.max_retry_after,
    )


def _seconds_between(requests_per_second: float) -> float:
    return 1.0 / requests_per_second if requests_per_second else 0.0


def _limits(settings: MirrorSettings) -> FetchLimits:
    # What is to be kept must be let through. One byte more tells that it is too large.
    asset = settings.max_asset_size + 1 if settings.assets else 0
    return FetchLimits(
        connect=settings.connect_timeout,
        first_byte=settings.first_byte_timeout,
        idle=settings.idle_timeout,
        total=settings.timeout,
        min_bytes_per_second=settings.min_speed,
        wire_bytes=max(settings.max_wire, asset),
        body_bytes=max(settings.max_body, asset),
        ratio=settings.max_ratio,
        codings=settings.max_codings,
        header_bytes=settings.max_header_bytes,
        header_fields=settings.max_header_fields,
    )


def _network(settings: MirrorSettings) -> NetworkPolicy:
    private = open_host_for(settings.url)
    return NetworkPolicy(
        cookies=settings.cookies,
        credentials=_credentials(settings),
        proxies=tuple(_proxy(entry) for entry in settings.proxy),
        trust_proxy_dns=settings.trust_proxy_dns,
        user_agent=settings.agent,
        allow_private=settings.allow_private,
        resolve=settings.pinned_addresses,
        open_hosts=frozenset({private} if private else ()),
        ca_file=settings.ca_file,
    )


def _render(settings: MirrorSettings) -> RenderPolicy:
    return RenderPolicy(
        mode=settings.render,
        wait_for=settings.wait_for,
        browser=settings.browser,
        tabs=settings.render_tabs,
        seconds=settings.render_timeout,
        memory=settings.render_memory,
    )


def _credentials(settings: MirrorSettings) -> tuple[Credential, ...]:
    """What goes to the seed's own origin, and what the user named another one for."""
    here = _origin(settings.url)
    credentials = [basic_auth(here, settings.auth)] if settings.auth else []
    for entry in settings.header:
        name, value = split_header(entry)
        credentials.append(Credential(here, name, Secret(value)))
    for entry in settings.header_for:
        site, name, value = split_header_for(entry)
        credentials.append(Credential(_origin(site), name, Secret(value)))
    return tuple(credentials)


def _origin(url: str) -> tuple[str, str, int]:
    target = parse_target(url)
    if target is None:
        raise UsageError(f"{url} has no host that can be reached")
    return target.origin


def _proxy(entry: str) -> Proxy:
    scheme, host, port, user, password = split_proxy(entry)
    return Proxy(
        scheme, host, port, *(None if part is None else Secret(unquote(part)) for part in (user, password))
    )


def _notes(settings: MirrorSettings) -> tuple[str, ...]:
    notes = []
    if not settings.respect_robots:
        notes.append("robots.txt is not respected (--no-respect-robots)")
    if settings.robots_on_error is not RobotsOnError.RFC9309:
        notes.append(f"an unreachable robots.txt means: {settings.robots_on_error}")
    if settings.allow_private:
        notes.append("private addresses may be contacted (--allow-private)")
    if settings.proxy and settings.trust_proxy_dns:
        notes.append("a proxy resolves names, and nobody checks where they lead (--trust-proxy-dns)")
    return tuple(notes)
