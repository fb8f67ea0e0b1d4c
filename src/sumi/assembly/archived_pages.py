"""Every page of an archive, linked or not, for jobs that take their answers from one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from sumi.errors import UsageError
from sumi.fetch.replay import ReplayFetcher
from sumi.model import Candidate, Hop
from sumi.policy import FetchLimits, Preset
from sumi.ports import Fetcher
from sumi.urls import PRESETS, Rules, origin, spelled, split


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
