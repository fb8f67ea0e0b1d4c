"""URLs that pages linked to lately.

The same menus are on every page of a site. Most links of a page need not be looked up in the database: it is
known here that finding them again changes nothing.
"""

from collections.abc import Iterable, Sequence

from sumi.state.entries import LIFTED_BY_SHORTER_WAY, Entry, State

MOST_KNOWN = 50_000  # some 8 MB; when they are that many they are forgotten, and learnt anew


class KnownLinks:
    def __init__(self, most: int = MOST_KNOWN) -> None:
        self._most = most
        self._from_depth: dict[str, int] = {}  # a link that leads there at this depth or deeper is no news

    def strangers(self, urls: Sequence[str], depth: int) -> list[str]:
        """Those of ``urls`` that have to be looked up."""
        known = self._from_depth.get
        return [url for url in urls if known(url, depth + 1) > depth]

    def note(self, entries: Iterable[Entry | None]) -> None:
        for entry in entries:
            if entry is not None:
                self._from_depth[entry.candidate.url] = _no_news_from(entry)
        if len(self._from_depth) > self._most:
            self._from_depth.clear()

    def forget(self, url: str) -> None:
        """It was done with, or refused, and is wanted again."""
        self._from_depth.pop(url, None)


def _no_news_from(entry: Entry) -> int:
    if entry.state is State.SETTLED:
        return 0
    refusal = entry.verdict if entry.state is State.REFUSED else None
    if refusal is not None and refusal.outcome not in LIFTED_BY_SHORTER_WAY:
        return 0
    return entry.candidate.depth
