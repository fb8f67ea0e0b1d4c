"""Which hosts have sitemaps that list pages: there, and only there, links to other pages are not followed."""

from sumi.engine.io import Io
from sumi.model import Candidate, Hop, Kind
from sumi.outcomes import MEANINGS, Ending
from sumi.policy import FollowLinks
from sumi.recipe import Recipe
from sumi.urls import host_key

NOTE = "hosts whose sitemaps list pages"


class Listings:
    def __init__(self, recipe: Recipe, io: Io) -> None:
        self._matters = recipe.follow_links is FollowLinks.UNLESS_SITEMAP
        self._frontier = io.frontier
        self._ledger = io.ledger
        self._hosts: set[str] = set()
        self._noted = 0

    async def recall(self) -> None:
        if not self._matters:
            return
        noted = await self._ledger.get_note(NOTE)
        if noted is not None:
            self._hosts.update(noted.split())
        elif (await self._frontier.stats()).listed:  # a state of an earlier version, which counted them only
            async for record in self._ledger.records():
                is_listed = record.hop is Hop.MANIFEST and record.kind is Kind.PAGE
                if is_listed and MEANINGS[record.outcome].ending is not Ending.PASSED_OVER:
                    self._hosts.add(host_key(record.url))
        self._noted = len(self._hosts)

    def covers(self, url: str) -> bool:
        """Whether the page would be listed, if its site wanted it to be found."""
        return bool(self._hosts) and host_key(url) in self._hosts

    def accepted(self, candidate: Candidate) -> None:
        if self._matters and candidate.hop is Hop.MANIFEST and candidate.kind is Kind.PAGE:
            self._hosts.add(host_key(candidate.url))

    async def note(self) -> None:
        """Write down what was learnt since. A crash before the pages are written repeats their sitemap."""
        if len(self._hosts) > self._noted:
            self._noted = len(self._hosts)
            await self._ledger.put_note(NOTE, " ".join(sorted(self._hosts)))
