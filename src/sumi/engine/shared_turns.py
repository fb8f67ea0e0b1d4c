"""A host's turns, shared with the other jobs on this machine: before a request its host is claimed, and after
it the others are told when they may ask."""

from collections.abc import Callable

from sumi.engine.answers import host_report
from sumi.engine.io import Io
from sumi.frontier.pacing import BORROWED
from sumi.model import Request, Response
from sumi.outcomes import Trouble


class SharedTurns:
    """``delay_of``: the seconds that this job leaves between two requests to a host. A host without any is
    not shared: its owner does not mind."""

    def __init__(self, io: Io, delay_of: Callable[[str], float]) -> None:
        self._io = io
        self._delay_of = delay_of

    async def wait(self, host: str) -> float | None:
        """None if the host may be asked now, which the caller must then do by ``fetch``; else when to return.
        Until then no page of the host is leased, so that nobody waits with a page in hand."""
        pace = self._io.pace
        delay = 0.0 if pace is None else self._delay_of(host)
        if pace is None or not delay:
            return None
        seconds = pace.claim(host, delay)
        if not seconds:
            return None
        until = self._io.clock.now() + seconds
        await self._io.frontier.hold_host(host, until, BORROWED)
        return until

    async def fetch(self, host: str, request: Request) -> Response | Trouble:
        """The request that ``wait`` allowed."""
        pace = self._io.pace
        if pace is None:
            return await self._io.fetcher.fetch(request)
        answer: Response | Trouble | None = None
        try:
            answer = await self._io.fetcher.fetch(request)
            return answer
        finally:
            if answer is None:
                pace.unsent(host)
            else:
                report = host_report(answer)
                pause = max(self._delay_of(host), report.retry_after or 0.0)
                pace.answered(host, pause, self._io.clock.now() - report.reached)
