"""How long a page is given to become what its reader would see: the meaning of fast, balanced, thorough."""

import asyncio
from contextlib import suppress

from playwright.async_api import Page
from playwright.async_api import TimeoutError as WaitedInVain

from sumi.fetch.browser.snapshot import DOM_QUIET, HEIGHT, SCROLL
from sumi.fetch.browser.traffic import Traffic
from sumi.policy import RenderMode, RenderPolicy

# As long a silence as browsers' own tools call idle.
_NETWORK_QUIET = 0.5
_DOM_QUIET_MS = 100
_DOM_MOST_MS = 2000
_SCREEN_MS = 60  # between two screens: time for what watches the scrolling to notice
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


async def go(page: Page, url: str, mode: RenderMode, patience: Patience, leaving: asyncio.Event) -> None:
    """Open the page. One that never finishes loading is taken as far as it came, and so is one whose script
    wants to be ``leaving``: it was kept from it, so it would not finish."""
    opening = asyncio.create_task(_open(page, url, mode, patience))
    departure = asyncio.create_task(leaving.wait())
    try:
        await asyncio.wait((opening, departure), return_when=asyncio.FIRST_COMPLETED)
        if opening.done():
            opening.result()
    finally:
        for task in (opening, departure):
            task.cancel()
        await asyncio.gather(opening, departure, return_exceptions=True)


async def _open(page: Page, url: str, mode: RenderMode, patience: Patience) -> None:
    with suppress(WaitedInVain):
        if mode is RenderMode.FAST:
            await page.goto(url, wait_until="domcontentloaded", timeout=patience.left_ms)
        else:
            await page.goto(url, wait_until="load", timeout=patience.left_ms)


async def settle(page: Page, traffic: Traffic, policy: RenderPolicy, patience: Patience) -> str:
    """Wait as the mode says. Returns what was waited for in vain, in words; "" if all came."""
    if policy.mode is not RenderMode.FAST:
        await _quiet(page, traffic, min(policy.idle, patience.left))
    missing = [selector for selector in policy.wait_for if not await _came(page, selector, policy, patience)]
    cut = ""
    if policy.mode is RenderMode.THOROUGH:
        cut = await _scroll(page, traffic, policy, patience)
    never = "; ".join(f"nothing matched {selector!r}" for selector in missing)
    return "; ".join(filter(None, (never, cut)))


async def _quiet(page: Page, traffic: Traffic, most: float) -> None:
    await traffic.silence(_NETWORK_QUIET, most)
    await page.evaluate(DOM_QUIET, [_DOM_QUIET_MS, min(_DOM_MOST_MS, most * 1000)])


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
        taken, height = await page.evaluate(SCROLL, [left, _SCREEN_MS])
        left -= taken
        await _quiet(page, traffic, min(policy.idle, patience.left))
        if await page.evaluate(HEIGHT) <= height:
            return ""
    return f"still growing after {policy.screens - left} screens"
