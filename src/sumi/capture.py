"""Captures from Python: a job that can be started, paused, resumed and cancelled while it runs.

    job = CrawlJob("https://docs.example.org/guide", CaptureOptions(page_limit=50))
    job.on_progress = lambda progress: print(progress.pages_processed, progress.queue_size)
    job_id = await job.start()
    captured = await job.wait()

One capture runs at a time: in this process by ``start_crawl``, and in a store whatever the process.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import msgspec

from sumi.engine.control import Control, RunState
from sumi.errors import StateLocked, UsageError
from sumi.events import CaptureProgress, Event
from sumi.jobs.capture.folder import CaptureFolder
from sumi.jobs.capture.rows import CapturedPage, CaptureJob, JobStatus
from sumi.jobs.capture.run import Captured, capture
from sumi.jobs.capture.settings import CaptureSettings, capture_settings, checked_values
from sumi.policy import RenderMode

__all__ = [
    "CaptureFolder",
    "CaptureJob",
    "CaptureOptions",
    "CaptureProgress",
    "Captured",
    "CapturedPage",
    "CrawlJob",
    "JobStatus",
    "cancel_active_crawl",
    "get_active_crawl",
    "start_crawl",
]

OnProgress: TypeAlias = Callable[[CaptureProgress], None]
OnComplete: TypeAlias = Callable[[], None]


class CaptureOptions(msgspec.Struct, frozen=True, kw_only=True):
    """``settings``: any other setting of ``sumi capture``, by its name with underscores, and with the bounds
    that it has there."""

    max_workers: int = 0  # 1 to 10; 0 for the default of 5
    page_limit: int | None = None  # for each base URL
    render_mode: RenderMode = RenderMode.NONE
    wait_for_selectors: tuple[str, ...] = ()
    skip_cache: bool = False
    strict_path_matching: bool = True  # /docs takes /docs/a, and not /docs-old
    follow_external_links: bool = False
    max_external_hops: int = 1  # 1 to 5
    store: str = "captures"
    settings: Mapping[str, object] = {}

    def for_bases(self, base_urls: Sequence[str]) -> CaptureSettings:
        """Raises UsageError for what cannot be used."""
        options = {
            "url": tuple(base_urls),
            "store": self.store,
            "workers": self.max_workers,
            "limit": self.page_limit or 0,
            "render": self.render_mode,
            "wait_for": self.wait_for_selectors,
            "skip_cache": self.skip_cache,
            "loose_paths": not self.strict_path_matching,
            "external_hops": max(1, self.max_external_hops) if self.follow_external_links else 0,
        }
        twice = sorted(options.keys() & self.settings.keys())
        if twice:
            raise UsageError(f"{twice[0]} is an option of its own, {_OPTIONS[twice[0]]}, and no setting")
        return capture_settings(checked_values({**self.settings, **options}))


# By which name an option goes that is a setting of the command line.
_OPTIONS = {
    "url": "the base URLs",
    "store": "store",
    "workers": "max_workers",
    "limit": "page_limit",
    "render": "render_mode",
    "wait_for": "wait_for_selectors",
    "skip_cache": "skip_cache",
    "loose_paths": "strict_path_matching",
    "external_hops": "max_external_hops",
}


class CrawlJob:
    """One capture. Its methods are for the event loop that it was started in."""

    def __init__(self, base_urls: str | Sequence[str], options: CaptureOptions | None = None) -> None:
        self.base_urls = [base_urls] if isinstance(base_urls, str) else list(base_urls)
        self.settings = (options or CaptureOptions()).for_bases(self.base_urls)
        self.canonical_base_urls = list(self.settings.urls)
        self.job_id: str | None = None
        self.on_progress: OnProgress | None = None
        self.on_complete: OnComplete | None = None
        self._control = Control()
        self._run: asyncio.Task[Captured] | None = None

    @property
    def max_workers(self) -> int:
        return self.settings.workers

    @property
    def page_limit(self) -> int | None:
        return self.settings.limit or None

    @property
    def is_paused(self) -> bool:
        return self._control.state is RunState.PAUSED

    @property
    def is_cancelled(self) -> bool:
        return self._control.was_stopped

    async def start(self) -> str:
        """Begins the capture, which goes on in the background; the id of its job. Raises StateLocked if
        another one is going on in the same store."""
        if self._run is None:
            begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            self._run = asyncio.create_task(self._to_its_end(begun))
            await asyncio.wait((begun, self._run), return_when=asyncio.FIRST_COMPLETED)
            self.job_id = begun.result() if begun.done() else (await self._run).job.id
        return self.job_id or (await self.wait()).job.id

    async def wait(self) -> Captured:
        """The end of a capture that was started."""
        if self._run is None:
            await self.start()
        assert self._run is not None
        return await asyncio.shield(self._run)

    def pause(self) -> None:
        """Pages in flight are finished; nothing new is fetched."""
        self._control.pause("pause()")

    def resume(self) -> None:
        self._control.resume("resume()")

    def cancel(self) -> None:
        """Pages in flight are finished, and the job is interrupted, however much waits."""
        if not self._control.stopping:
            self._control.stop("cancel()")

    async def _to_its_end(self, begun: "asyncio.Future[str]") -> Captured:
        def tell_begun(job: CaptureJob) -> None:
            begun.set_result(job.id)

        try:
            return await capture(self.settings, [self._hear], self._control, begun=tell_begun)
        finally:
            if self.on_complete is not None:
                self.on_complete()

    def _hear(self, event: Event) -> None:
        if isinstance(event, CaptureProgress) and self.on_progress is not None:
            self.on_progress(event)


class _Active:
    """The capture that ``start_crawl`` began in this process."""

    job: CrawlJob | None = None


async def start_crawl(
    base_urls: str | Sequence[str],
    on_progress: OnProgress | None = None,
    options: CaptureOptions | None = None,
) -> str:
    """Starts a capture in the background; the id of its job. StateLocked if there is one already."""
    if _Active.job is not None:
        raise StateLocked("a capture is already in progress: wait for it, or call cancel_active_crawl()")
    job = CrawlJob(base_urls, options)
    job.on_progress = on_progress
    job.on_complete = _forget_active
    _Active.job = job
    try:
        return await job.start()
    except BaseException:
        _forget_active()
        raise


def get_active_crawl() -> CrawlJob | None:
    return _Active.job


def cancel_active_crawl() -> None:
    """The active capture ends in good order; another one may be started once it has let go of its store."""
    if _Active.job is not None:
        _Active.job.cancel()


def _forget_active() -> None:
    _Active.job = None
