"""Whom we may talk to. Nobody special, unless the user said so in so many words.

A URL is checked before anything is resolved, every address behind a name before any of them is used, and
the one that is about to be dialled once more, on every connection: neither a redirect nor a name server can
lead the crawler inwards.
"""

from functools import lru_cache

from sumi.errors import UsageError
from sumi.fetch.dial_ports import port_refusal
from sumi.fetch.special_addresses import LOOPBACK, Address, Special, parse_address, special_purpose
from sumi.fetch.target import Target, parse_target
from sumi.policy import NetworkPolicy

_REMEMBERED_ORIGINS = 4096  # a crawl asks the same few hosts again and again
_METADATA_NAMES = frozenset({"metadata.google.internal"})


def open_host_for(seed_url: str) -> tuple[str, int] | None:
    """The host and port that a seed opens by naming ``localhost`` or a private address literally."""
    target = parse_target(seed_url)
    if target is None:
        return None
    host = _plain(target.host)
    address = parse_address(host)
    special = special_purpose(address) if address is not None else None
    opens = host == "localhost" or (special is not None and special.openable)
    return (host, target.port) if opens else None


class AddressGuard:
    """Every check answers with the reason for a refusal, or None."""

    def __init__(self, network: NetworkPolicy) -> None:
        self._allow_private = network.allow_private
        self._opened = frozenset((_plain(host), port) for host, port in network.open_hosts)
        self._check_origin = lru_cache(_REMEMBERED_ORIGINS)(self._check_unresolved)
        self._check_peer = lru_cache(_REMEMBERED_ORIGINS)(self.check)
        self._pinned: dict[tuple[str, int], list[Address]] = {}
        for host, port, text in network.resolve:
            self._pinned.setdefault((_plain(host), port), []).append(_pinned_address(host, port, text))

    def check_url(self, url: str) -> str | None:
        """Before resolution: scheme, port, forbidden names and literal addresses."""
        target = parse_target(url)
        return "not an http(s) URL" if target is None else self.check_target(target)

    def check_target(self, target: Target) -> str | None:
        return self._check_origin(target.host, target.port)

    def check(self, host: str, port: int, address: str) -> str | None:
        """An address that is about to be dialled for this host and port."""
        host = _plain(host)
        refusal = self._check_port(host, port) or self._check_name(host, port)
        if refusal is not None:
            return refusal
        parsed = parse_address(address)
        if parsed is None:
            return "not an IP address"
        if parsed in self._pinned.get((host, port), ()):
            return None
        special = special_purpose(parsed)
        if special is None or self._is_opened(host, port, parsed, special):
            return None
        return _refusal(host, parsed, special)

    def check_peer(self, host: str, port: int, address: str) -> str | None:
        """The address that an answer came from, as a last look: the same few on a whole crawl."""
        return self._check_peer(host, port, address)

    def pinned(self, host: str, port: int) -> tuple[str, ...]:
        """The addresses that the user wrote down for this host and port."""
        return tuple(str(address) for address in self._pinned.get((_plain(host), port), ()))

    def _check_unresolved(self, host: str, port: int) -> str | None:
        if parse_address(host) is not None:
            return self.check(host, port, host)
        host = _plain(host)
        return self._check_port(host, port) or self._check_name(host, port)

    def _check_port(self, host: str, port: int) -> str | None:
        return port_refusal(port, named=self._is_named(host, port))

    def _check_name(self, host: str, port: int) -> str | None:
        if (host, port) in self._pinned:
            return None
        if host in _METADATA_NAMES:
            return f"{host} serves a cloud provider's metadata"
        if _is_localhost(host) and not (self._allow_private or self._is_named(host, port)):
            return f"{host} is this machine"
        return None

    def _is_named(self, host: str, port: int) -> bool:
        return (host, port) in self._opened or (host, port) in self._pinned

    def _is_opened(self, host: str, port: int, address: Address, special: Special) -> bool:
        if not special.openable:
            return False
        if self._allow_private:
            return True
        # A literal opens itself and nothing else, ``localhost`` only what is this machine.
        means_it = special is LOOPBACK if _is_localhost(host) else parse_address(host) == address
        return means_it and (host, port) in self._opened


def _plain(host: str) -> str:
    """One spelling per host: lower case, no brackets, no root dot."""
    return host.lower().removeprefix("[").removesuffix("]").removesuffix(".")


def _is_localhost(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost")


def _pinned_address(host: str, port: int, text: str) -> Address:
    address = parse_address(text)
    if address is None:
        raise UsageError(f"cannot resolve {host}:{port} to {text!r}: not an IP address")
    return address


def _refusal(host: str, address: Address, special: Special) -> str:
    """Names what stood in the URL. The address behind a name is not told: whoever reads our answers may not
    be the one who owns the network that we are in."""
    literal = parse_address(host) is not None
    return f"{address} is {special.words}" if literal else f"{host} leads to {special.words}"
