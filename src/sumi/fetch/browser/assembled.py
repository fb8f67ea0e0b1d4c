"""The parts of rendering, joined. Importing this imports Playwright."""

from sumi.fetch.browser.chromium import Chromium, Launcher
from sumi.fetch.browser.fetcher import RenderingFetcher
from sumi.fetch.browser.pool import TabPool
from sumi.fetch.browser.shelf import Shelf
from sumi.fetch.browser.sub_requests import Assistance
from sumi.fetch.browser.tab import Tab
from sumi.fetch.filtering_proxy import FilteringProxy
from sumi.policy import FetchLimits, NetworkPolicy, RenderPolicy
from sumi.ports import Clock, Fetcher


def browser_behind(
    http: Fetcher, path: str, policy: RenderPolicy, limits: FetchLimits, network: NetworkPolicy, clock: Clock
) -> RenderingFetcher:
    proxy = FilteringProxy(limits, network, clock)
    assistance = Assistance(
        http,
        Shelf(),
        confided=frozenset(credential.origin for credential in network.credentials),
        own_authorities=network.ca_file is not None,
    )

    def make_tab(chromium: Chromium) -> Tab:
        return Tab(chromium, proxy, policy, assistance, network.user_agent, limits.body_bytes)

    pool = TabPool(policy.tabs, Launcher(path), proxy, make_tab)
    return RenderingFetcher(http, policy.mode, pool, clock)
