"""How long a page is given to become what its reader would see: the meaning of fast, balanced, thorough."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from playwright.async_api import JSHandle, Page
from playwright.async_api import TimeoutError as WaitedInVain

from sumi.fetch.browser.page_scripts import HEIGHT, LOOK, SCROLL, WATCH
from sumi.fetch.browser.stage import Traffic
from sumi.policy import RenderMode, RenderPolicy

_Result = TypeVar("_Result")


async def first_of(*works: Coroutine[Any, Any, _Result]) -> _Result:
    """What the first to end returned or raised; of those that end together, the first as named."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task for task in tasks if task.done()).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


_LOOK_MS = 100  # between two looks
_FRAME_MS = 1000  # for a frame of a page that is not drawn
# Half a second on a machine that has nothing else to do: as long a silence as browsers' own tools call idle.
_STILL_LOOKS = 5


async def comes_to_rest(page: Page, traffic: Traffic, most: float, restless: float) -> bool:
    """Whether the page comes to rest: nothing asked for, nothing on its way, nothing changing. False after
    ``most`` seconds, or after ``restless`` in which it only changed and asked for nothing.

    That is counted in looks at the page and not in seconds alone. A look needs everything that could be about
    to move something (the page's own timers and frames, the browser, its driver and us), so on a busy machine
    looks take longer, and so does the silence that counts as rest.
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


_RESTLESS = 2.0  # seconds that a page may change without asking for anything; thorough waits for it longer
_ANSWER_SECONDS = 2.0  # for a page that is asked next to nothing
_SCREEN_MS = 1000  # for a screen to be drawn; a page that is drawn at all takes two frames
MOVING = "still changing when its time was up"
_WAITS_SHARE = 2 / 3  # of a page's time; the rest is for writing it down


class Patience:
    """The time for waits that is left of a page."""

    def __init__(self, policy: RenderPolicy) -> None:
        self._end = asyncio.get_running_loop().time() + policy.seconds * _WAITS_SHARE

    @property
    def left(self) -> float:
        return max(0.0, self._end - asyncio.get_running_loop().time())

    @property
    def left_ms(self) -> float:
        # To the browser's tools 0 means for ever.
        return max(1.0, self.left * 1000)


async def go(page: Page, url: str, mode: RenderMode, patience: Patience, leaving: asyncio.Event) -> bool:
    """Open the page. False if it did not finish loading: then it is taken as far as it came. So is one whose
    script wants to be ``leaving``: it was kept from it, so it would not finish."""
    return await first_of(_open(page, url, mode, patience), leaving.wait())


async def is_stuck(page: Page, traffic: Traffic) -> bool:
    """Whether a page that did not finish loading waits for nobody but its browser."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            return traffic.is_silent and await page.evaluate("document.readyState") == "loading"
    except TimeoutError:
        return False  # its scripts are at work


async def _open(page: Page, url: str, mode: RenderMode, patience: Patience) -> bool:
    try:
        if mode is RenderMode.FAST:
            await page.goto(url, wait_until="domcontentloaded", timeout=patience.left_ms)
        else:
            await page.goto(url, wait_until="load", timeout=patience.left_ms)
    except WaitedInVain:
        return False
    return True


async def settle(page: Page, traffic: Traffic, policy: RenderPolicy, patience: Patience) -> str:
    """Wait as the mode says. Returns what was waited for in vain, in words; "" if all came."""
    rested = policy.mode is RenderMode.FAST or await _rests(page, traffic, policy, patience)
    missing = [selector for selector in policy.wait_for if not await _came(page, selector, policy, patience)]
    never = [f"nothing matched {selector!r}" for selector in missing]
    if policy.mode is RenderMode.THOROUGH:
        last = await _scroll(page, traffic, policy, patience)
    else:
        last = "" if rested else MOVING
    return "; ".join(filter(None, (*never, last)))


async def _rests(page: Page, traffic: Traffic, policy: RenderPolicy, patience: Patience) -> bool:
    most = min(policy.idle, patience.left)
    thorough = policy.mode is RenderMode.THOROUGH
    return await comes_to_rest(page, traffic, most, most if thorough else min(most, _RESTLESS))


async def _came(page: Page, selector: str, policy: RenderPolicy, patience: Patience) -> bool:
    try:
        most = max(1.0, min(policy.idle * 1000, patience.left_ms))
        await page.wait_for_selector(f"css={selector}", state="attached", timeout=most)
    except WaitedInVain:
        return False
    return True


async def _scroll(page: Page, traffic: Traffic, policy: RenderPolicy, patience: Patience) -> str:
    """Down to the end, and on for as long as the page grows by it, within bounds."""
    left = policy.screens
    while left > 0 and patience.left:
        try:
            async with asyncio.timeout(patience.left + _ANSWER_SECONDS):
                taken, height = await page.evaluate(SCROLL, [left, _SCREEN_MS, patience.left_ms])
        except TimeoutError:
            return MOVING
        left -= taken
        most = min(patience.left, max(policy.idle, patience.left / 2))  # there may be more to scroll to
        rested = await comes_to_rest(page, traffic, most, most)
        if await page.evaluate(HEIGHT) <= height:
            return "" if rested else MOVING
    return f"still growing after {policy.screens - left} screens" if left < policy.screens else MOVING
