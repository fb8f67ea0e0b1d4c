"""One browser that renders one page at a time, each in a context without a past, and is watched meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

from playwright.async_api import BrowserContext, Error, Page, WebSocketRoute

from sumi.fetch.browser.chromium import Chromium
from sumi.fetch.browser.snapshot import IS_SELECTOR, SCRIPT, WITHOUT_WEBRTC
from sumi.fetch.browser.sub_requests import Assistance, SubRequests
from sumi.fetch.browser.traffic import Traffic
from sumi.fetch.browser.waiting import Patience, go, settle
from sumi.fetch.filtering_proxy import FilteringProxy, Pass
from sumi.model import Response
from sumi.outcomes import Outcome, Verdict
from sumi.policy import RenderPolicy

_LOOK_SECONDS = 0.25  # between two looks at a browser's memory
_MIB = 1024 * 1024


class Snapshot(NamedTuple):
    html: bytes
    note: str  # what was waited for in vain


class Tab:
    def __init__(
        self,
        chromium: Chromium,
        proxy: FilteringProxy,
        policy: RenderPolicy,
        assistance: Assistance,
        user_agent: str,
        most_bytes: int,
    ) -> None:
        self._chromium = chromium
        self._proxy = proxy
        self._policy = policy
        self._assistance = assistance
        self._user_agent = user_agent
        self._most_bytes = most_bytes
        self._rendered = 0
        self._swollen = False

    @property
    def is_fit(self) -> bool:
        """Whether it may take another page."""
        return (
            self._chromium.is_running
            and self._rendered < self._policy.recycle
            and self._chromium.memory <= self._policy.memory
        )

    async def aclose(self) -> None:
        await self._chromium.aclose()

    async def bad_selector(self) -> str | None:
        """The first of the policy's selectors that is none."""
        page = await self._chromium.browser.new_page()
        try:
            for selector in self._policy.wait_for:
                if not await page.evaluate(IS_SELECTOR, selector):
                    return selector
        finally:
            await page.context.close()
        return None

    async def render(self, document: Response) -> Snapshot | Verdict:
        """Whatever happens in the browser costs this page and no other: a hung one is ended."""
        self._rendered += 1
        watch = asyncio.create_task(self._watch_memory())
        try:
            async with asyncio.timeout(self._policy.seconds):
                return await self._render(document)
        except TimeoutError:
            self._chromium.kill()
            return _failed(f"no end of it within {self._policy.seconds:g} s")
        except Error as error:
            return self._trouble(error)
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)

    async def _render(self, document: Response) -> Snapshot | Verdict:
        issued = self._proxy.issue(self._policy.sub_bytes)
        try:
            async with self._context(issued) as context:
                return await self._photograph(await context.new_page(), document)
        finally:
            await self._proxy.revoke(issued)

    @asynccontextmanager
    async def _context(self, issued: Pass) -> AsyncIterator[BrowserContext]:
        context = await self._chromium.browser.new_context(
            user_agent=self._user_agent,
            service_workers="block",
            accept_downloads=False,
            proxy={"server": self._proxy.url, "username": issued.name, "password": issued.secret},
        )
        try:
            await context.add_init_script(WITHOUT_WEBRTC)
            await context.route_web_socket("**/*", _hang_up)
            yield context
        finally:
            with suppress(Error):
                await context.close()

    async def _photograph(self, page: Page, document: Response) -> Snapshot | Verdict:
        requests = SubRequests(page, document, self._policy.sub_requests, self._assistance)
        page.on("popup", _dismiss)
        await page.context.route("**/*", requests.handle)
        traffic, patience = Traffic(page), Patience(self._policy)
        await go(page, document.url, self._policy.mode, patience, requests.leaving)
        note = await settle(page, traffic, self._policy, patience)
        html: str = await page.evaluate(SCRIPT, [self._most_bytes, requests.sent_to])
        encoded = html.encode("utf-8", "replace")
        if len(encoded) > self._most_bytes:
            return _too_large(self._most_bytes)
        return Snapshot(encoded, note)

    def _trouble(self, error: Error) -> Verdict:
        if self._swollen:
            return _failed(f"the browser took more than {self._policy.memory // _MIB} MiB for it")
        if "RangeError: too large" in error.message:
            return _too_large(self._most_bytes)
        if "crash" in error.message.lower() or not self._chromium.is_running:
            return _failed("the browser crashed over it")
        return _failed(f"the browser gave up: {error.message.splitlines()[0][:200]}")

    async def _watch_memory(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if self._chromium.memory > self._policy.memory:
                self._swollen = True
                self._chromium.kill()
                return


async def _hang_up(socket: WebSocketRoute) -> None:
    """Without an answer it would wait; closed at once, a page goes on as it does when it is offline."""
    with suppress(Error):
        await socket.close()


async def _dismiss(page: Page) -> None:
    with suppress(Error):
        await page.close()


def _failed(why: str) -> Verdict:
    return Verdict(Outcome.RENDER_FAILED, why)


def _too_large(most: int) -> Verdict:
    return Verdict(Outcome.TOO_LARGE, f"more than {most} bytes after its scripts had run")
