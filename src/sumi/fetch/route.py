"""The route to a target: directly to one of its checked addresses, or through a proxy that is not at rest."""

from collections import OrderedDict
from functools import lru_cache
from typing import NamedTuple

from sumi.fetch.guard import AddressGuard, parse_address
from sumi.fetch.resolver import AddressBook, Found, Resolver
from sumi.fetch.target import Target
from sumi.outcomes import Outcome, Verdict
from sumi.policy import NetworkPolicy, Proxy
from sumi.ports import Clock

_FAILURES = 3  # in a row, after which a proxy rests
_FIRST_REST = 60.0  # seconds; doubles with every further failure
_LONGEST_REST = 3600.0
_STICKY_HOSTS = 10_000


class _Health:
    __slots__ = ("failures", "patience", "rest", "rests_until")

    def __init__(self) -> None:
        self.rests_until = 0.0
        self.recover()

    def recover(self) -> None:
        self.failures = 0  # in a row
        self.patience = _FAILURES
        self.rest = _FIRST_REST

    def fail(self, now: float) -> None:
        self.failures += 1
        if self.failures < self.patience:
            return
        self.rests_until = now + self.rest
        self.rest = min(self.rest * 2, _LONGEST_REST)
        self.failures = 0
        self.patience = 1  # after its rest, one more failure is enough


class ProxyRotation:
    """Round robin over the proxies that are not resting; a host stays with a proxy that works."""

    def __init__(self, proxies: tuple[Proxy, ...], clock: Clock) -> None:
        self._clock = clock
        self._health = {proxy: _Health() for proxy in proxies}
        self._turns = list(self._health)  # next one first
        self._sticky: OrderedDict[str, Proxy] = OrderedDict()

    def choose(self, host: str) -> Proxy:
        kept = self._sticky.get(host)
        if kept is None or not self._is_well(kept):
            kept = self._sticky[host] = self._next()
        self._sticky.move_to_end(host)
        if len(self._sticky) > _STICKY_HOSTS:
            self._sticky.popitem(last=False)
        return kept

    def report(self, proxy: Proxy, *, ok: bool) -> None:
        """``ok``: the proxy did its part, whatever the site behind it answered."""
        if ok:
            self._health[proxy].recover()
        else:
            self._health[proxy].fail(self._clock.now())
            self._to_the_end(proxy)

    def _is_well(self, proxy: Proxy) -> bool:
        health = self._health[proxy]
        return not health.failures and health.rests_until <= self._clock.now()

    def _next(self) -> Proxy:
        """The one whose turn it is; if all rest, the one that is back first."""
        now = self._clock.now()
        chosen = min(self._turns, key=lambda proxy: max(0.0, self._health[proxy].rests_until - now))
        self._to_the_end(chosen)
        return chosen

    def _to_the_end(self, proxy: Proxy) -> None:
        self._turns.remove(proxy)
        self._turns.append(proxy)


_KEPT_LINES = 1024  # a crawl requests the same few hosts again and again
_NOTHING: list[str] = []


class Route(NamedTuple):
    target: Target
    resolve: list[str]  # addresses for curl, in the notation of CURLOPT_RESOLVE
    proxy: Proxy | None = None
    connect_to: tuple[str, ...] = ()  # what the proxy connects to; empty: the name itself

    @property
    def request_target(self) -> str:
        """The target in the request line: the path, or the whole URL for a proxy without a tunnel."""
        url, proxy = self.target.url, self.proxy
        if proxy is not None and not self.connect_to and proxy.scheme != "socks5h" and url[:5] == "http:":
            return url
        return url[url.index("/", len("https://")) :]

    @property
    def proxy_name(self) -> str:
        """For records, so without credentials; empty without a proxy."""
        return "" if self.proxy is None else f"{self.proxy.host}:{self.proxy.port}"

    @property
    def speaks_tls(self) -> bool:
        """Whether the connection, or the one to the proxy, is encrypted."""
        return self.target.url.startswith("https:") or (
            self.proxy is not None and self.proxy.scheme == "https"
        )


