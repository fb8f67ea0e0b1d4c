"""What a page makes the browser ask for: handed over, let through to the proxy, or refused.

The page itself came by HTTP already and is handed over here. Anything else goes out through the filtering
proxy, which sees what no interception does: where redirects lead, and what the browser asks for by itself.
"""

import asyncio

from playwright.async_api import Error, Page, Route
from playwright.async_api import Request as Asked

from sumi.fetch.browser.failures import FAILURES
from sumi.fetch.target import parse_target
from sumi.fetch.trackers import is_tracker
from sumi.model import Response

# Nothing of these ends up in the text of a page; a stream of events never ends at all.
_UNWANTED = frozenset(
    {
        *("image", "media", "font", "texttrack", "manifest", "ping", "cspviolationreport", "eventsource"),
        "websocket",
    }
)
# Headers that mean something to a page or its scripts. Others speak of the transfer, or ask for a download.
_HANDED_OVER = frozenset(
    {
        *("content-type", "content-language", "set-cookie", "last-modified", "etag"),
        "x-content-type-options",
    }
)


class SubRequests:
    """Of one page, for whose document the browser may be made ready before it is known."""

    def __init__(self, page: Page, most: int) -> None:
        self._page = page
        self._left = most
        self._document: Response | None = None
        self.sent_to: str | None = None  # where a script wanted to take the reader
        self.leaving = asyncio.Event()  # it did

    def expect(self, document: Response) -> None:
        """What the next navigation, which is ours, is answered with."""
        self._document = document

    async def handle(self, route: Route) -> None:
        try:
            await self._decide(route, route.request)
        except FAILURES:
            return  # the page is gone, and with it whoever asked

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
        """The first one is the page. Frames are left out; a script that leads elsewhere is noted, not
        followed: where it leads is a URL like any other, to be judged and paced."""
        if self._document is not None:
            document, self._document = self._document, None
            await _hand_over(route, document)
            return
        if self._is_of_the_page(asked) and asked.method == "GET":
            self.sent_to = asked.url
        await route.abort("aborted")
        if self.sent_to is not None:
            self.leaving.set()

    def _is_of_the_page(self, asked: Asked) -> bool:
        try:
            return asked.frame == self._page.main_frame
        except Error:  # a frame that does not exist yet is another one
            return False


async def _hand_over(route: Route, response: Response) -> None:
    headers: dict[str, str] = {}
    for name, value in response.headers:
        if name in _HANDED_OVER:
            # The browser's driver takes lines of one value for repetitions of a header.
            headers[name] = f"{headers[name]}\n{value}" if name in headers else value
    await route.fulfill(status=response.status, headers=headers, body=response.body)
