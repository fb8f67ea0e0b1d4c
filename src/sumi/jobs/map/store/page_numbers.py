"""Which page a URL is: a bounded memory of what everybody points to, in front of the database."""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from sumi.scope.hosts import DomainClass, DomainClasses
from sumi.urls import origin
from sumi.urls.parts import split_authority

# Together about 100 MB. When the younger half is full, the elder one is forgotten: what is asked for again
# and again, as links that are on every page, moves to the younger half each time.
CACHED_URLS: Final = 300_000
CACHED_SITES: Final = 20_000


class StoredNumbers(Protocol):
    def ids_of(self, urls: Sequence[str]) -> dict[str, int]: ...


class PageNumbers:
    def __init__(self, stored: StoredNumbers) -> None:
        self._stored = stored
        self._younger: dict[str, int] = {}
        self._elder: dict[str, int] = {}
        self._classes: dict[str, DomainClass] = {}

    def learn(self, url: str, number: int) -> None:
        if len(self._younger) >= CACHED_URLS:
            self._elder, self._younger = self._younger, {}
        self._younger[url] = number

    def unknown(self, urls: Sequence[str]) -> list[str]:
        remembered = self._younger
        rest = [url for url in urls if url not in remembered]
        known = self.of(rest) if rest else {}
        return [url for url in rest if url not in known]

    def of_known(self, urls: Sequence[str]) -> list[int]:
        """The numbers of those that are known, in order."""
        numbers = [*map(self._younger.get, urls)]
        if None in numbers:
            numbers = [*map(self.of(urls).get, urls)]
        return [number for number in numbers if number is not None]

    def of(self, urls: Iterable[str]) -> dict[str, int]:
        """Those that are known, each with its number."""
        found: dict[str, int] = {}
        missing: list[str] = []
        remembered = self._younger.get
        for url in dict.fromkeys(urls):
            number = remembered(url)
            if number is None:
                number = self._rejuvenated(url)
            if number is None:
                missing.append(url)
            else:
                found[url] = number
        for url, row_id in self._stored.ids_of(missing).items():
            found[url] = row_id + 1
            self.learn(url, row_id + 1)
        return found

    def _rejuvenated(self, url: str) -> int | None:
        number = self._elder.get(url)
        if number is not None:
            self.learn(url, number)
        return number

    def class_of(self, url: str, classes: DomainClasses) -> DomainClass:
        site = origin(url)
        found = self._classes.get(site)
        if found is None:
            if len(self._classes) > CACHED_SITES:
                self._classes.clear()
            found = classes.classify(split_authority(site.partition("://")[2])[0])
            self._classes[site] = found
        return found
