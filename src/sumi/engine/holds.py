"""Says that a host is left alone for long, why and until when: or a run that waits seems to hang."""

from collections.abc import Iterable, Sequence

from sumi.events import HostWaits, Listener, Warned
from sumi.frontier.pacing import INFINITY, NOT_IN_THIS_RUN, USUAL_WAITS
from sumi.ports import HostWait

WORTH_TELLING_SECONDS = 10.0
# With thousands of hosts some are always left alone; ``sumi status`` knows of all.
MOST_NAMED = 50
MORE = "more hosts are left alone; sumi status names them and says until when"
# What each of the usual waits is called where it is the only thing that a run waits for.
_IN_WORDS = {
    "spacing": "is asked at its own pace",
    "retry": "has only pages left that failed before",
    "sitemaps first": "has sitemaps to be read first",
}


class HoldNews:
    def __init__(self, tell: Listener) -> None:
        self._tell = tell
        self._told: dict[str, float] = {}  # host -> until when, as told
        self._said_more = False

    def look(self, waits: Iterable[HostWait], now: float) -> None:
        for wait in waits:
            if wait.ready_at == INFINITY or not self._is_news(wait, now):
                continue
            if len(self._told) < MOST_NAMED or wait.host in self._told:
                self._told[wait.host] = wait.ready_at
                self._tell(in_words(wait))
            elif not self._said_more:
                self._said_more = True
                self._tell(Warned(MORE))

    def _is_news(self, wait: HostWait, now: float) -> bool:
        is_pause = wait.why == "retry" or wait.why not in USUAL_WAITS
        return (
            is_pause
            and wait.ready_at - now > WORTH_TELLING_SECONDS
            and wait.ready_at > self._told.get(wait.host, 0.0)
        )


def first_to_end(waits: Sequence[HostWait], now: float) -> HostWaits | None:
    """What a run waits for in which every host is left alone; None where that is not long."""
    ahead = [wait for wait in waits if wait.why not in NOT_IN_THIS_RUN and wait.ready_at < INFINITY]
    first = min(ahead, key=lambda wait: wait.ready_at, default=None)
    return None if first is None or first.ready_at - now <= WORTH_TELLING_SECONDS else in_words(first)


def in_words(wait: HostWait) -> HostWaits:
    return HostWaits(wait.host, _IN_WORDS.get(wait.why, wait.why), wait.ready_at, wait.pending)
