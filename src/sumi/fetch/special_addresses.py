"""Addresses that a crawler has no business dialling, and why.

The table holds the IANA special-purpose registries of both families, multicast, and the addresses at which
cloud providers serve metadata to whoever asks from inside. It is ours rather than ``ipaddress.is_global``,
whose answer changes with the Python release. What a table cannot hold, IPv4 wrapped in IPv6, is unwrapped
and judged again.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple, TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network


class Special(NamedTuple):
    """Why an address is refused, and whether the user may open it."""

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
    """An IP literal, in brackets or not, its zone dropped; None if it is none."""
    bare = text.removeprefix("[").removesuffix("]").partition("%")[0]
    try:
        return ip_address(bare)
    except ValueError:
        return None


def special_purpose(address: Address) -> Special | None:
    """Why this address is not an ordinary public one; None if it is."""
    if isinstance(address, IPv4Address):
        return _from_table(address)
    if address in _MAPPED:
        # The kernel dials the IPv4 address itself, so its verdict holds as it is.
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
    """The IPv4 addresses that a translator would find in this one."""
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
