"""Settings of a mirror as a job: what to crawl, and how, as data."""

from importlib.util import find_spec
from pathlib import PurePosixPath

from sumi.assembly.connection import (
    limits_of,
    network_of,
    notes_of,
    pacing_of,
    parse_limits_of,
    render_of,
    traps_of,
)
from sumi.errors import UsageError
from sumi.jobs.mirror.settings import MirrorSettings
from sumi.model import Candidate, Hop, Kind
from sumi.policy import FollowLinks, FrontierPolicy, Preset, RetryPolicy, RobotsPolicy, UrlLimits
from sumi.recipe import Job, Recipe
from sumi.scope import build_scope, default_hosts_for
from sumi.scope.caps import CapPolicy
from sumi.urls import split
from sumi.urls.paths import host_folder

# With a page limit and this many pending pages, no more sitemaps are read. Two full sitemaps: smaller sites
# are known completely, and an index of millions takes no more memory and time than these.
PLENTY = 100_000


def mirror_job(settings: MirrorSettings) -> Job:
    seed = Candidate(settings.url, Hop.SEED, _kind_of(settings.url))
    recipe = Recipe(
        job="mirror",
        seeds=() if settings.urls_from else (seed,),
        preset=Preset.MIRROR,
        scope=build_scope(
            hosts=(*default_hosts_for(seed.url), *settings.hosts),
            paths=_path_prefixes(seed.url),
            loose_paths=settings.loose_paths,
            include=settings.include,
            exclude=settings.excluded,
            max_depth=settings.max_depth,
        ),
        user_agent=settings.agent,
        robots=RobotsPolicy(respect=settings.respect_robots, on_error=settings.robots_on_error),
        pacing=pacing_of(settings, per_host=settings.requests_per_host, page_rate=settings.page_rate),
        retry=RetryPolicy(retries=settings.retries),
        urls=UrlLimits(settings.max_url_length, settings.max_redirects, settings.max_links),
        follow_links=_follow_links(settings),
        find_sitemaps=settings.follow_links or not settings.urls_from,
        concurrency=settings.concurrency,
        max_pages=settings.max_pages,
        markdown=True,
        anchors=settings.rewrite_links,
        traps=traps_of(settings),
        caps=CapPolicy(under=settings.path_budgets),
        parse=parse_limits_of(settings),
        keep_duplicates=not settings.drop_duplicates,
        min_fidelity=settings.min_fidelity,
        max_junk=settings.max_junk,
        keep_raw=settings.raw,
        on_error=settings.on_error,
        source=settings.source,
        documents=_documents(settings),
        asset_bytes=settings.max_asset_size if settings.assets else 0,
        trust_dates=settings.trust_lastmod,
        plenty=PLENTY,
    )
    return Job(
        recipe=recipe,
        frontier=FrontierPolicy(
            pacing=recipe.pacing,
            max_pages=recipe.max_pages,
            sitemaps_first=recipe.follow_links is FollowLinks.UNLESS_SITEMAP,
        ),
        network=network_of(settings, [settings.url]),
        limits=limits_of(settings, settings.max_asset_size if settings.assets else 0),
        notes=notes_of(settings),
        render=render_of(settings),
    )


def _follow_links(settings: MirrorSettings) -> FollowLinks:
    if settings.follow_links:
        return FollowLinks.ALWAYS
    return FollowLinks.NEVER if settings.urls_from else FollowLinks.UNLESS_SITEMAP


def _documents(settings: MirrorSettings) -> bool:
    if settings.documents and find_spec("pypdfium2") is None:
        raise UsageError("--documents needs a reader of PDF: pip install 'sumi[documents]'")
    return settings.documents


def _kind_of(url: str) -> Kind:
    """A sitemap, a feed or an llms.txt may be given instead of a page; then the job takes what it lists below
    its folder."""
    name = split(url).path.rpartition("/")[2].lower()
    is_list = (
        name.endswith((".xml", ".xml.gz", ".rss", ".atom"))
        or name == "llms.txt"
        or ("sitemap" in name and name.endswith((".txt", ".gz")))
    )
    return Kind.SITEMAP if is_list else Kind.PAGE


def mirror_home(settings: MirrorSettings) -> str:
    """The host folder with the manifest and the state."""
    return host_folder(settings.url)


def _path_prefixes(seed_url: str) -> tuple[str, ...]:
    """The folder of the seed: ``/guide`` for ``/guide/intro.html``; none for the root."""
    path = PurePosixPath(split(seed_url).path)
    folder = path.parent if path.suffix else path
    return () if str(folder) == "/" else (str(folder),)
