"""When a page has come to rest: nothing asked for, nothing on its way, nothing changing.

That is counted in looks at the page and not in seconds alone. A look needs everybody who could be about to
move something (the page's own timers and frames, the browser, its driver and us), so on a busy machine looks
take longer, and so does the silence that counts as rest.
"""

import asyncio

from playwright.async_api import JSHandle, Page

from sumi.fetch.browser.page_scripts import LOOK, WATCH
from sumi.fetch.browser.traffic import Traffic

_LOOK_MS = 100  # between two looks
_FRAME_MS = 1000  # for a frame of a page that is not drawn
# Half a second on a machine that has nothing else to do: as long a silence as browsers' own tools call idle.
_STILL_LOOKS = 5


async def comes_to_rest(page: Page, traffic: Traffic, most: float, restless: float) -> bool:
    """False after ``most`` seconds, or after ``restless`` in which it only changed and asked for nothing."""
    try:
        async with asyncio.timeout(most):
            watch = await page.evaluate_handle(WATCH)
            return await _rests(watch, traffic, restless)
    except TimeoutError:
        return False


async def _rests(watch: JSHandle, traffic: Traffic, restless: float) -> bool:
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
