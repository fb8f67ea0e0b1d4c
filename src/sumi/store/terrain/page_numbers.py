"""Which page a URL is: a bounded memory of what everybody points to, in front of the database."""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from sumi.scope.domains import DomainClass, DomainClasses
from sumi.urls import origin
from sumi.urls.parts import split_authority

# About 30 MB. When full it is emptied, as links that are on every page are soon back.
CACHED_URLS: Final = 150_000
CACHED_SITES: Final = 20_000


class StoredNumbers(Protocol):
    def ids_of(self, urls: Sequence[str]) -> dict[str, int]: ...


class PageNumbers:
    def __init__(self, stored: StoredNumbers) -> None:
        self._stored = stored
        self._numbers: dict[str, int] = {}
        self._classes: dict[str, DomainClass] = {}

    def learn(self, url: str, number: int) -> None:
        self._numbers[url] = number

    def of(self, urls: Iterable[str]) -> dict[str, int]:
        """Those that are known, each with its number."""
        wanted = dict.fromkeys(urls)
        found = {url: self._numbers[url] for url in wanted if url in self._numbers}
        read = self._stored.ids_of([url for url in wanted if url not in found])
        read = {url: row_id + 1 for url, row_id in read.items()}
        if len(self._numbers) > CACHED_URLS:
            self._numbers.clear()
        self._numbers.update(read)
        return found | read

    def class_of(self, url: str, classes: DomainClasses) -> DomainClass:
        site = origin(url)
        found = self._classes.get(site)
        if found is None:
            if len(self._classes) > CACHED_SITES:
                self._classes.clear()
            found = classes.classify(split_authority(site.partition("://")[2])[0])
            self._classes[site] = found
        return found
