"""What a page's network is doing, however often that is asked during its life.

The page itself is handed over by us and is no traffic.
"""

from playwright.async_api import Page, Request


class Traffic:
    def __init__(self, page: Page) -> None:
        self.moves = 0  # requests begun and ended so far
        self._in_flight = 0
        page.on("request", self._began)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)

    @property
    def is_silent(self) -> bool:
        return self._in_flight == 0

    def _began(self, request: Request) -> None:
        if not request.is_navigation_request():
            self._in_flight += 1
            self.moves += 1

    def _ended(self, request: Request) -> None:
        if not request.is_navigation_request():
            self._in_flight = max(0, self._in_flight - 1)
            self.moves += 1