def direct(target: Target, found: Found) -> Route:
    return Route(target, _resolve_lines(target.host, target.port, found))


def through(proxy: Proxy, proxy_found: Found, target: Target, found: Found | None) -> Route:
    """``found``: our own checked resolution; without it the proxy resolves the name."""
    lines = _resolve_lines(proxy.host, proxy.port, proxy_found)
    if found is None or not found.addresses:
        return Route(target, lines, proxy)
    address = _bracketed(found.addresses[0])
    return Route(target, lines, proxy, (f"{target.host}:{target.port}:{address}:{target.port}",))


def _resolve_lines(host: str, port: int, found: Found) -> list[str]:
    return _lines(host, port, found.addresses) if found.addresses else _NOTHING


@lru_cache(_KEPT_LINES)
def _lines(host: str, port: int, addresses: tuple[str, ...]) -> list[str]:
    # The plus lets curl drop the entry after a minute; otherwise it would keep every host of a crawl.
    return [f"+{host}:{port}:{','.join(_bracketed(address) for address in addresses)}"]


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


class _NoChecks:
    """For proxies: the user named them, and may run one on this machine."""

    def check(self, host: str, port: int, address: str) -> str | None:
        return None

    def pinned(self, host: str, port: int) -> tuple[str, ...]:
        return ()


class ProxyLost(NamedTuple):
    """The proxy whose turn it was has no address."""

    verdict: Verdict


class Router:
    """Finds the route to a target: resolution, checks, and the choice of a proxy."""

    def __init__(
        self,
        network: NetworkPolicy,
        guard: AddressGuard,
        resolver: Resolver,
        proxies: ProxyRotation | None,
        clock: Clock,
    ) -> None:
        self._trust_proxy_dns = network.trust_proxy_dns
        self._proxies = proxies
        self._sites = AddressBook(resolver, guard, clock)
        self._relays = AddressBook(resolver, _NoChecks(), clock)

    def known_route(self, target: Target) -> Route | None:
        """The usual case, without waiting: directly to a host that was resolved before."""
        found = self._sites.known(target.host, target.port) if self._proxies is None else None
        return None if found is None else direct(target, found)

    async def find_route(self, target: Target) -> Route | Verdict | ProxyLost:
        """The caller has checked the target itself: its port, its name, a literal address."""
        if self._proxies is not None:
            return await self._by_proxy(target, self._proxies)
        found = await self._sites.find(target.host, target.port)
        return found if isinstance(found, Verdict) else direct(target, found)

    async def address_of(self, target: Target) -> str | None:
        """The lowest of several addresses, so that the name server's order does not matter."""
        if self._proxies is not None and self._trust_proxy_dns:
            return None
        found = await self._sites.find(target.host, target.port)
        if isinstance(found, Verdict):
            return None
        known = [address for text in found.addresses or (target.host,) if (address := parse_address(text))]
        return str(min(known, key=lambda address: (address.version, int(address)), default="")) or None

    async def aclose(self) -> None:
        await self._sites.aclose()
        await self._relays.aclose()

    async def _by_proxy(self, target: Target, proxies: ProxyRotation) -> Route | Verdict | ProxyLost:
        found: Found | None = None
        if not self._trust_proxy_dns:
            looked_up = await self._sites.find(target.host, target.port)
            if isinstance(looked_up, Verdict):
                return looked_up
            found = looked_up
        proxy = proxies.choose(target.host)
        proxy_found = await self._relays.find(proxy.host, proxy.port)
        if isinstance(proxy_found, Verdict):
            proxies.report(proxy, ok=False)
            lost = f"the proxy cannot be found: {proxy_found.rule}"
            return ProxyLost(Verdict(Outcome.CONNECT_FAILED, lost))
        return through(proxy, proxy_found, target, found)
