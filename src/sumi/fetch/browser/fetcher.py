"""A Fetcher that renders pages in a browser. The document itself is fetched by the HTTP client.

So redirects, errors, limits, pacing and credentials work as without a browser, and a page is requested once.
"""

import msgspec

from sumi.fetch.browser.chromium import Chromium, Launcher
from sumi.fetch.browser.filtering_proxy import Clients, FilteringProxy, new_identity
from sumi.fetch.browser.page_context import PageContext, open_context
from sumi.fetch.browser.pool import TabPool
from sumi.fetch.browser.tab import Snapshot, Tab
from sumi.fetch.http import HttpFetcher
from sumi.model import Request, Response, Timing
from sumi.outcomes import Trouble
from sumi.parse.page.javascript import needs_javascript
from sumi.parse.page.media_type import Form, form_of
from sumi.policy import FetchLimits, NetworkPolicy, RenderMode, RenderPolicy
from sumi.ports import Clock, Fetcher

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
        return await open_context(chromium, proxy, policy, network.user_agent)

    def make_tab(chromium: Chromium) -> Tab:
        return Tab(chromium, context_in, policy, limits.body_bytes)

    pool = TabPool(policy.tabs, Launcher(path, identity.key_hash), proxy, make_tab)
    return RenderingFetcher(http, policy.mode, pool, clock)
