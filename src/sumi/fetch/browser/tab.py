"""One browser that renders one page at a time, each in a new context, and is watched meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeAlias

from sumi.fetch.browser.chromium import FAILURES, Chromium, first_line_of, means_browser_died
from sumi.fetch.browser.page_context import PageContext
from sumi.fetch.browser.page_scripts import IS_SELECTOR, SCRIPT
from sumi.fetch.browser.waiting import MOVING, Deadline, first_of, go, is_stuck, settle
from sumi.model import Response
from sumi.outcomes import Outcome, Verdict
from sumi.policy import RenderPolicy

_LOOK_SECONDS = 0.25  # between two checks of a browser
_OPEN_SECONDS = 30.0  # to open an empty page
_MIB = 1024 * 1024
# How a navigation ends if the process that was to show the page died before it had anything to show; nothing
# else tells. The document is at hand and pages cannot navigate, so a page is hardly the reason.
_ABORTED = "net::ERR_ABORTED"
# A page may navigate to about:blank or to a URL of its own making without a request.
_WEB = ("http://", "https://")


class Snapshot(NamedTuple):
    html: bytes
    note: str  # what did not happen in time


class Lost(NamedTuple):
    """The browser died, or stopped answering before it got the page. Not the fault of the page."""

    why: str


Seen: TypeAlias = Snapshot | Verdict | Lost


class Tab:
    """``open_context`` prepares the browser for a page; the next page's is opened while one is rendered."""

    def __init__(
        self,
        chromium: Chromium,
        open_context: Callable[[Chromium], Awaitable[PageContext]],
        policy: RenderPolicy,
        most_bytes: int,
    ) -> None:
        self._chromium = chromium
        self._open_context = open_context
        self._policy = policy
        self._most_bytes = most_bytes
        self._rendered = 0
        self._next: asyncio.Task[PageContext] | None = None
        self._clearing: set[asyncio.Task[None]] = set()

    @property
    def is_fit(self) -> bool:
        """Whether it may take another page."""
        return (
            self._chromium.is_running
            and not self._is_worn_out
            and self._chromium.memory <= self._policy.memory
        )

    @property
    def _is_worn_out(self) -> bool:
        return self._rendered >= self._policy.recycle

    async def aclose(self) -> None:
        pending: list[asyncio.Task[PageContext] | asyncio.Task[None]] = [*self._clearing]
        if self._next is not None:
            pending.append(self._next)
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        await self._chromium.aclose()

    async def bad_selector(self) -> str | Lost | None:
        """The first invalid selector of the policy."""
        try:
            return await first_of(self._find_bad_selector(), self._watch_alone())
        except FAILURES as error:
            return Lost(first_line_of(error))

    async def _find_bad_selector(self) -> str | None:
        page = await self._chromium.browser.new_page()
        bad = [one for one in self._policy.wait_for if not await page.evaluate(IS_SELECTOR, one)]
        await page.context.close()
        return bad[0] if bad else None

    async def render(self, document: Response) -> Seen:
        """Whatever happens in the browser costs only this page: a hung browser is killed."""
        self._rendered += 1
        try:
            context: PageContext | Lost = await first_of(self._take_context(), self._watch_alone())
        except FAILURES as error:
            return Lost(f"the browser could not open a page: {first_line_of(error)}")
        if isinstance(context, Lost):
            return context
        try:
            return await first_of(
                self._watch(), self._watch_renderer(context), self._snapshot(context, document)
            )
        except FAILURES as error:
            return self._trouble(error)
        finally:
            clearing = asyncio.create_task(context.clear())
            self._clearing.add(clearing)
            clearing.add_done_callback(self._clearing.discard)

    async def _take_context(self) -> PageContext:
        prepared, self._next = self._next, None
        return await self._open_context(self._chromium) if prepared is None else await prepared

    def _prepare_next(self) -> None:
        if not self._is_worn_out:
            self._next = asyncio.ensure_future(self._open_context(self._chromium))

    async def _snapshot(self, context: PageContext, document: Response) -> Seen:
        page, requests, deadline = context.page, context.requests, Deadline(self._policy)
        context.expect(document)
        loaded = await go(page, document.url, self._policy.mode, deadline, requests.leaving)
        if not loaded and await is_stuck(page, context.traffic):
            return Lost("the browser made no progress on it")
        self._prepare_next()
        note = await settle(page, context.traffic, self._policy, deadline)
        if not page.url.startswith(_WEB):
            return _failed(f"its script left the page for {page.url[:100]}")
        html: str = await page.evaluate(SCRIPT, [self._most_bytes, requests.sent_to])
        encoded = html.encode("utf-8", "replace")
        if len(encoded) > self._most_bytes:
            return _too_large(self._most_bytes)
        return Snapshot(encoded, note or ("" if loaded else MOVING))

    def _trouble(self, error: Exception) -> Seen:
        if "RangeError: too large" in str(error):
            return _too_large(self._most_bytes)
        if means_browser_died(error) or not self._chromium.is_running:
            return Lost("the browser crashed on it")
        if _ABORTED in str(error):
            return Lost("the browser broke off loading it")
        return _failed(f"the browser gave up: {first_line_of(error)}")

    # Each watcher returns when there is nothing left to wait for, and has killed the browser by then.

    async def _watch(self) -> Seen:
        late = _failed(f"not finished within {self._policy.seconds:g} s")
        return await self._watch_for(self._policy.seconds, late)

    async def _watch_alone(self) -> Lost:
        """A browser without a page: whatever goes wrong is its own fault."""
        late = Lost(f"the browser did not open a page within {_OPEN_SECONDS:g} s")
        seen = await self._watch_for(_OPEN_SECONDS, late)
        return seen if isinstance(seen, Lost) else Lost(seen.rule)

    async def _watch_renderer(self, context: PageContext) -> Seen:
        await context.crashed()
        return Lost("the browser's process for it died")

    async def _watch_for(self, seconds: float, late: Lost | Verdict) -> Lost | Verdict:
        end = asyncio.get_running_loop().time() + seconds
        while (fault := self._fault()) is None:
            left = end - asyncio.get_running_loop().time()
            if left <= 0:
                fault = late
                break
            await asyncio.sleep(min(_LOOK_SECONDS, left))
        self._chromium.kill()
        return fault

    def _fault(self) -> Lost | Verdict | None:
        if not self._chromium.is_running:
            return Lost("the browser crashed on it")
        if self._chromium.memory > self._policy.memory:
            return _failed(f"the browser used more than {self._policy.memory // _MIB} MiB for it")
        return None


def _failed(why: str) -> Verdict:
    return Verdict(Outcome.RENDER_FAILED, why)


def _too_large(most: int) -> Verdict:
    return Verdict(Outcome.TOO_LARGE, f"more than {most} bytes after its scripts had run")
