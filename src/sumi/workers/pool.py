"""Digestion where it cannot hurt: in child processes that may hang, swell and crash, one page at a time.

The pool keeps ``processes`` workers busy, replaces those that die, and blames exactly the page a worker was
at; pages that only waited behind it go to another one. Callers wait for their own page, so no more pages are
held than there are callers.
"""

import asyncio
from collections import deque
from collections.abc import Sequence

from sumi.errors import SumiError
from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.workers.framing import FrameSizeError
from sumi.workers.process import WORKER_COMMAND, DigestProcess, Job, Stage, with_limits
from sumi.workers.worker import OUT_OF_MEMORY

# The page being worked on and the next one: a worker need not wait for the event loop between two pages. More
# while they are small, for many small pages are done before a busy loop comes round again.
_DEPTH = 2
_SMALL_DEPTH = 32
_SMALL_BYTES = 64 * 1024
_PAGES_LARGEST = 8 * 1024 * 1024
# A page of this size is in memory twice until the worker has it: one at a time.
_LARGE_BYTES = 1024 * 1024

# The wall clock is counted in turns of the event loop: a laptop that slept ages no page, and an answer that
# arrived while the loop was busy is read before its page is called late.
_TICKS = 10
_START_SECONDS = 60.0
_FAILED_STARTS = 5
# After a worker that began no page at all; three times as long after each further one in a row.
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 30.0


