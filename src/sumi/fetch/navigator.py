"""Finds the way to a target and nothing forbidden: resolution, checks and the choice of a proxy."""

from typing import NamedTuple

from sumi.fetch.address_book import AddressBook, Found
from sumi.fetch.guard import AddressGuard
from sumi.fetch.resolver import Resolver
from sumi.fetch.route import Route, straight, through
from sumi.fetch.target import Target
from sumi.outcomes import Outcome, Verdict
from sumi.policy import NetworkPolicy
from sumi.ports import Clock, ProxyClient


class _NoChecks:
    """For proxies: the user named them, and may well run one on this machine."""

    def check(self, host: str, port: int, address: str) -> str | None:
        return None

    def pinned(self, host: str, port: int) -> tuple[str, ...]:
        return ()


class ProxyLost(NamedTuple):
    """The proxy whose turn it was has no address."""

    verdict: Verdict


class Navigator:
    def __init__(
        self,
        network: NetworkPolicy,
        guard: AddressGuard,
        resolver: Resolver,
        proxies: ProxyClient | None,
        clock: Clock,
    ) -> None:
        self._trust_proxy_dns = network.trust_proxy_dns
        self._proxies = proxies
        self._sites = AddressBook(resolver, guard, clock)
        self._relays = AddressBook(resolver, _NoChecks(), clock)

    def known_route(self, target: Target) -> Route | None:
        """The usual case, without waiting: straight to a host that was found before."""
        found = self._sites.known(target.host, target.port) if self._proxies is None else None
        return None if found is None else straight(target, found)

    async def find_route(self, target: Target) -> Route | Verdict | ProxyLost:
        """The caller has checked the target itself: its port, its name, a literal address."""
        if self._proxies is not None:
            return await self._by_proxy(target, self._proxies)
        found = await self._sites.find(target.host, target.port)
        return found if isinstance(found, Verdict) else straight(target, found)

    async def aclose(self) -> None:
        await self._sites.aclose()
        await self._relays.aclose()

    async def _by_proxy(self, target: Target, proxies: ProxyClient) -> Route | Verdict | ProxyLost:
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
