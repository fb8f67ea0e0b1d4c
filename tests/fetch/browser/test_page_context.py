"""A page that is done asks for nothing more, whatever its scripts still want."""

import asyncio
from types import SimpleNamespace
from typing import Any

from sumi.fetch.browser.page_context import PageContext


def test_the_network_of_a_page_is_cut_off_before_the_page_is_closed() -> None:
    told: list[str] = []

    async def close() -> None:
        told.append("closed")

    async def revoke(held: str) -> None:
        told.append(f"{held} revoked")

    page: Any = SimpleNamespace(on=lambda *_: None, context=SimpleNamespace(close=close))
    proxy: Any = SimpleNamespace(revoke=revoke)
    held: Any = "pass"
    requests: Any = None
    asyncio.run(PageContext(page, requests, held, proxy).clear())
    assert told == ["pass revoked", "closed"]
