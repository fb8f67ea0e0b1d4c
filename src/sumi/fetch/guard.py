"""Which addresses may be contacted: no private or special ones, unless the user names them.

A URL is checked before its name is resolved, every address of a name before any is used, and the one to
connect to again on every connection: neither a redirect nor a name server can lead the crawler into a private
network.

The table holds the IANA special-purpose registries of both families, multicast, and the addresses at which
cloud providers serve metadata to their own machines. It replaces ``ipaddress.is_global``, whose answer
changes with the Python release. IPv4 embedded in IPv6 is extracted and judged again.
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple, TypeAlias

from sumi.errors import UsageError
from sumi.fetch.target import Target, parse_target
from sumi.policy import NetworkPolicy

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network


class Special(NamedTuple):
    """Why an address is refused, and whether the user may allow it."""

    words: str
    openable: bool = False


LOOPBACK = Special("a loopback address", openable=True)
PRIVATE = Special("a private address", openable=True)
LINK_LOCAL = Special("a link-local address")
PROVIDER = Special("a cloud provider's internal address")
MULTICAST = Special("a multicast address")
DOCUMENTATION = Special("reserved for documentation")
RESERVED = Special("reserved for a special purpose")
TRANSLATED = Special("a local translation of an IPv4 address")
UNASSIGNED = Special("not a global unicast address")

# The first match decides, so single addresses come before the ranges they lie in.
_TABLE: tuple[tuple[str, Special], ...] = (
    ("168.63.129.16/32", PROVIDER),
    ("192.0.0.192/32", PROVIDER),
    ("100.100.100.200/32", PROVIDER),
    ("0.0.0.0/8", RESERVED),
    ("10.0.0.0/8", PRIVATE),
    ("100.64.0.0/10", Special("shared by a carrier's customers")),
    ("127.0.0.0/8", LOOPBACK),
    ("169.254.0.0/16", LINK_LOCAL),
    ("172.16.0.0/12", PRIVATE),
    ("192.0.0.0/24", RESERVED),
    ("192.0.2.0/24", DOCUMENTATION),
    ("192.31.196.0/24", RESERVED),
    ("192.52.193.0/24", RESERVED),
    ("192.88.99.0/24", RESERVED),
    ("192.168.0.0/16", PRIVATE),
    ("192.175.48.0/24", RESERVED),
    ("198.18.0.0/15", Special("reserved for benchmarks")),
    ("198.51.100.0/24", DOCUMENTATION),
    ("203.0.113.0/24", DOCUMENTATION),
    ("224.0.0.0/4", MULTICAST),
    ("240.0.0.0/4", RESERVED),
    ("fd00:ec2::/32", PROVIDER),
    ("::/128", RESERVED),
    ("::1/128", LOOPBACK),
    ("64:ff9b:1::/48", TRANSLATED),
    ("100::/64", RESERVED),
    ("100:0:0:1::/64", RESERVED),
    ("2001::/23", RESERVED),
    ("2001:db8::/32", DOCUMENTATION),
    ("2620:4f:8000::/48", RESERVED),
    ("3fff::/20", DOCUMENTATION),
    ("5f00::/16", RESERVED),
    ("fc00::/7", PRIVATE),
    ("fe80::/10", LINK_LOCAL),
    ("fec0::/10", Special("a site-local address")),
    ("ff00::/8", MULTICAST),
)
_NETWORKS: tuple[tuple[Network, Special], ...] = tuple((ip_network(net), special) for net, special in _TABLE)
_GLOBAL_UNICAST = IPv6Network("2000::/3")

_MAPPED = IPv6Network("::ffff:0:0/96")
_COMPATIBLE = IPv6Network("::/96")
_NAT64 = IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_TEREDO = IPv6Network("2001::/32")
_LOW_32 = 0xFFFF_FFFF


def parse_address(text: str) -> Address | None:
    """An IP literal, with or without brackets, without its zone; None for anything else."""
    bare = text.removeprefix("[").removesuffix("]").partition("%")[0]
    try:
        return ip_address(bare)
    except ValueError:
        return None


def special_purpose(address: Address) -> Special | None:
    """Why this is not an ordinary public address; None if it is one."""
    if isinstance(address, IPv4Address):
        return _from_table(address)
    if address in _MAPPED:
        # The kernel connects to the IPv4 address itself, so that one is judged.
        return _from_table(_low_32(address))
    wrapped = _wrapped(address)
    if wrapped:
        return _worst_of(wrapped)
    return _from_table(address) or (None if address in _GLOBAL_UNICAST else UNASSIGNED)


def _from_table(address: Address) -> Special | None:
    return next((special for network, special in _NETWORKS if address in network), None)


def _low_32(address: IPv6Address, shift: int = 0) -> IPv4Address:
    return IPv4Address(int(address) >> shift & _LOW_32)


def _wrapped(address: IPv6Address) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses that a translator would extract."""
    if address in _NAT64:
        return (_low_32(address),)
    if address in _COMPATIBLE and int(address) > 1:
        return (_low_32(address),)
    if address in _SIX_TO_FOUR:
        return (_low_32(address, shift=80),)
    if address in _TEREDO:
        client = IPv4Address(int(address) & _LOW_32 ^ _LOW_32)  # Teredo stores the client's bits inverted
        return (_low_32(address, shift=64), client)
    return ()


