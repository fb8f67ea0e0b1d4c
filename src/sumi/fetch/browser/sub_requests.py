"""What a page makes the browser ask for: served, fetched by the crawler itself, let through, or refused.

The page itself came by HTTP already and is handed over here. Scripts and style sheets are fetched by the
crawler's own client, so that they can be kept for the next page; so is whatever needs what the user confided
to one origin, for a browser would carry such a header along to wherever a redirect leads. Anything else goes
out through the filtering proxy.
"""

import asyncio
from typing import NamedTuple

from playwright.async_api import Error, Page, Route
from playwright.async_api import Request as Asked

from sumi.fetch.browser.shelf import Shelf
from sumi.fetch.target import Target, parse_target
from sumi.fetch.trackers import is_tracker
from sumi.model import Request, Response
from sumi.outcomes import Trouble
from sumi.ports import Fetcher

_SHELVED = frozenset({"script", "stylesheet"})
# Nothing of these ends up in the text of a page; a stream of events never ends at all.
_UNWANTED = frozenset(
    {
        "image",
        "media",
        "font",
        "texttrack",
        "manifest",
        "ping",
        "cspviolationreport",
        "eventsource",
        "websocket",
    }
)
_NOT_SENT = ("sec-", "proxy-")
_NOT_SENT_EITHER = frozenset(
    {
        "host",
        "referer",
        "connection",
        "cookie",
        "user-agent",
        "accept-encoding",
        "content-length",
        "upgrade-insecure-requests",
    }
)
# Headers that mean something to a page or its scripts. Others speak of the transfer, or ask for a download.
_HANDED_OVER = frozenset(
    {
        *("content-type", "content-language", "set-cookie", "last-modified", "etag"),
        *("access-control-allow-origin", "access-control-allow-credentials", "access-control-expose-headers"),
        *("x-content-type-options", "sourcemap"),
    }
)


class Assistance(NamedTuple):
    """What every page of a run shares."""

    http: Fetcher
    shelf: Shelf
    confided: frozenset[tuple[str, str, int]]  # origins that the user gave headers for
    own_authorities: bool  # the browser does not know whom to trust, so the crawler fetches all it can


class SubRequests:
    def __init__(self, page: Page, document: Response, most: int, assistance: Assistance) -> None:
        self._page = page
        self._document = document
        self._left = most
        self._help = assistance
        self._opened = False
        self.sent_to: str | None = None  # where a script wanted to take the reader
        self.leaving = asyncio.Event()  # it did

    async def handle(self, route: Route) -> None:
        try:
            await self._decide(route, route.request)
        except Error:
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
        answer = await self._fetched(asked, target)
        if answer is None:
            await route.continue_()
        elif isinstance(answer, Trouble):
            await route.abort("failed")
        else:
            await _hand_over(route, answer)

    async def _navigate(self, route: Route, asked: Asked) -> None:
        """The first one is the page. Frames are left out; a script that leads elsewhere is noted, not
        followed: where it leads is a URL like any other, to be judged and paced."""
        if not self._opened:
            self._opened = True
            await _hand_over(route, self._document)
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

    async def _fetched(self, asked: Asked, target: Target) -> Response | Trouble | None:
        """None: the browser is to ask for itself."""
        is_shelved = asked.resource_type in _SHELVED
        ours = is_shelved or target.origin in self._help.confided or self._help.own_authorities
        if asked.method != "GET" or not ours:
            return None
        kept = self._help.shelf.get(target.url) if is_shelved else None
        if kept is not None:
            return kept
        answer = await self._help.http.fetch(Request(target.url, _sent_on(asked.headers), plain=True))
        if isinstance(answer, Trouble):
            return answer
        if is_shelved:
            self._help.shelf.put(target.url, answer)
        # Where a redirect leads decides what relative imports mean, which only the browser can follow up.
        return None if 300 <= answer.status < 400 else answer


def _sent_on(headers: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, value)
        for name, value in headers.items()
        if not name.startswith(_NOT_SENT) and name not in _NOT_SENT_EITHER
    )


async def _hand_over(route: Route, response: Response) -> None:
    headers = {"referrer-policy": "no-referrer"}  # which page led to another is nobody's business
    for name, value in response.headers:
        if name in _HANDED_OVER:
            # The browser's driver takes lines of one value for repetitions of a header.
            headers[name] = f"{headers[name]}\n{value}" if name in headers else value
    await route.fulfill(status=response.status, headers=headers, body=response.body)
