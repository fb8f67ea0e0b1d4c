"""The parts of rendering, joined. Importing this imports Playwright."""

import msgspec

from sumi.fetch.browser.chromium import Chromium, Launcher
from sumi.fetch.browser.fetcher import RenderingFetcher
from sumi.fetch.browser.filtering_proxy import Clients, FilteringProxy
from sumi.fetch.browser.identity import new_identity
from sumi.fetch.browser.pool import TabPool
from sumi.fetch.browser.stage import Stage, set_stage
from sumi.fetch.browser.tab import Tab
from sumi.fetch.http import HttpFetcher
from sumi.policy import FetchLimits, NetworkPolicy, RenderPolicy
from sumi.ports import Clock, Fetcher


def browser_behind(
    http: Fetcher, path: str, policy: RenderPolicy, limits: FetchLimits, network: NetworkPolicy, clock: Clock
) -> RenderingFetcher:
    anonymous = msgspec.structs.replace(network, cookies=False, credentials=())
    identity = new_identity()
    clients = Clients(own=http, others=HttpFetcher(limits, anonymous, clock))
    proxy = FilteringProxy(clients, limits, identity.context)

    async def stage_in(chromium: Chromium) -> Stage:
        return await set_stage(chromium, proxy, policy, network.user_agent)

    def make_tab(chromium: Chromium) -> Tab:
        return Tab(chromium, stage_in, policy, limits.body_bytes)

    pool = TabPool(policy.tabs, Launcher(path, identity.key_hash), proxy, make_tab)
    return RenderingFetcher(http, policy.mode, pool, clock)
