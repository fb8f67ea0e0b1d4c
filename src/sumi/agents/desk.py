"""Answers tool calls: one library in its own thread, and a budget of tokens for each answer."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

from sumi.agents.arguments import Arguments
from sumi.agents.cards import Card, cards
from sumi.agents.changing import page_changes
from sumi.agents.children import Captures, explain_url, explanation
from sumi.agents.finding import page_outline, read_page, search_docs
from sumi.agents.listing import list_pages, list_sites
from sumi.agents.wording import LONGEST_URL, one_line, quoted, within
from sumi.corpus.index_store import IndexDamaged
from sumi.corpus.indexing import Tell, default_places
from sumi.corpus.library import Library
from sumi.corpus.reading import NoSection, NotCaptured
from sumi.errors import SumiError

_LOG: Final = logging.getLogger(__name__)
_REFRESH_SECONDS: Final = 2.0
_READS: Final[dict[str, Callable[[Library, Arguments, int], str]]] = {
    "search_docs": search_docs,
    "read_page": read_page,
    "page_outline": page_outline,
    "list_sites": list_sites,
    "list_pages": list_pages,
}
_PROBLEM_BUDGET: Final = 200


class Answer(NamedTuple):
    text: str
    is_problem: bool = False


class Desk:
    """``captures``: offers ``capture_site``. Close it at the end."""

    def __init__(
        self,
        places: Sequence[Path] = (),
        captures: Captures | None = None,
        tell: Tell = lambda words: None,
    ) -> None:
        self.places = list(places) or default_places()
        self.cards: dict[str, Card] = {card.name: card for card in cards(capturing=captures is not None)}
        self._captures = captures
        self._tell = tell
        self._thread = ThreadPoolExecutor(1, "sumi-library")
        self._library: Library | None = None

    async def answer(self, tool: str, arguments: Mapping[str, Any] | None) -> Answer:
        """KeyError if there is no such tool; otherwise whatever happens is an answer."""
        card = self.cards[tool]
        budget = card.budget
        try:
            given = Arguments(arguments, list(card.properties))
            if "max_tokens" in card.properties:
                most = card.properties["max_tokens"]
                budget = given.number("max_tokens", budget, most["minimum"], most["maximum"])
            try:
                return Answer(within(await self._answered(tool, given, budget), budget))
            except NotCaptured as missing:
                words = await self._missing(given.text("url"), missing.near)
                return Answer(within(words, budget), is_problem=True)
            except NoSection as missing:
                return Answer(within(_no_section(missing.near), _PROBLEM_BUDGET), is_problem=True)
        except SumiError as error:
            return Answer(within(one_line(str(error), 600), _PROBLEM_BUDGET), is_problem=True)
        except Exception:  # noqa: BLE001 - an agent gets an answer, whatever happens
            _LOG.exception("%s failed", tool)
            return Answer("This is a fault in Sumi; its log has the details.", is_problem=True)

    async def _answered(self, tool: str, given: Arguments, budget: int) -> str:
        if tool in _READS:
            return await self._with_library(lambda library: _READS[tool](library, given, budget))
        if tool == "page_changes":
            return await asyncio.to_thread(page_changes, self.places, given, budget)
        if tool == "capture_site" and self._captures is not None:
            return await self._captures.capture_site(given, budget)
        return await explain_url(self.places, given, budget)

    async def _missing(self, url: str, near: Sequence[str]) -> str:
        """Says why a page was not captured."""
        outcome = "no job here has found it"
        for place in self.places:
            found = await explanation(url, place)
            if found is not None and found["known"]:
                outcome = f"{found['outcome']} {one_line(found['rule'])}".strip()
                break
        words = f"This page was not captured: {outcome}. explain_url tells more."
        if near:
            urls = "\n".join(f"- {one_line(each, LONGEST_URL)}" for each in near)
            words += f" Captured are:\n{quoted(urls)}"
        return within(words, _PROBLEM_BUDGET + 3 * LONGEST_URL // 4)

    async def warm(self) -> None:
        """Indexes what is not indexed yet, before the first question."""
        try:
            await self._with_library(lambda library: "")
        except SumiError as error:
            self._tell(str(error))

    async def hosts(self) -> list[str]:
        words = await self._with_library(lambda library: "\n".join(site.host for site in library.sites()))
        return list(dict.fromkeys(words.split("\n"))) if words else []

    async def _with_library(self, task: Callable[[Library], str]) -> str:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: asyncio.run(self._done(task)))

    async def _done(self, task: Callable[[Library], str]) -> str:
        if self._library is None:
            self._library = await Library.open(*self.places, tell=self._tell)
        else:
            await self._library.refresh(_REFRESH_SECONDS)
        try:
            return task(self._library)
        except IndexDamaged:
            await self._library.rebuild()
            return task(self._library)

    def close(self) -> None:
        self._thread.submit(self._close_library).result()
        self._thread.shutdown()

    def _close_library(self) -> None:
        if self._library is not None:
            self._library.close()


def _no_section(near: Sequence[str]) -> str:
    named = ", ".join(one_line(name, 80) for name in near)
    nearest = f"; the nearest are {named}. page_outline lists all." if near else ": page_outline lists all."
    return f"This page has no such section{nearest}"
