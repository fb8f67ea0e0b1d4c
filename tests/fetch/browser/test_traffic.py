"""A page is at rest only if no request began or ended between two looks at it."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from sumi.fetch.browser.page_context import Traffic


class FakePage:
    def __init__(self) -> None:
        self._heard: dict[str, Callable[[Any], None]] = {}

    def on(self, event: str, listener: Callable[[Any], None]) -> None:
        self._heard[event] = listener

    def tell(self, event: str, *, document: bool = False) -> None:
        self._heard[event](SimpleNamespace(is_navigation_request=lambda: document))


def watched() -> tuple[Any, Traffic]:
    page: Any = FakePage()
    return page, Traffic(page)


def test_a_request_that_came_and_went_between_two_looks_is_seen() -> None:
    page, traffic = watched()
    for end in ("requestfinished", "requestfailed"):
        before = traffic.moves
        silent = []
        for event in ("request", end):
            page.tell(event)
            silent.append(traffic.is_silent)
        assert silent == [False, True]
        assert traffic.moves != before


def test_the_document_itself_is_no_traffic() -> None:
    page, traffic = watched()
    page.tell("request", document=True)
    assert (traffic.is_silent, traffic.moves) == (True, 0)
    page.tell("requestfinished", document=True)
    assert (traffic.is_silent, traffic.moves) == (True, 0)
