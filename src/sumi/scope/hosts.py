"""Host patterns, and the classes of domains that a map distinguishes: ``example.com``, ``*.example.com``.

``*.example.com`` matches the bare domain and every name below it, at a dot only. A pattern without a port
matches the default ports, 80 and 443: another port is another server, and must be named.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from sumi.errors import UsageError
from sumi.policy import Preset
from sumi.urls import DEFAULT_PORTS, normalize, split
from sumi.urls.parts import split_authority

_WILDCARD: Final = "*."
_WEB_PORTS: Final = frozenset(DEFAULT_PORTS.values())


def canonical_host_pattern(text: str) -> str:
    """The pattern as hosts are written in normalized URLs: lower case, IDNA, no trailing dot."""
    wildcard = _WILDCARD if text.startswith(_WILDCARD) else ""
    name, port = split_authority(text.removeprefix(_WILDCARD))
    url = normalize(f"http://{name}/", Preset.MIRROR) if _is_bare(name) else None
    if url is None or (port is not None and port > 65535):
        raise UsageError(
            f"Host pattern {text!r} is not a name such as example.com, *.example.com or example.com:8080."
        )
    host = split(url).host
    if wildcard and is_address(host):
        raise UsageError(
            f"Host pattern {text!r} has a wildcard before an address: addresses have no subdomains."
        )
    return f"{wildcard}{host}" if port is None else f"{wildcard}{host}:{port}"


class HostMatcher:
    """Matches any of many patterns, in a time that depends only on the number of the host's labels."""

    __slots__ = ("_below", "_exact")

    def __init__(self, patterns: Iterable[str]) -> None:
        self._exact: set[tuple[str, int]] = set()
        self._below: set[tuple[str, int]] = set()
        for pattern in patterns:
            wanted, wanted_port = split_authority(pattern)
            base = wanted.removeprefix(_WILDCARD)
            entries = {(base, port) for port in _ports(wanted_port)}
            self._exact |= entries
            if base != wanted:
                self._below |= entries

    def matches(self, host: str, port: int) -> bool:
        if (host, port) in self._exact:
            return True
        if not self._below:
            return False
        parent = host.partition(".")[2]
        while parent:
            if (parent, port) in self._below:
                return True
            parent = parent.partition(".")[2]
        return False


def _ports(wanted: int | None) -> frozenset[int]:
    return _WEB_PORTS if wanted is None else frozenset({wanted})


def _is_bare(name: str) -> bool:
    """Whether it is only a name: a path, userinfo or second port would be parsed and silently dropped."""
    outside_brackets = "" if name.endswith("]") else name
    return not set("/\\?#@*") & set(name) and ":" not in outside_brackets


def is_address(host: str) -> bool:
    # The parser reads a name whose last label is a number as IPv4, and puts only IPv6 in brackets.
    return host.startswith("[") or host.rpartition(".")[2].isdigit()


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
        raise UsageError(f"Domain {text!r} has a port, but a domain covers all ports of a host: remove it.")
    url = normalize(f"https://{name}/", Preset.MAP)
    return wildcard + (split(url).host if url is not None else name)


class DomainClasses:
    """How a map treats a host: explored, only recorded, never visited, or newly found.

    The first list with a match wins: blacklist, stub, quality. Domains have no port: a server on another port
    of a host is the same domain. Built once from canonical patterns; the time of a lookup depends only on the
    number of the host's labels.
    """

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
        """The most specific quality pattern that matches a quality host; None for any other host."""
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
