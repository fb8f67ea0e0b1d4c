"""What an exchange brings along besides the address rules: cookies, credentials, proxies."""

import msgspec

from sumi.fetch.credentials import Credential
from sumi.fetch.proxies import Proxy
from sumi.policy import NetworkPolicy


class Access(NetworkPolicy, frozen=True):
    """A job's way into the network. Everything beyond ``NetworkPolicy`` is off by default."""

    cookies: bool = False  # kept for the run, in memory, sent back where they came from
    credentials: tuple[Credential, ...] = ()
    proxies: tuple[Proxy, ...] = ()
    trust_proxy_dns: bool = False  # the proxy resolves names, so nobody checks where they lead


def access_of(network: NetworkPolicy) -> Access:
    if isinstance(network, Access):
        return network
    return Access(**{name: getattr(network, name) for name in msgspec.structs.asdict(network)})
