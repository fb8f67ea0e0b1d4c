"""One browser that renders one page at a time, each in a context without a past, and is watched meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeAlias

from sumi.fetch.browser.chromium import FAILURES, Chromium, tells_of_a_death, words_of
from sumi.fetch.browser.page_scripts import IS_SELECTOR, SCRIPT
from sumi.fetch.browser.stage import Stage
from sumi.fetch.browser.waiting import MOVING, Patience, first_of, go, is_stuck, settle
from sumi.model import Response
from sumi.outcomes import Outcome, Verdict
from sumi.policy import RenderPolicy

_LOOK_SECONDS = 0.25  # between two looks at a browser
_STAGE_SECONDS = 30.0  # for what a browser does before it has seen anything of a page
_MIB = 1024 * 1024
# A page may leave for about:blank or for something that it made up, without asking anybody.
_WEB = ("http://", "https://")


class Snapshot(NamedTuple):
    html: bytes
    note: str  # what was waited for in vain


class Lost(NamedTuple):
    """The browser was: it died, or stopped answering before it had seen the page. No fault of the page's."""

    why: str


Seen: TypeAlias = Snapshot | Verdict | Lost


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

    async def bad_selector(self) -> str | Lost | None:
        """The first of the policy's selectors that is none."""
        try:
            return await first_of(self._find_bad_selector(), self._watch_alone())
        except FAILURES as error:
            return Lost(words_of(error))

    async def _find_bad_selector(self) -> str | None:
        page = await self._chromium.browser.new_page()
        bad = [one for one in self._policy.wait_for if not await page.evaluate(IS_SELECTOR, one)]
        await page.context.close()
        return bad[0] if bad else None

    async def render(self, document: Response) -> Seen:
        """Whatever happens in the browser costs this page and no other: a hung one is ended."""
        self._rendered += 1
        try:
            stage: Stage | Lost = await first_of(self._take_stage(), self._watch_alone())
        except FAILURES as error:
            return Lost(f"the browser could not open a page: {words_of(error)}")
        if isinstance(stage, Lost):
            return stage
        try:
            return await first_of(
                self._watch(), self._watch_renderer(stage), self._photograph(stage, document)
            )
        except FAILURES as error:
            return self._trouble(error)
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

    async def _photograph(self, stage: Stage, document: Response) -> Seen:
        page, requests, patience = stage.page, stage.requests, Patience(self._policy)
        stage.expect(document)
        loaded = await go(page, document.url, self._policy.mode, patience, requests.leaving)
        if not loaded and await is_stuck(page, stage.traffic):
            return Lost("the browser made no progress on it")
        self._prepare_next()
        note = await settle(page, stage.traffic, self._policy, patience)
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
        if tells_of_a_death(error) or not self._chromium.is_running:
            return Lost("the browser crashed on it")
        return _failed(f"the browser gave up: {words_of(error)}")

    # Who watches returns when there is nothing left to wait for, and has ended the browser by then

    async def _watch(self) -> Seen:
        late = _failed(f"not finished within {self._policy.seconds:g} s")
        return await self._watch_for(self._policy.seconds, late)

    async def _watch_alone(self) -> Lost:
        """A browser that is not at a page: whatever goes wrong is its own fault."""
        late = Lost(f"the browser did not open a page within {_STAGE_SECONDS:g} s")
        seen = await self._watch_for(_STAGE_SECONDS, late)
        return seen if isinstance(seen, Lost) else Lost(seen.rule)

    async def _watch_renderer(self, stage: Stage) -> Seen:
        await stage.crash()
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
