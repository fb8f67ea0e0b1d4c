"""When a page's network has fallen silent, however often that is asked during its life."""

import asyncio
from typing import Any

from playwright.async_api import Page


class Traffic:
    def __init__(self, page: Page) -> None:
        self._in_flight = 0
        self._moved = asyncio.Event()
        page.on("request", self._began)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)

    async def silence(self, quiet: float, most: float) -> None:
        """After ``quiet`` seconds in which nothing was asked or came, after ``most`` at the latest."""
        try:
            async with asyncio.timeout(most):
                while not await self._is_silent_for(quiet):
                    pass
        except TimeoutError:
            return

    async def _is_silent_for(self, quiet: float) -> bool:
        self._moved.clear()
        try:
            async with asyncio.timeout(None if self._in_flight else quiet):
                await self._moved.wait()
        except TimeoutError:
            return True
        return False

    def _began(self, _request: Any) -> None:
        self._in_flight += 1
        self._moved.set()

    def _ended(self, _request: Any) -> None:
        self._in_flight = max(0, self._in_flight - 1)
        self._moved.set()
