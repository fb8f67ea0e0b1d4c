"""The source of most crawls: none. Their pages lead to one another."""

from typing import Final

from sumi.model import Lease, Response
from sumi.ports import Remains, Settlement, Source, TakeIn


class _NoSource:
    more_to_come = False

    async def recall(self, take_in: TakeIn) -> None:
        return

    async def feed(self, take_in: TakeIn) -> None:
        return

    def at_hand(self, lease: Lease) -> Response | None:
        return None

    def signed(self, settlement: Settlement) -> Settlement:
        return settlement

    def remains(self) -> Remains:
        return Remains()


NO_SOURCE: Final[Source] = _NoSource()
