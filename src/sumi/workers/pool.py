"""Digestion in child processes, which may hang, grow and crash without hurting the crawl.

The pool keeps ``processes`` workers busy, replaces those that die, and blames exactly the page that a worker
was at; pages queued behind it go to another worker. Callers wait for their own page, so no more pages are
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

# The current page and the next one, so that a worker does not wait for the event loop between two pages. More
# of them while they are small: a worker does many small pages before a busy loop comes round.
_DEPTH = 2
_SMALL_DEPTH = 32
_SMALL_BYTES = 64 * 1024
_PAGES_LARGEST = 8 * 1024 * 1024
# A page of this size is in memory twice until the worker has it, so only one at a time.
_LARGE_BYTES = 1024 * 1024

# Wall time is counted in turns of the event loop: a laptop's sleep does not count, and an answer that arrived
# while the loop was busy is read before its page counts as late.
_TICKS = 10
_START_SECONDS = 60.0
_FAILED_STARTS = 5
# After a worker that never began a page; three times as long after each further one in a row.
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 30.0


class WorkerPool:
    """A Digester, for use within one running event loop. One worker starts at once, while the first page is
    being fetched; the others when there is a page."""

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
        self._recycle_after = recycle_after  # pages; bounds the effect of a leak in the parser
        self._command = with_limits(command, cpu_seconds, memory_bytes)
        self._workers: list[DigestProcess] = []
        self._waiting: deque[Job] = deque()
        self._failed_starts = 0
        self._ended: str = ""  # why no page is accepted any more
        self._clock: asyncio.TimerHandle | None = None
        self._pause: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._start_workers(1)

    async def digest(self, request: DigestRequest) -> PageDigest | Undigested:
        """Raises SumiError if no worker can be started, or the pool was closed."""
        if self._ended:
            raise SumiError(self._ended)
        if self._clock is None:
            self._tick()
            self._start_workers(self._processes)
        job = Job(request, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        self._hand_out()
        return await job.answer

    async def aclose(self) -> None:
        """End every worker. Pending calls raise SumiError."""
        self._end("The workers were closed before the page was parsed.")
        await asyncio.gather(*self._tasks)

    # Pages

    def _hand_out(self) -> None:
        """Give waiting pages to the least busy workers, as far as they have room.

        No page is queued behind one that is slow already, or that may turn out slow while a worker starts.
        """
        serving = [worker for worker in self._workers if worker.stage is Stage.SERVING]
        starting = any(worker.stage is Stage.STARTING for worker in self._workers)
        worker_is_missing = starting and len(serving) < self._processes
        while self._waiting:
            worker = min((w for w in serving if w.silence == 0), key=_load, default=None)
            if worker is None or not _has_room(worker, worker_is_missing):
                return
            job = self._waiting.popleft()
            if job.answer.done():  # its caller was cancelled, or another worker was faster
                continue
            try:
                worker.give(job)
            except FrameSizeError as error:
                job.settle(Undigested(Verdict(Outcome.PARSE_LIMIT, str(error))))
            except UnicodeEncodeError as error:
                job.settle(Undigested(Verdict(Outcome.PARSE_FAILED, str(error))))

    def _tick(self) -> None:
        """Ten times per wall limit: count how long each worker has been silent."""
        tick = self._wall_seconds / _TICKS
        self._clock = asyncio.get_running_loop().call_later(tick, self._tick)
        for worker in self._workers:
            starting = worker.stage is Stage.STARTING
            worker.silence += starting or bool(worker.jobs)
            if worker.silence == 1:
                # A slow page. Those queued behind it are offered to others too; the first answer counts.
                self._waiting.extendleft(list(worker.jobs)[1:])
            size = len(worker.jobs[0].request.body) if worker.jobs else 0
            patience = _START_SECONDS if starting else self._wall_seconds * times_as_long(size)
            if worker.silence * tick > patience:
                worker.kill(Verdict(Outcome.PARSE_LIMIT, f"no answer within {patience:g} s"))
        self._hand_out()

    # Workers

    def _is_worn_out(self, worker: DigestProcess) -> bool:
        return worker.given >= self._recycle_after

    def _start_workers(self, wanted: int) -> None:
        """Start as many workers as are missing. A worn-out one counts as missing, and serves until its
        successor is ready."""
        if self._ended or self._pause is not None:
            return
        staying = [
            w
            for w in self._workers
            if w.stage in (Stage.STARTING, Stage.SERVING) and not self._is_worn_out(w)
        ]
        for _ in range(wanted - len(staying)):
            worker = DigestProcess(self._cpu_seconds, self._worker_ready, self._worker_answered)
            self._workers.append(worker)
            task = asyncio.get_running_loop().create_task(self._run_worker(worker))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _run_worker(self, worker: DigestProcess) -> None:
        end = await worker.run(self._command)
        self._workers.remove(worker)
        self._waiting.extendleft(reversed(end.bystanders))
        if end.culprit is not None and self._ended:
            self._waiting.append(end.culprit)  # not its fault: we ended the worker
        elif end.culprit is not None:
            end.culprit.settle(Undigested(end.verdict))
        if end.useless and not self._ended:
            self._note_failed_start(end.last_words)
        if self._ended:
            self._fail_callers()
        self._start_workers(self._processes)
        self._hand_out()

    def _worker_ready(self) -> None:
        worn_out = (w for w in self._workers if w.stage is Stage.SERVING and self._is_worn_out(w))
        if (replaced := next(worn_out, None)) is not None:
            replaced.leave()
        self._hand_out()

    def _worker_answered(self, worker: DigestProcess) -> None:
        if worker.answered == 1:
            self._failed_starts = 0
        self._hand_out()
        if worker.given >= self._recycle_after and worker.stage is Stage.SERVING:
            self._start_workers(self._processes)

    def _note_failed_start(self, why: str) -> None:
        """A worker that never began a page: a problem of this machine, not of a page."""
        if self._pause is not None:
            return  # one of several that failed together
        self._failed_starts += 1
        if self._failed_starts >= _FAILED_STARTS and not any(w.stage is Stage.SERVING for w in self._workers):
            self._end(f"Pages cannot be parsed: the worker processes do not start: {why}")
            return
        pause = min(_FIRST_PAUSE * 3 ** (self._failed_starts - 1), _LONGEST_PAUSE)
        self._pause = asyncio.get_running_loop().call_later(pause, self._end_pause)

    def _end_pause(self) -> None:
        self._pause = None
        self._start_workers(self._processes)

    def _end(self, why: str) -> None:
        self._ended = self._ended or why
        for timer in (self._clock, self._pause):
            if timer is not None:
                timer.cancel()
        for worker in self._workers:
            if worker.stage is Stage.SERVING and not worker.jobs:
                worker.leave()
            else:
                worker.kill(Verdict(Outcome.PARSE_FAILED, why))
        self._fail_callers()

    def _fail_callers(self) -> None:
        while self._waiting:
            answer = self._waiting.popleft().answer
            if not answer.done():
                answer.set_exception(SumiError(self._ended))


class InProcessDigester:
    """A Digester without isolation, for single pages and for tests."""

    async def digest(self, request: DigestRequest) -> PageDigest | Undigested:
        from sumi.parse.page.digester import digest  # loads the parser, which otherwise only workers need

        try:
            return digest(request)
        except MemoryError:
            return OUT_OF_MEMORY

    async def aclose(self) -> None:
        """Nothing to close."""


def times_as_long(body_bytes: int) -> float:
    """How many times the wall limit a body may take: a sitemap of 50 MiB is as long as a thousand pages."""
    return max(1.0, body_bytes / _PAGES_LARGEST)


def _load(worker: DigestProcess) -> tuple[int, int]:
    return worker.load, len(worker.jobs)


def _has_room(worker: DigestProcess, worker_is_missing: bool) -> bool:
    if worker_is_missing or worker.load >= _LARGE_BYTES:
        return not worker.jobs
    return len(worker.jobs) < (_SMALL_DEPTH if worker.load < _SMALL_BYTES else _DEPTH)
