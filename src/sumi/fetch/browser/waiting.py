"""How long to wait for a page to finish: the meaning of fast, balanced and thorough."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from playwright.async_api import JSHandle, Page
from playwright.async_api import TimeoutError as WaitTimeout

from sumi.fetch.browser.page_context import Traffic
from sumi.fetch.browser.page_scripts import HEIGHT, LOOK, SCROLL, WATCH
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
