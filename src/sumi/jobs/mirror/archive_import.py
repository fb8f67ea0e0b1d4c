"""``sumi import``: a mirror of each site in web archives, without the network."""

from collections import Counter
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path

from sumi.engine.control import Control
from sumi.errors import UsageError
from sumi.events import Listener, Summary
from sumi.fetch.replay import ReplayFetcher
from sumi.jobs.mirror.run import mirror
from sumi.jobs.mirror.settings import MirrorSettings, given_settings
from sumi.policy import FetchLimits
from sumi.urls import origin, split


async def import_archives(
    archives: str | PathLike[str] | Sequence[str],
    *,
    listeners: Sequence[Listener] = (),
    control: Control | None = None,
    **settings: object,
) -> list[Summary]:
    """``sumi import``: a mirror of each site in WARC or WACZ files. ``settings`` are those of the mirrors."""
    files = [fspath(archives)] if isinstance(archives, str | PathLike) else list(archives)
    sites = archived_sites(files, settings)
    return [await mirror(site, listeners=listeners, control=control or Control()) for site in sites]


def archived_sites(archives: Sequence[str], settings: Mapping[str, object]) -> list[MirrorSettings]:
    """A mirror for each site in the archives, the one with most pages first."""
    fetcher = ReplayFetcher([Path(path) for path in archives], FetchLimits())
    fetcher.close()
    roots = Counter(f"{origin(url)}/" for url in fetcher.pages())
    sites: dict[str, str] = {}
    for root, _ in roots.most_common():
        host = root.removeprefix(f"{split(root).scheme}://").removeprefix("www.")
        sites.setdefault(host, root)
    if not sites:
        raise UsageError(f"{' and '.join(archives)}: no page is archived there")
    fixed: dict[str, object] = {"follow_links": True, "replay": tuple(archives), "replay_unlinked": True}
    return [given_settings(root, {"max_pages": 0, **settings, **fixed}) for root in sites.values()]
