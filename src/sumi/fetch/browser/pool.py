"""As many browsers as pages may be rendered at once; each is replaced when it is worn out, too large or dead.

A browser that dies counts neither against the page nor its host: the page, which was fetched already, goes to
the next browser. Only a page on which several browsers die in a row is blamed for it.
"""

import asyncio
from collections.abc import Callable

from sumi.errors import BrowserUnavailable, UsageError
from sumi.fetch.browser.chromium import Chromium, Launcher
from sumi.fetch.browser.filtering_proxy import FilteringProxy
from sumi.fetch.browser.tab import Lost, Snapshot, Tab
from sumi.model import Response
from sumi.outcomes import Outcome, Verdict

_BROWSERS_PER_PAGE = 4
_STARTS = 4  # attempts in a row
_PAUSE_SECONDS = 0.5  # after the first failed start; doubles


class TabPool:
    """Browsers start with the first page. ``make_tab`` wraps a browser in a tab."""

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
