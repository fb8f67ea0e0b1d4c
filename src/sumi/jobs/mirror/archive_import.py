"""``sumi import``: a mirror of each site in web archives, without the network."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath

from sumi.assembly.more_pages import archived_roots
from sumi.engine.control import Control
from sumi.events import Listener, Summary
from sumi.jobs.mirror.run import mirror
from sumi.jobs.mirror.settings import MirrorSettings, given_settings


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
    fixed: dict[str, object] = {
        "follow_links": True,
        "replay": tuple(archives),
        "replay_unlinked": True,
        "respect_robots": False,  # it is about requests, and there are none
    }
    roots = archived_roots(archives)
    return [given_settings(root, {"max_pages": 0, **settings, **fixed}) for root in roots]
