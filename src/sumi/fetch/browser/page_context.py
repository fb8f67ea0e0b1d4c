"""A new browser context with an empty page, ready for a document that may not be known yet.

Opening and closing one takes a good part of the time of a small page, so both happen while other pages are
rendered.
"""

import asyncio
from contextlib import suppress

from playwright.async_api import BrowserContext, Error, Page, Request, Route
from playwright.async_api import Request as Asked

from sumi.fetch.browser.chromium import FAILURES, Chromium
from sumi.fetch.browser.filtering_proxy import FilteringProxy, Pass, is_tracker
from sumi.fetch.browser.page_scripts import WITHOUT_WEBRTC, fill_storage
from sumi.fetch.target import parse_target
from sumi.model import Response
from sumi.policy import BrowserSession, NetworkPolicy, RenderPolicy


class Traffic:
    """Whether a page's network is busy. The document itself comes from us and does not count."""

    def __init__(self, page: Page) -> None:
        self.moves = 0  # requests begun and ended so far
        self._in_flight = 0
        page.on("request", self._began)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)

    @property
    def is_silent(self) -> bool:
        return self._in_flight == 0

    def _began(self, request: Request) -> None:
        if not request.is_navigation_request():
            self._in_flight += 1
            self.moves += 1

    def _ended(self, request: Request) -> None:
        if not request.is_navigation_request():
            self._in_flight = max(0, self._in_flight - 1)
            self.moves += 1


# These add nothing to the text of a page; an event stream never ends at all.
_UNWANTED = frozenset(
    {
        *("image", "media", "font", "texttrack", "manifest", "ping", "cspviolationreport", "eventsource"),
        "websocket",
    }
)
# Headers that matter to a page or its scripts. Others are about the transfer, or start a download.
_HANDED_OVER = frozenset(
    {
        *("content-type", "content-language", "set-cookie", "last-modified", "etag"),
        "x-content-type-options",
    }
)


class SubRequests:
    """The requests of a page: answered here, passed to the proxy, or refused.

    The document was fetched already and is served from here. Everything else goes through the filtering
    proxy, which also sees what interception does not: the targets of redirects, and the browser's own
    requests. The context may be opened before the document is known.
    """

    def __init__(self, page: Page, most: int) -> None:
        self._page = page
        self._left = most
        self._document: Response | None = None
        self.sent_to: str | None = None  # where a script tried to navigate
        self.leaving = asyncio.Event()  # set when it did

    def expect(self, document: Response) -> None:
        """The response to the next navigation, which is ours."""
        self._document = document

    async def handle(self, route: Route) -> None:
        try:
            await self._decide(route, route.request)
        except FAILURES:
            return  # the page is gone

    async def _decide(self, route: Route, asked: Asked) -> None:
        if asked.is_navigation_request():
            await self._navigate(route, asked)
            return
        target = parse_target(asked.url)
        self._left -= 1
        if target is None or self._left < 0 or asked.resource_type in _UNWANTED or is_tracker(target.host):
            await route.abort("blockedbyclient")
            return
        await route.continue_()

    async def _navigate(self, route: Route, asked: Asked) -> None:
        """The first one is the document. Frames are refused. Where a script navigates is recorded, not
        followed: it is a URL like any other, for the gate and the frontier."""
        if self._document is not None:
            document, self._document = self._document, None
            await _hand_over(route, document)
            return
        if self._is_main_frame(asked) and asked.method == "GET":
            self.sent_to = asked.url
        await route.abort("aborted")
        if self.sent_to is not None:
            self.leaving.set()

    def _is_main_frame(self, asked: Asked) -> bool:
        try:
            return asked.frame == self._page.main_frame
        except Error:  # a frame that does not exist yet
            return False


async def _hand_over(route: Route, response: Response) -> None:
    headers: dict[str, str] = {}
    for name, value in response.headers:
        if name in _HANDED_OVER:
            # The driver reads several lines in a value as repetitions of the header.
            headers[name] = f"{headers[name]}\n{value}" if name in headers else value
    await route.fulfill(status=response.status, headers=headers, body=response.body)


_CLOSE_SECONDS = 5.0  # a browser that takes longer is killed elsewhere


class PageContext:
    def __init__(self, page: Page, requests: SubRequests, held: Pass, proxy: FilteringProxy) -> None:
        self.page = page
        self.requests = requests
        self.traffic = Traffic(page)
        self._held = held
        self._proxy = proxy
        self._crashed = asyncio.Event()
        page.on("crash", lambda _: self._crashed.set())

    async def crashed(self) -> None:
        """Wait until the renderer of the page dies, perhaps endlessly."""
        await self._crashed.wait()

    def expect(self, document: Response) -> None:
        target = parse_target(document.url)
        self._held.origin = None if target is None else target.origin
        self.requests.expect(document)

    async def clear(self) -> None:
        """Cut off the page's network first, then close the context."""
        await self._proxy.revoke(self._held)
        with suppress(*FAILURES, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.page.context.close()


async def open_context(
    chromium: Chromium, proxy: FilteringProxy, policy: RenderPolicy, network: NetworkPolicy
) -> PageContext:
    held = proxy.issue(policy.sub_bytes)
    try:
        context = await chromium.browser.new_context(
            user_agent=network.user_agent,
            service_workers="block",
            accept_downloads=False,
            proxy={"server": proxy.url, "username": held.name, "password": held.secret},
        )
        page, requests = await _prepare(context, policy, network.session)
    except BaseException:  # cancelled or failed: revoke the pass; the context goes with its browser
        await proxy.revoke(held)
        raise
    return PageContext(page, requests, held, proxy)


async def _prepare(
    context: BrowserContext, policy: RenderPolicy, session: BrowserSession | None
) -> tuple[Page, SubRequests]:
    await context.add_init_script(WITHOUT_WEBRTC)
    for origin, items in () if session is None else session.storage:
        await context.add_init_script(fill_storage(origin, items.reveal()))
    page = await context.new_page()
    page.on("popup", _dismiss)
    requests = SubRequests(page, policy.sub_requests)
    await context.route("**/*", requests.handle)
    return page, requests


async def _dismiss(page: Page) -> None:
    with suppress(*FAILURES):
        await page.close()