class WorkerPool:
    """A Digester. To be made and used within one running event loop. One worker starts at once, while the
    first page is still being fetched; the others when there is a page."""

    def __init__(
        self,
        processes: int,
        *,
        cpu_seconds: float = 20.0,
        wall_seconds: float = 30.0,
        memory_bytes: int = 1024**3,
        recycle_after: int = 20_000,
        command: Sequence[str] = WORKER_COMMAND,
    ) -> None:
        self._processes = processes
        self._cpu_seconds = cpu_seconds
        self._wall_seconds = wall_seconds
        self._recycle_after = recycle_after  # pages; bounds what a leak in the parser can add up to
        self._command = with_limits(command, cpu_seconds, memory_bytes)
        self._team: list[DigestProcess] = []
        self._waiting: deque[Job] = deque()
        self._failed_starts = 0
        self._ended: str = ""  # why no page is taken any more
        self._clock: asyncio.TimerHandle | None = None
        self._pause: asyncio.TimerHandle | None = None
        self._employments: set[asyncio.Task[None]] = set()
        self._hire(1)

    async def digest(self, request: DigestRequest) -> PageDigest | Undigested:
        """Raises SumiError if workers cannot be started at all, or the pool was closed."""
        if self._ended:
            raise SumiError(self._ended)
        if self._clock is None:
            self._tick()
            self._hire(self._processes)
        job = Job(request, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        self._hand_out()
        return await job.answer

    async def aclose(self) -> None:
        """End every worker. Pages still waited for raise SumiError."""
        self._end("The workers were closed before the page was parsed.")
        await asyncio.gather(*self._employments)

    # Pages

    def _hand_out(self) -> None:
        """Give waiting pages to the least busy workers, as far as there is room.

        No page is put behind one that is slow already, or that may prove so while a further worker starts.
        """
        serving = [worker for worker in self._team if worker.stage is Stage.SERVING]
        starting = any(worker.stage is Stage.STARTING for worker in self._team)
        short_of_hands = starting and len(serving) < self._processes
        while self._waiting:
            worker = min((w for w in serving if w.silence == 0), key=_load, default=None)
            if worker is None or not _has_room(worker, short_of_hands):
                return
            job = self._waiting.popleft()
            if job.answer.done():  # its caller was cancelled, or it was given to two and one was faster
                continue
            try:
                worker.give(job)
            except FrameSizeError as error:
                job.settle(Undigested(Verdict(Outcome.PARSE_LIMIT, str(error))))
            except UnicodeEncodeError as error:
                job.settle(Undigested(Verdict(Outcome.PARSE_FAILED, str(error))))

    def _tick(self) -> None:
        """Ten times within the wall limit: count the time that a worker was silent over one page."""
        tick = self._wall_seconds / _TICKS
        self._clock = asyncio.get_running_loop().call_later(tick, self._tick)
        for worker in self._team:
            starting = worker.stage is Stage.STARTING
            worker.silence += starting or bool(worker.jobs)
            if worker.silence == 1:
                # Long for a page. The one behind it is offered to others too; the first answer counts.
                self._waiting.extendleft(list(worker.jobs)[1:])
            size = len(worker.jobs[0].request.body) if worker.jobs else 0
            patience = _START_SECONDS if starting else self._wall_seconds * times_as_long(size)
            if worker.silence * tick > patience:
                worker.kill(Verdict(Outcome.PARSE_LIMIT, f"no answer within {patience:g} s"))
        self._hand_out()

    # Workers

    def _is_tired(self, worker: DigestProcess) -> bool:
        return worker.given >= self._recycle_after

    def _hire(self, wanted: int) -> None:
        """Start as many workers as are missing. A tired one counts as missing, and serves on until its
        successor is ready."""
        if self._ended or self._pause is not None:
            return
        staying = [
            w for w in self._team if w.stage in (Stage.STARTING, Stage.SERVING) and not self._is_tired(w)
        ]
        for _ in range(wanted - len(staying)):
            worker = DigestProcess(self._cpu_seconds, self._worker_ready, self._worker_answered)
            self._team.append(worker)
            employment = asyncio.get_running_loop().create_task(self._employ(worker))
            self._employments.add(employment)
            employment.add_done_callback(self._employments.discard)

    async def _employ(self, worker: DigestProcess) -> None:
        end = await worker.live(self._command)
        self._team.remove(worker)
        self._waiting.extendleft(reversed(end.bystanders))
        if end.culprit is not None and self._ended:
            self._waiting.append(end.culprit)  # not its fault: we ended the worker
        elif end.culprit is not None:
            end.culprit.settle(Undigested(end.verdict))
        if end.useless and not self._ended:
            self._note_failed_start(end.last_words)
        if self._ended:
            self._dismiss_callers()
        self._hire(self._processes)
        self._hand_out()

    def _worker_ready(self) -> None:
        tired = (w for w in self._team if w.stage is Stage.SERVING and self._is_tired(w))
        if (relieved := next(tired, None)) is not None:
            relieved.leave()
        self._hand_out()

    def _worker_answered(self, worker: DigestProcess) -> None:
        if worker.answered == 1:
            self._failed_starts = 0
        self._hand_out()
        if worker.given >= self._recycle_after and worker.stage is Stage.SERVING:
            self._hire(self._processes)

    def _note_failed_start(self, why: str) -> None:
        """A worker that never began a page says something about this machine, not about a page."""
        if self._pause is not None:
            return  # one of several that failed together
        self._failed_starts += 1
        if self._failed_starts >= _FAILED_STARTS and not any(w.stage is Stage.SERVING for w in self._team):
            self._end(f"Pages cannot be parsed: the worker processes do not start: {why}")
            return
        pause = min(_FIRST_PAUSE * 3 ** (self._failed_starts - 1), _LONGEST_PAUSE)
        self._pause = asyncio.get_running_loop().call_later(pause, self._hire_again)

    def _hire_again(self) -> None:
        self._pause = None
        self._hire(self._processes)

    def _end(self, why: str) -> None:
        self._ended = self._ended or why
        for timer in (self._clock, self._pause):
            if timer is not None:
                timer.cancel()
        for worker in self._team:
            if worker.stage is Stage.SERVING and not worker.jobs:
                worker.leave()
            else:
                worker.kill(Verdict(Outcome.PARSE_FAILED, why))
        self._dismiss_callers()

    def _dismiss_callers(self) -> None:
        while self._waiting:
            answer = self._waiting.popleft().answer
            if not answer.done():
                answer.set_exception(SumiError(self._ended))


class InProcessDigester:
    """A Digester without isolation, for a single page and for tests: the caller's process takes the risk."""

    async def digest(self, request: DigestRequest) -> PageDigest | Undigested:
        from sumi.parse.page.digester import digest  # loads the parser, which a crawl leaves to its workers

        try:
            return digest(request)
        except MemoryError:
            return OUT_OF_MEMORY

    async def aclose(self) -> None:
        """Nothing to end."""


def times_as_long(body_bytes: int) -> float:
    """How many times the wall limit a body may take: a sitemap of 50 MiB has the text of a thousand pages."""
    return max(1.0, body_bytes / _PAGES_LARGEST)


def _load(worker: DigestProcess) -> tuple[int, int]:
    return worker.load, len(worker.jobs)


def _has_room(worker: DigestProcess, short_of_hands: bool) -> bool:
    if short_of_hands or worker.load >= _LARGE_BYTES:
        return not worker.jobs
    return len(worker.jobs) < (_SMALL_DEPTH if worker.load < _SMALL_BYTES else _DEPTH)
