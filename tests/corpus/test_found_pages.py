"""What is captured now is compared with the index without holding it in memory."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

from sumi.catalogue.pages import CapturedPage
from sumi.corpus.found_pages import FoundPages
from sumi.corpus.index_store import SearchIndex

MANY = 20_000


async def pages(count: int) -> AsyncIterator[CapturedPage]:
    for number in range(count):
        url = f"https://docs.example.org/{'a-part-of-the-manual/' * 4}{number}.html"
        yield CapturedPage(url=url, title=f"Page {number} | Manual", sha256="0" * 64, path=url[8:])


def test_memory_does_not_grow_with_the_pages(tmp_path: Path) -> None:
    with closing(SearchIndex(tmp_path)) as store, store.writing():
        found = FoundPages(store, store.source_id("a", "mirror", "a"))
        tracemalloc.start()
        try:
            asyncio.run(found.add(pages(MANY), 0, lambda url: "docs.example.org", lambda page: page.sha256))
            assert found.endings() == {"docs.example.org": " | Manual"}
            assert found.compare(set()) == (MANY, 0, 0)
            assert sum(len(batch) for batch in found.wanted(32)) == MANY
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 4 * 1024 * 1024  # a record of each would be more than 12
