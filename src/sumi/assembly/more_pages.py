"""Pages that nobody has to find: those of an archive, or of a list that the user gave."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sumi.errors import UsageError
from sumi.fetch.replay import ReplayFetcher
from sumi.files.url_lists import UrlList
from sumi.model import Candidate, Hop, Lease, Response
from sumi.policy import FetchLimits, Preset
from sumi.ports import Enqueue, Fetcher, Ledger, Remains, Settlement, Source
from sumi.scope import Scope, default_hosts_for
from sumi.urls import PRESETS, Rules, normalize_with, origin, spelled, split

BATCH = 500
MOST_SITES = 1000


class MorePages:
    """A ``sumi.ports.Source``: those of ``pages`` that are not known yet are queued besides those of
    ``other``."""

    def __init__(self, pages: Iterable[Candidate], other: Source, ledger: Ledger) -> None:
        self._pages = pages
        self._other = other
        self._ledger = ledger

    @property
    def more_to_come(self) -> bool:
        return self._other.more_to_come

    async def resume(self, enqueue: Enqueue) -> None:
        await self._other.resume(enqueue)
        batch: list[Candidate] = []
        for page in self._pages:
            if await self._ledger.record(page.url) is None:
                batch.append(page)
            if len(batch) >= BATCH:
                await enqueue(batch)
                batch.clear()
        await enqueue(batch)

    async def feed(self, enqueue: Enqueue) -> None:
        await self._other.feed(enqueue)

    def at_hand(self, lease: Lease) -> Response | None:
        return self._other.at_hand(lease)

    def signed(self, settlement: Settlement) -> Settlement:
        return self._other.signed(settlement)

    def remains(self) -> Remains:
        return self._other.remains()


# ── of an archive ──────────────────────────────────────────────────────────────────────────────────────────


def archived_pages(fetcher: Fetcher, preset: Preset) -> Iterator[Candidate]:
    """``--replay-unlinked``: every page of the archive, linked or not."""
    if not isinstance(fetcher, ReplayFetcher):
        raise UsageError("--replay-unlinked needs an archive: give one with --replay")
    return _candidates(fetcher, PRESETS[preset])


def _candidates(archive: ReplayFetcher, rules: Rules) -> Iterator[Candidate]:
    for url, written in archive.addresses():
        found = spelled(written, rules) or spelled(url, rules)
        if found is not None:
            yield Candidate(found.identity, Hop.MANIFEST, address=found.address)


def archived_roots(archives: Sequence[str]) -> list[str]:
    """The root of each site in the archives, with or without ``www.`` and whatever its scheme; the one with
    most pages first."""
    fetcher = ReplayFetcher([Path(path) for path in archives], FetchLimits())
    fetcher.close()
    sites: dict[str, str] = {}
    for root, _ in Counter(f"{origin(url)}/" for url in fetcher.pages()).most_common():
        host = root.removeprefix(f"{split(root).scheme}://").removeprefix("www.")
        sites.setdefault(host, root)
    if not sites:
        raise UsageError(f"{' and '.join(archives)}: no page is archived there")
    return list(sites.values())


# ── of a list ──────────────────────────────────────────────────────────────────────────────────────────────


def listed_pages(paths: Sequence[str], column: str | None, rules: Rules) -> Iterator[Candidate]:
    """Each with its place in its list. Lists that are gone are left out: a run that is resumed, or helped by
    another machine, has their pages in its state."""
    for each in url_lists([path for path in paths if Path(path).is_file()], column):
        for url, place in each:
            name = normalize_with(url.target, rules)
            if name is not None:
                yield Candidate(
                    name,
                    Hop.LIST,
                    referrer=f"{each.shown}:{place}",
                    address="" if url.target == name else url.target,
                )


def url_lists(paths: Sequence[str], column: str | None) -> list[UrlList]:
    return [UrlList(Path(path), column=column or "") for path in paths]


def sites_of(lists: Iterable[UrlList]) -> list[str]:
    """The roots of the sites in the lists, each once. ``www.`` is no site of its own."""
    hosts: tuple[str, ...] = ()
    roots: list[str] = []
    seen: set[str] = set()
    for each in lists:
        for url, _ in each:
            root = f"{origin(url.target)}/"
            if root in seen:
                continue
            seen.add(root)
            if not hosts or Scope(hosts=hosts).judge(Candidate(root)) is not None:
                hosts = (*hosts, *default_hosts_for(root))
                roots.append(root)
            if len(roots) > MOST_SITES:
                raise UsageError(
                    f"{each.shown} has pages of more than {MOST_SITES:,} sites: split it, or use sumi crawl"
                )
        if not roots:
            raise UsageError(f"the list {each.shown} has no web address in it")
    return roots
