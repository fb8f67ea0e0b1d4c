"""The crawler waits for the scraper: with too much of the spool unread it pauses until there is less.

Only what nobody has read counts. To hold the reader back instead, as soon as the spool has grown too large,
would hold it back for ever.
"""

from pathlib import Path

from sumi.engine.control import Control
from sumi.events import Event, Progress
from sumi.jobs.pipeline.spool_reader import unread_bytes
from sumi.ports import Clock

LOOK_SECONDS = 1.0


class BackPressure:
    """Listens to the progress of a crawl, which is told of while it is paused, too."""

    def __init__(self, spool: Path, bookmark: Path, most: float, control: Control, clock: Clock) -> None:
        self._spool = spool
        self._bookmark = bookmark
        self._most = most
        self._control = control
        self._clock = clock
        self._due = 0.0
        self._pausing = False

    def __call__(self, event: Event) -> None:
        if isinstance(event, Progress) and self._clock.now() >= self._due:
            self._due = self._clock.now() + LOOK_SECONDS
            self.look()

    def look(self) -> None:
        unread = unread_bytes(self._spool, self._bookmark)
        if unread > self._most and self._control.leasing:
            self._pausing = True
            self._control.pause(f"{unread:,} bytes of the spool are unread: sumi scrape run reads them")
        elif unread <= self._most and self._pausing:
            self._pausing = False
            self._control.resume("the spool has been read")
