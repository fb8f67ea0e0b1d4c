"""The way to a target: straight to one of its checked addresses, or through a proxy."""

from functools import lru_cache
from typing import NamedTuple

from sumi.fetch.address_book import Found
from sumi.fetch.target import Target
from sumi.policy import Proxy

_KEPT_LINES = 1024  # one per request otherwise, and a crawl asks the same few hosts again and again
_NOTHING: list[str] = []


class Route(NamedTuple):
    target: Target
    resolve: list[str]  # what curl is to believe about names, in its own notation
    proxy: Proxy | None = None
    connect_to: tuple[str, ...] = ()  # what the proxy is asked to connect to; empty: the name itself

    @property
    def request_target(self) -> str:
        """What the request line names: the path, or to a proxy that is no tunnel the whole URL."""
        url, proxy = self.target.url, self.proxy
        if proxy is not None and not self.connect_to and proxy.scheme != "socks5h" and url[:5] == "http:":
            return url
        return url[url.index("/", len("https://")) :]

    @property
    def proxy_name(self) -> str:
        """For records, so without credentials; empty for a way without a proxy."""
        return "" if self.proxy is None else f"{self.proxy.host}:{self.proxy.port}"

    @property
    def speaks_tls(self) -> bool:
        """Whether what goes over the connection, be it to a proxy, cannot be read on the way."""
        return self.target.url.startswith("https:") or (
            self.proxy is not None and self.proxy.scheme == "https"
        )


def straight(target: Target, found: Found) -> Route:
    return Route(target, _resolve_lines(target.host, target.port, found))


def through(proxy: Proxy, proxy_found: Found, target: Target, found: Found | None) -> Route:
    """``found`` is what we looked up and checked; without it the proxy resolves the name itself."""
    lines = _resolve_lines(proxy.host, proxy.port, proxy_found)
    if found is None or not found.addresses:
        return Route(target, lines, proxy)
    address = _bracketed(found.addresses[0])
    return Route(target, lines, proxy, (f"{target.host}:{target.port}:{address}:{target.port}",))


def _resolve_lines(host: str, port: int, found: Found) -> list[str]:
    return _lines(host, port, found.addresses) if found.addresses else _NOTHING


@lru_cache(_KEPT_LINES)
def _lines(host: str, port: int, addresses: tuple[str, ...]) -> list[str]:
    # The plus lets curl forget the line after a minute; otherwise it would keep every host of a crawl.
    return [f"+{host}:{port}:{','.join(_bracketed(address) for address in addresses)}"]


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
