"""Says of a host that it is left alone for long, and why: else a run that waits looks like one that hangs."""

from collections.abc import Sequence

from sumi.engine.estimate import WORTH_A_NOTE_SECONDS, in_words
from sumi.events import Listener, Warned
from sumi.frontier.pacing import INFINITY
from sumi.ports import USUAL_WAITS, HostWait

# With thousands of hosts some are always left alone; ``sumi status`` knows of all.
MOST_NAMED = 10


class HoldNews:
    def __init__(self, tell: Listener) -> None:
        self._tell = tell
        self._told: dict[str, float] = {}  # host -> until when, as told

    def look(self, waits: Sequence[HostWait], now: float) -> None:
        for wait in waits:
            if wait.ready_at < INFINITY and self._is_news(wait, now):
                self._told[wait.host] = wait.ready_at
                pause = in_words(wait.ready_at - now)
                self._tell(Warned(f"{wait.host} is left alone for another {pause}: {wait.why}"))

    def _is_news(self, wait: HostWait, now: float) -> bool:
        if wait.why in USUAL_WAITS or wait.ready_at - now < WORTH_A_NOTE_SECONDS:
            return False
        told = self._told.get(wait.host)
        return len(self._told) < MOST_NAMED if told is None else wait.ready_at > told
