"""One page, fetched as a mirror would: robots.txt, addresses and limits are looked at, redirects followed.

Apart from ``convert``, which needs no engine for a file.
"""

import msgspec

from sumi.engine.control import Control
from sumi.jobs.mirror.recipe import mirror_job
from sumi.jobs.mirror.settings import MirrorSettings
from sumi.jobs.mirror.sitemap_listing import NoOutput, run_in_memory
from sumi.model import Candidate, Hop, Kind, Lease, PageFacts, Response
from sumi.outcomes import MEANINGS, Outcome
from sumi.parse.page.digest import PageDigest
from sumi.policy import FollowLinks, SourceChoice
from sumi.ports import Ledger
from sumi.recipe import Job
from sumi.scope import build_scope, default_hosts_for


class FetchedPage(msgspec.Struct, frozen=True):
    url: str
    body: bytes
    content_type: str


class _Kept(NoOutput):
    def __init__(self) -> None:
        self.page: FetchedPage | None = None

    async def accept(self, lease: Lease, response: Response, digest: PageDigest) -> PageFacts:
        self.page = FetchedPage(response.url, response.body, response.header("content-type") or "text/html")
        return await super().accept(lease, response, digest)


async def fetch_one(settings: MirrorSettings) -> FetchedPage | str:
    """The page, or why there is none."""
    output = _Kept()
    store = await run_in_memory(_job(settings), output, (), Control(), settings.processes)
    return await _reason(store, settings.url) if output.page is None else output.page


def _job(settings: MirrorSettings) -> Job:
    job = mirror_job(settings)
    seed = Candidate(settings.url, Hop.SEED, Kind.PAGE)
    recipe = msgspec.structs.replace(
        job.recipe,
        job="convert",
        seeds=(seed,),
        scope=build_scope(hosts=(*default_hosts_for(seed.url), *settings.hosts)),
        follow_links=FollowLinks.NEVER,
        find_sitemaps=False,
        max_pages=1,
        keep_raw=False,
        source=SourceChoice.HTML,
    )
    frontier = msgspec.structs.replace(job.frontier, max_pages=1, sitemaps_first=False)
    return msgspec.structs.replace(job, recipe=recipe, frontier=frontier)


async def _reason(ledger: Ledger, url: str) -> str:
    """Why the last page of a chain of redirects was not kept."""
    sentence = f"{url}: there is no page"
    async for record in ledger.records(None):
        if record.kind is Kind.PAGE and record.outcome is not Outcome.REDIRECTED:
            why = f" ({record.rule})" if record.rule else ""
            sentence = f"{record.url}: {record.outcome.value}{why}. {MEANINGS[record.outcome].meaning}"
    return sentence.rstrip(".")
