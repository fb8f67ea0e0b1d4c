"""As many browsers as pages may be rendered at once; each is replaced when worn out, swollen or dead."""

import asyncio
from collections.abc import Callable

from playwright.async_api import Error

from sumi.errors import UsageError
from sumi.fetch.browser.chromium import Chromium, Launcher
from sumi.fetch.browser.tab import Snapshot, Tab
from sumi.fetch.filtering_proxy import FilteringProxy
from sumi.model import Response
from sumi.outcomes import Outcome, Verdict


class TabPool:
    """Browsers start with the first page. ``make_tab`` puts a tab around a browser."""

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
        self._proven = False  # a browser has started once, so that a later failure is a passing one

    async def render(self, document: Response) -> Snapshot | Verdict:
        """Raises UsageError if browsers cannot be started here at all."""
        async with self._places:
            tab = await self._take()
            if isinstance(tab, Verdict):
                return tab
            try:
                return await tab.render(document)
            finally:
                if tab.is_fit:
                    self._idle.append(tab)
                else:
                    await tab.aclose()

    async def aclose(self) -> None:
        while self._idle:
            await self._idle.pop().aclose()
        await self._launcher.aclose()
        await self._proxy.aclose()

    async def _take(self) -> Tab | Verdict:
        while self._idle:
            tab = self._idle.pop()
            if tab.is_fit:
                return tab
            await tab.aclose()
        await self._proxy.start()
        chromium = await self._launcher.launch(self._proxy.url)
        if isinstance(chromium, str):
            return self._not_started(chromium)
        tab = self._make_tab(chromium)
        if not self._proven:
            await self._prove(tab)
        return tab

    def _not_started(self, why: str) -> Verdict:
        if not self._proven:
            raise UsageError(
                f"the browser cannot be started: {why}; name another one with --browser, "
                "or leave --render out"
            )
        return Verdict(Outcome.RENDER_FAILED, f"a new browser did not start: {why}")

    async def _prove(self, tab: Tab) -> None:
        try:
            bad = await tab.bad_selector()
        except Error as error:
            await tab.aclose()
            self._not_started(error.message.splitlines()[0])
            return
        if bad is not None:
            await tab.aclose()
            raise UsageError(f"--wait-for {bad!r} is not a CSS selector")
        self._proven = True
