"""What a host is to a terrain map: explored, only noted, never visited, or news.

Three lists of domain patterns decide. The first list with a match wins, in this order: blacklist, stub,
quality. ``*.example.com`` takes the bare domain and every name below it, at a dot only. Domains have no port:
a server on another port of a host is the same domain.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from sumi.errors import UsageError
from sumi.policy import Preset
from sumi.scope.hosts import canonical_host_pattern
from sumi.urls import normalize, split
from sumi.urls.parts import split_authority

_WILDCARD: Final = "*."


class DomainClass(StrEnum):
    BLACKLISTED = "blacklisted"
    STUBBED = "stubbed"
    QUALITY = "quality"
    DISCOVERED = "discovered"


def canonical_domain_pattern(text: str) -> str:
    """The pattern as hosts are written in a map's URLs: lower case, IDNA, without a leading ``www``."""
    wildcard = _WILDCARD if text.startswith(_WILDCARD) else ""
    name, port = split_authority(canonical_host_pattern(text).removeprefix(_WILDCARD))
    if port is not None:
        raise UsageError(f"Domain {text!r} has a port, but a domain is all ports of a host: leave it away.")
    url = normalize(f"https://{name}/", Preset.MAP)
    return wildcard + (split(url).host if url is not None else name)


class DomainClasses:
    """Built once from canonical patterns; asking takes a time that depends on the host's labels only."""

    __slots__ = ("_blacklist", "_quality", "_stub")

    def __init__(
        self, quality: Iterable[str], blacklist: Iterable[str] = (), stub: Iterable[str] = ()
    ) -> None:
        self._quality = _PatternTable(quality)
        self._blacklist = _PatternTable(blacklist)
        self._stub = _PatternTable(stub)

    def classify(self, host: str) -> DomainClass:
        if self._blacklist.find(host) is not None:
            return DomainClass.BLACKLISTED
        if self._stub.find(host) is not None:
            return DomainClass.STUBBED
        if self._quality.find(host) is not None:
            return DomainClass.QUALITY
        return DomainClass.DISCOVERED

    def origin_of(self, host: str) -> str | None:
        """The quality pattern that a quality host belongs to, the closest one; None for any other host."""
        return self._quality.find(host) if self.classify(host) is DomainClass.QUALITY else None


class _PatternTable:
    __slots__ = ("_below", "_exact")

    def __init__(self, patterns: Iterable[str]) -> None:
        self._exact: dict[str, str] = {}
        self._below: dict[str, str] = {}
        for pattern in patterns:
            base = pattern.removeprefix(_WILDCARD)
            if base != pattern:
                self._below[base] = pattern
                self._exact.setdefault(base, pattern)
            else:
                self._exact[base] = pattern

    def find(self, host: str) -> str | None:
        found = self._exact.get(host)
        parent = host.partition(".")[2] if self._below else ""
        while found is None and parent:
            found = self._below.get(parent)
            parent = parent.partition(".")[2]
        return found
