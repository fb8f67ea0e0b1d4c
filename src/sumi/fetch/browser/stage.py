"""A context without a past and an empty page in it, ready for a document that may not be known yet.

Making one takes a good part of the time that a small page takes, and so does clearing it away: both are done
beside the rendering of other pages.
"""

import asyncio
from contextlib import suppress

from playwright.async_api import BrowserContext, Page

from sumi.fetch.browser.chromium import Chromium
from sumi.fetch.browser.failures import FAILURES
from sumi.fetch.browser.filtering_proxy import FilteringProxy, Pass
from sumi.fetch.browser.page_scripts import WITHOUT_WEBRTC
from sumi.fetch.browser.sub_requests import SubRequests
from sumi.fetch.browser.traffic import Traffic
from sumi.fetch.target import parse_target
from sumi.model import Response
from sumi.policy import RenderPolicy

_CLOSE_SECONDS = 5.0  # a browser that takes longer over it is ill, and somebody else's concern


class Stage:
    def __init__(self, page: Page, requests: SubRequests, held: Pass, proxy: FilteringProxy) -> None:
        self.page = page
        self.requests = requests
        self.traffic = Traffic(page)
        self._held = held
        self._proxy = proxy
        self._crashed = asyncio.Event()
        page.on("crash", lambda _: self._crashed.set())

    async def crash(self) -> None:
        """Returns when the process that shows the page has died, which may be never."""
        await self._crashed.wait()

    def expect(self, document: Response) -> None:
        target = parse_target(document.url)
        self._held.origin = None if target is None else target.origin
        self.requests.expect(document)

    async def clear(self) -> None:
        """First of all, whatever still runs on the page is cut off."""
        await self._proxy.revoke(self._held)
        with suppress(*FAILURES, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.page.context.close()


async def set_stage(
    chromium: Chromium, proxy: FilteringProxy, policy: RenderPolicy, user_agent: str
) -> Stage:
    held = proxy.issue(policy.sub_bytes)
    try:
        context = await chromium.browser.new_context(
            user_agent=user_agent,
            service_workers="block",
            accept_downloads=False,
            proxy={"server": proxy.url, "username": held.name, "password": held.secret},
        )
        page, requests = await _furnished(context, policy)
    except (
        BaseException
    ):  # cancelled or failed: the pass must not outlive it; the context goes with its browser
        await proxy.revoke(held)
        raise
    return Stage(page, requests, held, proxy)


async def _furnished(context: BrowserContext, policy: RenderPolicy) -> tuple[Page, SubRequests]:
    await context.add_init_script(WITHOUT_WEBRTC)
    page = await context.new_page()
    page.on("popup", _dismiss)
    requests = SubRequests(page, policy.sub_requests)
    await context.route("**/*", requests.handle)
    return page, requests


async def _dismiss(page: Page) -> None:
    with suppress(*FAILURES):
        await page.close()
