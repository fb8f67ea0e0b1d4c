"""One browser that renders one page at a time, each in a new context, and is watched meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NamedTuple, TypeAlias, TypeVar

from playwright.async_api import JSHandle, Page
from playwright.async_api import TimeoutError as WaitTimeout

from sumi.fetch.browser.chromium import FAILURES, Chromium, first_line_of, means_browser_died
from sumi.fetch.browser.page_context import PageContext, Traffic
from sumi.fetch.browser.page_scripts import HEIGHT, IS_SELECTOR, LOOK, SCRIPT, SCROLL, WATCH
from sumi.model import Response
from sumi.outcomes import Outcome, Verdict
from sumi.policy import RenderMode, RenderPolicy

_Result = TypeVar("_Result")


async def first_of(*works: Coroutine[Any, Any, _Result]) -> _Result:
    """The result or exception of the first to end; of several, the first argument."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task for task in tasks if task.done()).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


_LOOK_MS = 100  # between two checks
_FRAME_MS = 1000  # for a frame of a page that is not drawn
# Half a second on an idle machine, which browsers' own tools call idle too.
_STILL_LOOKS = 5


async def comes_to_rest(page: Page, traffic: Traffic, most: float, restless: float) -> bool:
    """Whether the page comes to rest: no requests and no changes. False after ``most`` seconds, or after
    ``restless`` seconds with changes but without requests.

    Counted in checks of the page rather than in seconds. A check involves everything that could cause a
    change (the page's timers and frames, the browser, its driver and us), so on a busy machine checks take
    longer, and so does the silence that counts as rest.
    """
    try:
        async with asyncio.timeout(most):
            watch = await page.evaluate_handle(WATCH)
            return await _stays_still(watch, traffic, restless)
    except TimeoutError:
        return False


async def _stays_still(watch: JSHandle, traffic: Traffic, restless: float) -> bool:
    now = asyncio.get_running_loop().time
    network = changes = -1
    still, silent_since = 0, now()
    while still < _STILL_LOOKS:
        changed, came = await watch.evaluate(LOOK, [_LOOK_MS, _FRAME_MS])
        is_silent = traffic.is_silent and network == traffic.moves + came
        still = still + 1 if is_silent and changes == changed else 0
        if not is_silent:
            silent_since = now()
        elif not still and now() - silent_since > restless:
            return False
        network, changes = traffic.moves + came, changed
    return True


_RESTLESS = 2.0  # seconds that a page may change without requests; thorough waits longer
_ANSWER_SECONDS = 2.0  # for a trivial call to the page
_SCREEN_MS = 1000  # for a screen to be drawn, which takes two frames
MOVING = "still changing when its time was up"
_WAITS_SHARE = 2 / 3  # of a page's time; the rest is for serializing it


class Deadline:
    """The time that is left for waiting."""

    def __init__(self, policy: RenderPolicy) -> None:
        self._end = asyncio.get_running_loop().time() + policy.seconds * _WAITS_SHARE

    @property
    def left(self) -> float:
        return max(0.0, self._end - asyncio.get_running_loop().time())

    @property
    def left_ms(self) -> float:
        # To Playwright 0 means no limit.
        return max(1.0, self.left * 1000)


async def go(page: Page, url: str, mode: RenderMode, deadline: Deadline, leaving: asyncio.Event) -> bool:
    """Open the page. False if it did not finish loading; then it is used as it is. So is a page whose script
    tries to navigate (``leaving``): it was prevented, so loading would not finish."""
    return await first_of(_open(page, url, mode, deadline), leaving.wait())


async def is_stuck(page: Page, traffic: Traffic) -> bool:
    """Whether a page that did not finish loading waits only for its browser."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            return traffic.is_silent and await page.evaluate("document.readyState") == "loading"
    except TimeoutError:
        return False  # its scripts are at work


async def _open(page: Page, url: str, mode: RenderMode, deadline: Deadline) -> bool:
    try:
        if mode is RenderMode.FAST:
            await page.goto(url, wait_until="domcontentloaded", timeout=deadline.left_ms)
        else:
            await page.goto(url, wait_until="load", timeout=deadline.left_ms)
    except WaitTimeout:
        return False
    return True


async def settle(page: Page, traffic: Traffic, policy: RenderPolicy, deadline: Deadline) -> str:
    """Wait as the mode says. Returns what did not happen in time; "" if everything did."""
    rested = policy.mode is RenderMode.FAST or await _rests(page, traffic, policy, deadline)
    missing = [selector for selector in policy.wait_for if not await _came(page, selector, policy, deadline)]
    never = [f"nothing matched {selector!r}" for selector in missing]
    if policy.mode is RenderMode.THOROUGH:
        last = await _scroll(page, traffic, policy, deadline)
    else:
        last = "" if rested else MOVING
    return "; ".join(filter(None, (*never, last)))


async def _rests(page: Page, traffic: Traffic, policy: RenderPolicy, deadline: Deadline) -> bool:
    most = min(policy.idle, deadline.left)
    thorough = policy.mode is RenderMode.THOROUGH
    return await comes_to_rest(page, traffic, most, most if thorough else min(most, _RESTLESS))


async def _came(page: Page, selector: str, policy: RenderPolicy, deadline: Deadline) -> bool:
    try:
        most = max(1.0, min(policy.idle * 1000, deadline.left_ms))
        await page.wait_for_selector(f"css={selector}", state="attached", timeout=most)
    except WaitTimeout:
        return False
    return True


async def _scroll(page: Page, traffic: Traffic, policy: RenderPolicy, deadline: Deadline) -> str:
    """Scroll to the end, and on while the page grows, within limits."""
    left = policy.screens
    while left > 0 and deadline.left:
        try:
            async with asyncio.timeout(deadline.left + _ANSWER_SECONDS):
                taken, height = await page.evaluate(SCROLL, [left, _SCREEN_MS, deadline.left_ms])
        except TimeoutError:
            return MOVING
        left -= taken
        most = min(deadline.left, max(policy.idle, deadline.left / 2))  # there may be more to scroll to
        rested = await comes_to_rest(page, traffic, most, most)
        if await page.evaluate(HEIGHT) <= height:
            return "" if rested else MOVING
    return f"still growing after {policy.screens - left} screens" if left < policy.screens else MOVING


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
