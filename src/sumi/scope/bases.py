"""Base URLs: the parts of sites that a job covers, each a host and a path.

What is under a base is at depth 0, wherever it was found. Everything else is external, and one step further
away than the page that links to it.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from sumi.model import LISTED, Candidate, Kind
from sumi.scope.hosts import is_address
from sumi.urls import DEFAULT_PORTS, split
from sumi.urls.identity import tidy_escapes, tidy_path

_WWW: Final = "www."
_WEB_PORTS: Final = tuple(DEFAULT_PORTS.values())
# The file name of a page. Not any dot: the folder of a release may be called v1.2.
_FILE: Final = re.compile(r"/[^/]*\.(?:x?html?|php|aspx?|jsp|cgi|md)\Z", re.IGNORECASE)


class BaseUrls:
    """``loose``: a path matches everything that begins with it, not only what is below it."""

    def __init__(self, bases: Sequence[str], *, loose: bool) -> None:
        self._loose = loose
        self._charged: dict[str, int] = {}  # of external pages
        self._by_site: dict[tuple[str, int], list[tuple[str, int]]] = {}
        for number, base in enumerate(bases):
            for site in _sites(base):
                self._by_site.setdefault(site, []).append((_folder(base), number))
        for prefixes in self._by_site.values():
            prefixes.sort(key=lambda entry: (-len(entry[0]), entry[1]))

    def of(self, url: str) -> int | None:
        """The number of the base that a URL is under, the most specific one if there are several."""
        parts = split(url)
        path = tidy_escapes(parts.path)
        for prefix, number in self._by_site.get((parts.host, parts.port), ()):
            if self._below(path, prefix):
                return number
        return None

    def charged(self, url: str, referrer: str | None = None) -> int:
        """The base against whose limit a page counts: its own; for an external page one of the same site, or
        else that of the page through which it was reached. ``referrer`` is needed once."""
        own = self.of(url)
        if own is not None:
            return own
        parts = split(url)
        on_its_site = self._by_site.get((parts.host, parts.port))
        if on_its_site:
            return min(number for _, number in on_its_site)
        if referrer is not None and url not in self._charged:
            self._charged[url] = self.charged(referrer)
        return self._charged.get(url, 0)

    def has_site_of(self, url: str) -> bool:
        parts = split(url)
        return (parts.host, parts.port) in self._by_site

    def placed(self, candidate: Candidate, hops: int) -> Candidate:
        """The candidate with its depth counted from the bases. A sitemap does not bring an external page
        closer: it is out of reach until a link leads there."""
        if candidate.kind is not Kind.PAGE:
            return candidate
        if self.of(candidate.url) is not None:
            depth = 0
        elif candidate.hop in LISTED:
            depth = hops + 1
        else:
            depth = max(1, candidate.depth)
        return candidate if depth == candidate.depth else msgspec.structs.replace(candidate, depth=depth)

    def _below(self, path: str, prefix: str) -> bool:
        if not path.startswith(prefix):
            return False
        return self._loose or len(path) == len(prefix) or path[len(prefix)] == "/"


def _sites(base: str) -> list[tuple[str, int]]:
    """Host and port of a base. http and https are one site, and so are the names with and without www."""
    parts = split(base)
    hosts = [parts.host]
    bare = parts.host.removeprefix(_WWW)
    if "." in bare and not is_address(bare):
        hosts = [bare, _WWW + bare]
    ports = _WEB_PORTS if parts.port in _WEB_PORTS else (parts.port,)
    return [(host, port) for host in hosts for port in ports]


def _folder(base: str) -> str:
    """The path that a base's pages are below: for a file, its folder. Without a slash at the end."""
    return _FILE.sub("", tidy_path(base)).rstrip("/")
