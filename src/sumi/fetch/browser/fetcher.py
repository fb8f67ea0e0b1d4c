"""A Fetcher that renders pages in a browser. The document itself is fetched by the HTTP client.

So redirects, errors, limits, pacing and credentials work as without a browser, and a page is requested once.
"""

import asyncio
from collections.abc import Callable

import msgspec

from sumi.errors import BrowserUnavailable, UsageError
from sumi.fetch.browser.chromium import Chromium, Launcher
from sumi.fetch.browser.filtering_proxy import Clients, FilteringProxy, new_identity
from sumi.fetch.browser.page_context import PageContext, open_context
from sumi.fetch.browser.tab import Lost, Snapshot, Tab
from sumi.fetch.http import HttpFetcher
from sumi.model import Request, Response, Timing
from sumi.outcomes import Outcome, Trouble, Verdict
from sumi.parse.page.javascript import needs_javascript
from sumi.parse.page.media_type import Form, form_of
from sumi.policy import FetchLimits, NetworkPolicy, RenderMode, RenderPolicy
from sumi.ports import Clock, Fetcher

_BROWSERS_PER_PAGE = 4
_STARTS = 4  # attempts in a row
_PAUSE_SECONDS = 0.5  # after the first failed start; doubles


class TabPool:
    """As many browsers as pages may be rendered at once; each is replaced when it is worn out, too large or
    dead. They start with the first page. ``make_tab`` wraps a browser in a tab.

    A browser that dies counts neither against the page nor its host: the page, which was fetched already,
    goes to the next browser. Only a page on which several browsers die in a row is blamed for it.
    """

    def __init__(
        self,
        tabs: int,
        launcher: Launcher,
        proxy: FilteringProxy,
        make_tab: Callable[[Chromium], Tab],
    ) -> None:
        self._places = asyncio.Semaphore(tabs)
        self._launcher = launcher
        self._proxy = proxy
        self._make_tab = make_tab
        self._idle: list[Tab] = []
        self._proven = False  # a browser has started once, so later failures are not about settings

    async def render(self, document: Response) -> Snapshot | Verdict:
        """Raises UsageError if no browser can be started at all, BrowserUnavailable if none can any more."""
        async with self._places:
            why = ""
            for _ in range(_BROWSERS_PER_PAGE):
                seen = await self._render_once(document)
                if not isinstance(seen, Lost):
                    return seen
                why = seen.why
        return Verdict(Outcome.RENDER_FAILED, f"{why}, {_BROWSERS_PER_PAGE} times in a row")

    async def aclose(self) -> None:
        while self._idle:
            await self._idle.pop().aclose()
        await self._launcher.aclose()
        await self._proxy.aclose()

    async def _render_once(self, document: Response) -> Snapshot | Verdict | Lost:
        tab = await self._take()
        seen: Snapshot | Verdict | Lost | None = None
        try:
            seen = await tab.render(document)
        finally:
            if tab.is_fit and not isinstance(seen, Lost):
                self._idle.append(tab)
            else:
                await tab.aclose()
        return seen

    async def _take(self) -> Tab:
        while self._idle:
            tab = self._idle.pop()
            if tab.is_fit:
                return tab
            await tab.aclose()
        await self._proxy.start()
        why = ""
        for tried in range(_STARTS):
            if tried:
                await asyncio.sleep(_PAUSE_SECONDS * 2 ** (tried - 1))
            started = await self._start()
            if isinstance(started, Tab):
                return started
            why = started
        if self._proven:
            raise BrowserUnavailable(
                f"the browser can no longer be started: {why}; everything is saved, "
                "and the same command continues"
            )
        raise UsageError(
            f"the browser cannot be started: {why}; choose another with --browser, or omit --render"
        )

    async def _start(self) -> Tab | str:
        chromium = await self._launcher.launch(self._proxy.url)
        if isinstance(chromium, str):
            return chromium
        tab = self._make_tab(chromium)
        if self._proven:
            return tab
        bad = await tab.bad_selector()
        if bad is None:
            self._proven = True
            return tab
        await tab.aclose()
        if isinstance(bad, Lost):
            return bad.why
        raise UsageError(f"--wait-for {bad!r} is not a CSS selector")


_HTML = ("content-type", "text/html; charset=utf-8")
# Headers of the unrendered document. Its validators say nothing about what its scripts would fetch now.
_NOT_OF_RENDERED = frozenset({"content-type", "etag", "last-modified"})


class RenderingFetcher:
    def __init__(self, http: Fetcher, mode: RenderMode, pool: TabPool, clock: Clock) -> None:
        self._http = http
        self._mode = mode
        self._pool = pool
        self._clock = clock

    async def fetch(self, request: Request) -> Response | Trouble:
        answer = await self._http.fetch(request)
        if isinstance(answer, Trouble) or request.plain or request.method != "GET":
            return answer
        why = self._why(answer) if _is_page(answer) else ""
        return await self._rendered(answer, why) if why else answer

    async def aclose(self) -> None:
        await self._pool.aclose()
        await self._http.aclose()

    def _why(self, page: Response) -> str:
        if self._mode is not RenderMode.AUTO:
            return self._mode.value
        reason = needs_javascript(page.body)
        return f"auto: {reason}" if reason else ""

    async def _rendered(self, page: Response, why: str) -> Response | Trouble:
        snapshot = await self._pool.render(page)
        timing = Timing(
            page.timing.started, page.timing.reached, max(page.timing.finished, self._clock.now())
        )
        if not isinstance(snapshot, Snapshot):
            return Trouble(snapshot, timing)
        return msgspec.structs.replace(
            page,
            headers=(*((name, value) for name, value in page.headers if name not in _NOT_OF_RENDERED), _HTML),
            body=snapshot.html,
            timing=timing,
            rendered=why,
            render_note=snapshot.note,
        )


def _is_page(answer: Response) -> bool:
    if not 200 <= answer.status < 300:
        return False
    return form_of(answer.header("content-type") or "", answer.body)[0] is Form.HTML


def browser_behind(
    http: Fetcher, path: str, policy: RenderPolicy, limits: FetchLimits, network: NetworkPolicy, clock: Clock
) -> RenderingFetcher:
    anonymous = msgspec.structs.replace(network, cookies=False, credentials=())
    identity = new_identity()
    clients = Clients(own=http, others=HttpFetcher(limits, anonymous, clock))
    proxy = FilteringProxy(clients, limits, identity.context)

    async def context_in(chromium: Chromium) -> PageContext:
        return await open_context(chromium, proxy, policy, network)

    def make_tab(chromium: Chromium) -> Tab:
        return Tab(chromium, context_in, policy, limits.body_bytes)

    pool = TabPool(policy.tabs, Launcher(path, identity.key_hash), proxy, make_tab)
    return RenderingFetcher(http, policy.mode, pool, clock)
