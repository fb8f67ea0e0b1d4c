"""What a run leaves for those who look on: ``activity.jsonl``, its numbers over time, and ``now.json``, its
status while somebody asks for it by touching ``watch.<job>``. And ``retune.<job>``: limits for this run.

Nobody has to open a socket, and nobody has to read a ledger again and again to see numbers move.
"""

import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from sumi.engine.control import is_regular_file
from sumi.events import Progress, Status, Warned
from sumi.policy import Retune
from sumi.ports import Clock, FrontierStats
from sumi.recipe import Job

EVERY_SECONDS: Final = 1.0
# A line a second in the first hour of a run, then one in ten seconds, after a day one a minute: a week takes
# 20,000 lines.
_THINNED: Final = ((3600.0, 1.0), (86400.0, 10.0), (float("inf"), 60.0))
_WATCHED_SECONDS: Final = 10.0
_SHARE: Final = 0.01  # of a run's time, at most, goes into being watched
_MOST_HOSTS: Final = 1000
_MOST_BYTES: Final = 4 * 1024 * 1024
_MOST_REQUEST: Final = 4096


class LimitsShown(msgspec.Struct, frozen=True):
    rate_limit: float
    concurrency: int
    per_host: int
    max_pages: int


class Now(msgspec.Struct, frozen=True):
    status: Status
    limits: LimitsShown
    progress: Progress | None = None
    seconds: dict[str, float] = {}  # how long each page is in flight


class Activity(msgspec.Struct, frozen=True):
    """One line; together with ``pending`` the outcomes add up to what was discovered."""

    at: float
    outcomes: dict[str, int]
    pending: int
    in_flight: int
    bytes: int


class Observed:
    """What the traces are made of, asked for when they are due."""

    def __init__(
        self,
        stats: Callable[[], Awaitable[FrontierStats]],
        now: Callable[[], Awaitable[Now]],
        in_flight: Callable[[], tuple[str, ...]],
        received: Callable[[], int],
        retune: Callable[[Retune], Awaitable[None]],
        tell: Callable[[Warned], None],
    ) -> None:
        self.stats = stats
        self.now = now
        self.in_flight = in_flight
        self.received = received
        self.retune = retune
        self.tell = tell


class Traces:
    def __init__(self, home: Path, job: str, prefix: str) -> None:
        self._activity = home / f"{prefix}activity.jsonl"
        self._now = home / f"{prefix}now.json"
        self._watch = home / f"watch.{job}"
        self._retune = home / f"retune.{job}"
        self._last: dict[str, Any] = {}
        self._written_at = float("-inf")
        self._shown_at = float("-inf")
        self._cost = 0.0

    async def keep(self, observed: Observed, clock: Clock) -> None:
        """Runs beside the crawl until cancelled. A disk that refuses these files does not stop a run."""
        started = clock.now()
        with suppress(OSError):
            shorten(self._activity, _MOST_BYTES)
        while True:
            now = clock.now()
            await self._obey(observed)
            with suppress(OSError):
                await self._note(observed, now, now - started)
            with suppress(OSError):
                await self._show(observed, now)
            await clock.sleep_until(now + EVERY_SECONDS)

    async def finish(self, observed: Observed, now: float) -> None:
        """The last line, and no status any more."""
        self._written_at = float("-inf")
        with suppress(OSError):
            await self._note(observed, now, 0.0)
        with suppress(OSError):
            self._now.unlink(missing_ok=True)

    async def _note(self, observed: Observed, now: float, age: float) -> None:
        pause = next(pause for until, pause in _THINNED if age < until)
        if now - self._written_at < pause:
            return
        stats = await observed.stats()
        line = Activity(
            round(now, 1),
            {outcome.value: count for outcome, count in stats.outcomes.items() if count},
            stats.pending,
            len(observed.in_flight()),
            observed.received(),
        )
        self._written_at = now
        fields = {"outcomes": line.outcomes, "in_flight": line.in_flight, "pending": line.pending}
        if fields != self._last:  # a run that waits says so once
            self._last = fields
            _append(self._activity, msgspec.json.encode(line) + b"\n")

    async def _show(self, observed: Observed, now: float) -> None:
        if now - self._shown_at < self._cost / _SHARE or not self._is_watched():
            return
        began = time.perf_counter()
        _replace(self._now, msgspec.json.encode(await observed.now()))
        self._cost, self._shown_at = time.perf_counter() - began, now

    def _is_watched(self) -> bool:
        """By the wall clock, as the file's time is."""
        try:
            return time.time() - os.lstat(self._watch).st_mtime < _WATCHED_SECONDS
        except OSError:
            return False

    async def _obey(self, observed: Observed) -> None:
        if not is_regular_file(self._retune):
            return
        try:
            with self._retune.open("rb") as file:
                wanted = msgspec.json.decode(file.read(_MOST_REQUEST), type=Retune)
        except (OSError, msgspec.MsgspecError) as error:
            observed.tell(Warned(f"the limits were not changed: {self._retune.name}: {error}"))
        else:
            await observed.retune(wanted)
        with suppress(OSError):
            self._retune.unlink()


def shown_hosts(status: Status) -> Status:
    """Those with the most to do, if there are very many."""
    if len(status.hosts) <= _MOST_HOSTS:
        return status
    most = sorted(status.hosts, key=lambda host: -host.pending)[:_MOST_HOSTS]
    return replace(status, hosts=tuple(most))


def retuned(job: Job, wanted: Retune) -> Job:
    recipe, frontier, pacing = job.recipe, job.frontier, job.frontier.pacing
    if wanted.rate_limit is not None:
        delay = 1 / wanted.rate_limit if wanted.rate_limit else 0.0
        pacing = replace(pacing, delay=delay, sitemap_delay=delay)
    if wanted.per_host is not None:
        pacing = replace(pacing, per_host=wanted.per_host)
    if wanted.concurrency is not None:
        recipe = replace(recipe, concurrency=wanted.concurrency)
    if wanted.max_pages is not None:
        recipe = replace(recipe, max_pages=wanted.max_pages)
        frontier = replace(frontier, max_pages=wanted.max_pages)
    return replace(job, recipe=recipe, frontier=replace(frontier, pacing=pacing))


def shorten(path: Path, most: int) -> None:
    """Forget the older half of a file that has become too long."""
    if path.stat().st_size <= most:
        return
    with path.open("rb") as file:
        file.seek(-most // 2, os.SEEK_END)
        file.readline()
        rest = file.read()
    _replace(path, rest)


def _append(path: Path, line: bytes) -> None:
    descriptor = _own_file(str(path), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def _replace(path: Path, data: bytes) -> None:
    beside = path.with_name(f"{path.name}.tmp")
    with open(beside, "wb", opener=_own_file) as file:
        file.write(data)
    beside.replace(path)


def _own_file(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