def _worst_of(wrapped: tuple[IPv4Address, ...]) -> Special | None:
    for address in wrapped:
        special = _from_table(address)
        if special is not None:
            return Special(f"a wrapping of {special.words}")
    return None


# The "bad ports" of the Fetch standard, whose services might read an HTTP request as a command of their own.
BAD_PORTS: frozenset[int] = frozenset(
    {
        *(0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95),
        *(101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179),
        *(389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587),
        *(601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061),
        *(6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
    }
)
_WEB_PORTS = frozenset({80, 443})
_FIRST_UNPRIVILEGED = 1024


def port_refusal(port: int, *, named: bool) -> str | None:
    """Why a port is refused; None if it is allowed.

    ``named``: the user gave this very host and port, which allows a privileged port but never a bad one.
    """
    if port in BAD_PORTS:
        return f"port {port} belongs to another protocol"
    if named or port in _WEB_PORTS or port >= _FIRST_UNPRIVILEGED:
        return None
    return f"port {port} is not used by websites"


_REMEMBERED_ORIGINS = 4096  # a crawl requests the same few hosts again and again
_METADATA_NAMES = frozenset({"metadata.google.internal"})


def open_host_for(seed_url: str) -> tuple[str, int] | None:
    """The host and port that a seed allows by naming ``localhost`` or a private address literally."""
    target = parse_target(seed_url)
    if target is None:
        return None
    host = _plain(target.host)
    address = parse_address(host)
    special = special_purpose(address) if address is not None else None
    opens = host == "localhost" or (special is not None and special.openable)
    return (host, target.port) if opens else None


class AddressGuard:
    """Every check returns the reason for a refusal, or None."""

    def __init__(self, network: NetworkPolicy) -> None:
        self._allow_private = network.allow_private
        self._opened = frozenset((_plain(host), port) for host, port in network.open_hosts)
        self._check_origin = lru_cache(_REMEMBERED_ORIGINS)(self._check_unresolved)
        self._check_peer = lru_cache(_REMEMBERED_ORIGINS)(self.check)
        self._pinned: dict[tuple[str, int], list[Address]] = {}
        for host, port, text in network.resolve:
            self._pinned.setdefault((_plain(host), port), []).append(_pinned_address(host, port, text))

    def check_target(self, target: Target) -> str | None:
        """Before resolution: port, forbidden names and literal addresses."""
        return self._check_origin(target.host, target.port)

    def check(self, host: str, port: int, address: str) -> str | None:
        """An address to connect to for this host and port."""
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
        """The address that a response came from, as a last check. Cached: a crawl has few of them."""
        return self._check_peer(host, port, address)

    def pinned(self, host: str, port: int) -> tuple[str, ...]:
        """The addresses that the user gave for this host and port."""
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
        # A literal allows only itself, ``localhost`` only this machine.
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
    """Names what the URL contains, never the address behind a name: the reader of our messages may not be the
    owner of the network."""
    literal = parse_address(host) is not None
    return f"{address} is {special.words}" if literal else f"{host} resolves to {special.words}"
