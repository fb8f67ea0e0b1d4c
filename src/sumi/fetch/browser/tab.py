"""One browser that renders one page at a time, each in a context without a past, and is watched meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from playwright.async_api import Error

from sumi.fetch.browser.chromium import Chromium
from sumi.fetch.browser.snapshot import IS_SELECTOR, SCRIPT
from sumi.fetch.browser.stage import Stage
from sumi.fetch.browser.waiting import Patience, go, settle
from sumi.model import Response
from sumi.outcomes import Outcome, Verdict
from sumi.policy import RenderPolicy

_LOOK_SECONDS = 0.25  # between two looks at a browser's memory
_MIB = 1024 * 1024
# A page may leave for about:blank or for something that it made up, without asking anybody.
_WEB = ("http://", "https://")


class Snapshot(NamedTuple):
    html: bytes
    note: str  # what was waited for in vain


class Tab:
    """``set_stage`` makes the browser ready for a page; the next page's is set while one is waited for."""

    def __init__(
        self,
        chromium: Chromium,
        set_stage: Callable[[Chromium], Awaitable[Stage]],
        policy: RenderPolicy,
        most_bytes: int,
    ) -> None:
        self._chromium = chromium
        self._set_stage = set_stage
        self._policy = policy
        self._most_bytes = most_bytes
        self._rendered = 0
        self._swollen = False
        self._next: asyncio.Task[Stage] | None = None
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
        pending: list[asyncio.Task[Stage] | asyncio.Task[None]] = [*self._clearing]
        if self._next is not None:
            pending.append(self._next)
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        await self._chromium.aclose()

    async def bad_selector(self) -> str | None:
        """The first of the policy's selectors that is none."""
        page = await self._chromium.browser.new_page()
        try:
            for selector in self._policy.wait_for:
                if not await page.evaluate(IS_SELECTOR, selector):
                    return selector
        finally:
            await page.context.close()
        return None

    async def render(self, document: Response) -> Snapshot | Verdict:
        """Whatever happens in the browser costs this page and no other: a hung one is ended."""
        self._rendered += 1
        watch = asyncio.create_task(self._watch_memory())
        try:
            async with asyncio.timeout(self._policy.seconds):
                return await self._render(document)
        except TimeoutError:
            self._chromium.kill()
            return _failed(f"no end of it within {self._policy.seconds:g} s")
        except Error as error:
            return self._trouble(error)
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)

    async def _render(self, document: Response) -> Snapshot | Verdict:
        stage = await self._take_stage()
        try:
            return await self._photograph(stage, document)
        finally:
            clearing = asyncio.create_task(stage.clear())
            self._clearing.add(clearing)
            clearing.add_done_callback(self._clearing.discard)

    async def _take_stage(self) -> Stage:
        prepared, self._next = self._next, None
        return await self._set_stage(self._chromium) if prepared is None else await prepared

    def _prepare_next(self) -> None:
        if not self._is_worn_out:
            self._next = asyncio.ensure_future(self._set_stage(self._chromium))

    async def _photograph(self, stage: Stage, document: Response) -> Snapshot | Verdict:
        page, requests, patience = stage.page, stage.requests, Patience(self._policy)
        stage.expect(document)
        await go(page, document.url, self._policy.mode, patience, requests.leaving)
        self._prepare_next()
        note = await settle(page, stage.traffic, self._policy, patience)
        if not page.url.startswith(_WEB):
            return _failed(f"its script left the page for {page.url[:100]}")
        html: str = await page.evaluate(SCRIPT, [self._most_bytes, requests.sent_to])
        encoded = html.encode("utf-8", "replace")
        if len(encoded) > self._most_bytes:
            return _too_large(self._most_bytes)
        return Snapshot(encoded, note)

    def _trouble(self, error: Error) -> Verdict:
        if self._swollen:
            return _failed(f"the browser took more than {self._policy.memory // _MIB} MiB for it")
        if "RangeError: too large" in error.message:
            return _too_large(self._most_bytes)
        if "crash" in error.message.lower() or not self._chromium.is_running:
            return _failed("the browser crashed over it")
        return _failed(f"the browser gave up: {error.message.splitlines()[0][:200]}")

    async def _watch_memory(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if self._chromium.memory > self._policy.memory:
                self._swollen = True
                self._chromium.kill()
                return


def _failed(why: str) -> Verdict:
    return Verdict(Outcome.RENDER_FAILED, why)


def _too_large(most: int) -> Verdict:
    return Verdict(Outcome.TOO_LARGE, f"more than {most} bytes after its scripts had run")
