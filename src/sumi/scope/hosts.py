"""Host patterns: ``example.com``, ``*.example.com``, either with a port.

``*.example.com`` takes the bare domain and every name below it, at a dot only. A pattern without a port takes
the web's own ports, 80 and 443: another port is another server, and must be asked for.
"""

from collections.abc import Iterable
from typing import Final

from sumi.errors import UsageError
from sumi.policy import Preset
from sumi.urls import DEFAULT_PORTS, normalize, split
from sumi.urls.parts import split_authority

_WILDCARD: Final = "*."
_WEB_PORTS: Final = frozenset(DEFAULT_PORTS.values())


def host_matches(pattern: str, host: str, port: int) -> bool:
    """Whether a canonical pattern (see ``canonical_host_pattern``) takes a normalized host."""
    wanted, wanted_port = split_authority(pattern)
    if port not in _ports(wanted_port):
        return False
    base = wanted.removeprefix(_WILDCARD)
    return host == base or (base != wanted and host.endswith("." + base))


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
    """Any of many patterns, in a time that depends on the host's labels only."""

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
    """Whether there is only a name: a path, userinfo or second port would be parsed and silently dropped."""
    outside_brackets = "" if name.endswith("]") else name
    return not set("/\\?#@*") & set(name) and ":" not in outside_brackets


def is_address(host: str) -> bool:
    # The parser reads every name whose last label is a number as an IPv4 address, and brackets only IPv6.
    return host.startswith("[") or host.rpartition(".")[2].isdigit()
