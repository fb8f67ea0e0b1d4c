"""Pages whose contents are on their way to an object store. They are in flight until their segment is stored,
and are settled only then; so a page has an outcome only if its content can be read.

They do not count as requests: a segment takes longer than a page, and the next ones can be fetched
meanwhile. There is a limit, so that nothing more is leased while the store cannot be written.
"""

from collections.abc import Callable
from typing import Final

from sumi.engine.io import Io
from sumi.files.segments import place_in
from sumi.ports import Deferral, Settlement

# Some 20 MB of packed pages, and as many are fetched again after a kill.
MOST_HELD: Final = 512


class HeldPages:
    def __init__(self, io: Io, on_held: Callable[[], None]) -> None:
        """``on_held``: a place among the requests is free."""
        self._segments = io.segments
        self._on_held = on_held
        self.count = 0

    @property
    def without_request(self) -> int:
        """How many visits need no place among the requests."""
        return min(self.count, MOST_HELD)

    def hurry(self) -> None:
        """No further page will come for now."""
        if self.count and self._segments is not None:
            self._segments.close_segment()

    async def until_stored(self, unit: Settlement | Deferral) -> None:
        if self._segments is None or isinstance(unit, Deferral):
            return
        found = (unit.facts.raw_at, place_in(unit.facts.path))
        places = [place for place in found if place is not None]
        if not places:
            return
        self.count += 1
        self._on_held()
        if self.count == MOST_HELD:
            self.hurry()
        try:
            await self._segments.stored(places)
        finally:
            self.count -= 1
