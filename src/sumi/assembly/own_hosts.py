"""Hosts are asked only while they are this worker's."""

import asyncio
from weakref import WeakKeyDictionary

from sumi.model import Request, Response, Timing
from sumi.outcomes import Outcome, Trouble, Verdict
from sumi.ports import Clock, Fetcher, Session, Team
from sumi.urls import host_key

_VERDICT = Verdict(Outcome.TIMED_OUT, "its host has another worker by now")
_NOT_ASKED = Trouble(_VERDICT, Timing(0.0, 0.0, 0.0))


class OwnFetcher:
    """A Fetcher that asks only hosts which are this worker's, and breaks off once they may have another
    owner."""

    def __init__(self, fetcher: Fetcher, team: Team, clock: Clock) -> None:
        self._fetcher = fetcher
        self._team = team
        self._clock = clock
        # A visit goes on in the session in which it began, or not at all.
        self._begun: WeakKeyDictionary[asyncio.Task[object], Session] = WeakKeyDictionary()

    async def fetch(self, request: Request) -> Response | Trouble:
        session = self._session(request)
        if session is None or session.seconds_left() <= 0:
            return _NOT_ASKED
        started = self._clock.now()
        work = asyncio.ensure_future(self._fetcher.fetch(request))
        try:
            while not work.done() and session.seconds_left() > 0:
                await asyncio.wait([work], timeout=session.seconds_left())
            if work.done():
                return work.result()
            # The host may have seen the request just now, and the session may last after all.
            now = self._clock.now()
            return Trouble(_VERDICT, Timing(started, now, now))
        finally:
            if not work.done():
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)

    def _session(self, request: Request) -> Session | None:
        task = asyncio.current_task()
        assert task is not None
        begun = self._begun.get(task)
        now = self._team.session
        if begun is not None:  # robots.txt may have led to a host of somebody else
            return begun if begun is now else None
        if now is None or not self._team.may_ask(host_key(request.url)):
            return None
        self._begun[task] = now
        return now

    async def aclose(self) -> None:
        await self._fetcher.aclose()
