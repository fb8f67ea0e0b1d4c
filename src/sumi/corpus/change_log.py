"""``sumi log``, ``diff``, ``feed`` and ``history prune`` as functions."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeAlias

from sumi.corpus.change_feeds import Change, changes
from sumi.corpus.histories import Site, chosen, reading, since_time, site_of, sites_in
from sumi.corpus.page_diffs import PageDiff, before, page_diff
from sumi.errors import UsageError
from sumi.history.prune import Pruned, prune
from sumi.history.rows import ChangeKind, HistoryRun, Version
from sumi.state.lock import FolderLock

Place: TypeAlias = str | PathLike[str]
DEFAULT_PLACES = ("output", "captures")


class SiteRuns(NamedTuple):
    site: str
    runs: list[HistoryRun]


def sites_of(folder: Place | None) -> list[Site]:
    """In a folder; by default below ``output`` and ``captures``, where they are."""
    if folder is not None:
        return sites_in([Path(folder)])
    usual = [Path(name) for name in DEFAULT_PLACES if Path(name).is_dir()]
    return sites_in(usual or [Path(DEFAULT_PLACES[0])])


def runs(folder: Place | None = None, limit: int = -1) -> list[SiteRuns]:
    """``sumi log``: the runs of each site, the newest first."""
    found = []
    for site in sites_of(folder):
        with reading(site) as store:
            found.append(SiteRuns(site.name, store.runs(limit)))
    return found


def versions(url: str, folder: Place | None = None) -> list[Version]:
    """``sumi log URL``: the versions of a page, the oldest first."""
    site, known = site_of(url, sites_of(folder))
    with reading(site) as store:
        return store.versions(known)


def diff(url: str, old: str = "", new: str = "", folder: Place | None = None) -> PageDiff:
    """``sumi diff URL``: between two versions, each a number or a time; by default the last change. With one
    version given, from there to the last."""
    site, known = site_of(url, sites_of(folder))
    with reading(site) as store:
        found = store.versions(known)
        if old:
            return page_diff(store, chosen(found, old), chosen(found, new) if new else found[-1])
        last = next((v for v in reversed(found) if v.kind != ChangeKind.ADDED), found[-1])
        return page_diff(store, before(found, last), last)


def diffs_since(since: str, folder: Place | None = None, *, minor: bool = True) -> Iterator[PageDiff]:
    """``sumi diff --since``: every page that differs from what it was then, each once."""
    at = since_time(since)
    for site in sites_of(folder):
        with reading(site) as store:
            urls = dict.fromkeys(version.url for version in reversed(store.changes(since=at)))
            for url in urls:
                found = store.versions(url)
                old = next((v for v in reversed(found) if v.at < at), None)
                made = page_diff(store, old, found[-1])
                if minor or not all(v.minor for v in found if v.at >= at):
                    yield made


def feed(
    folder: Place | None = None,
    *,
    since: str = "",
    minor: bool = False,
    limit: int = 100,
    diffs: bool = False,
) -> list[Change]:
    """``sumi feed``: the changes of all sites in a folder, the newest first."""
    at = since_time(since) if since else 0.0
    return changes(sites_of(folder), since=at, minor=minor, limit=limit, diffs=diffs)


def prune_history(folder: Place | None, keep: str) -> list[Pruned]:
    """``sumi history prune``: versions older than ``keep``, such as 90d, are forgotten, except the last one
    of each page."""
    import time

    now = time.time()
    seconds = now - since_time(keep, now)
    if seconds < 0:
        raise UsageError(f"{keep} is in the future: give an age such as 90d")
    done = []
    for site in sites_of(folder):
        lock = FolderLock(site.history.parent, command="sumi history prune")
        try:
            done.append(prune(site.history, seconds, now))
        finally:
            lock.release()
    return done
