"""A job as data. If the engine ever needs ``if job == …``, a field is missing here."""

import msgspec

from sumi.model import Candidate
from sumi.policy import (
    FetchLimits,
    FollowLinks,
    FrontierPolicy,
    NetworkPolicy,
    OnError,
    PacingPolicy,
    ParseLimits,
    Preset,
    RenderPolicy,
    RetryPolicy,
    RobotsPolicy,
    SourceChoice,
    TrapPolicy,
    UrlLimits,
)
from sumi.scope import Scope
from sumi.scope.caps import CapPolicy
from sumi.urls import Rules


class Recipe(msgspec.Struct, frozen=True):
    job: str
    seeds: tuple[Candidate, ...]
    preset: Preset
    scope: Scope
    user_agent: str
    robots: RobotsPolicy = RobotsPolicy()
    pacing: PacingPolicy = PacingPolicy()
    retry: RetryPolicy = RetryPolicy()
    urls: UrlLimits = UrlLimits()
    follow_links: FollowLinks = FollowLinks.ALWAYS
    find_sitemaps: bool = False  # robots.txt's Sitemap lines and the usual places become candidates
    concurrency: int = 16  # pages in flight at once, over all hosts
    max_pages: int = 0  # captured pages; 0 = no limit
    markdown: bool = False  # the digest converts pages to Markdown
    anchors: bool = False  # and that has the places in it which other pages may link to
    traps: TrapPolicy = TrapPolicy()
    parse: ParseLimits = ParseLimits()
    list_only: bool = False  # sitemaps are read, and no page is fetched
    on_error: OnError = OnError.SKIP
    keep_raw: bool = False  # original bodies are stored, too
    take_links: bool = True  # False: another job follows them
    record_links: bool = (
        False  # settlements carry every link, and every hop, redirects too, is a step in depth
    )
    origins: tuple[str, ...] = ()  # domain patterns whose pages are all at depth 0, wherever they are found
    head_first: bool = False  # HEAD asks for a page's type, and its content is requested a polite turn later
    requests_per_page: int = 1  # usually; each takes a turn with its host
    retry_earlier: bool = True  # a resumed run retries transient failures of earlier runs
    revisit: bool = False  # pages of an earlier run are requested conditionally: only if they changed
    keep_params: tuple[str, ...] = ()  # the only query parameters kept in URLs; empty: as in the preset
    scope_rules: Rules | None = None  # how URLs are normalized before the scope judges them; None: not at all
    caps: CapPolicy = CapPolicy()  # limits per repository, where the job's pages belong to one
    trust_dates: bool = True  # a page whose date in the sitemap is the same as before is not requested
    keep_duplicates: bool = True  # False: of pages with the same title and text, only the first is kept
    titles_count: bool = True  # False: pages with the same text are duplicates, whatever their titles
    pages_per_base: int = 0  # kept for each base of the scope; max_pages is then the sum; 0 = no limit
    min_fidelity: float = 0.0  # pages with a lower fidelity are kept, but make the run partial
    max_junk: float = 1.0  # and so do pages with more junk
    source: SourceChoice = SourceChoice.HTML  # whether a site's own Markdown is used where it is as good
    documents: bool = False  # PDF, DOCX, ODT and EPUB are pages, too
    asset_bytes: int = 0  # images that pages show and files they link to are kept up to this size; 0: none
    # With a limit on pages: no further sitemap is read while more pages than this are waiting, and more than
    # twice as many as the limit allows, since some fail. 0: every sitemap is read.
    plenty: int = 0


class Job(msgspec.Struct, frozen=True):
    """A recipe with everything else that a run is assembled from."""

    recipe: Recipe
    frontier: FrontierPolicy
    network: NetworkPolicy
    limits: FetchLimits
    notes: tuple[str, ...] = ()  # what the user should know before it starts
    render: RenderPolicy = RenderPolicy()  # which pages are rendered in a browser; by default none
    replay: tuple[str, ...] = ()  # archives that answer instead of the network
