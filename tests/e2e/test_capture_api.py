"""From Python a capture is a job with callbacks that can be started, paused, resumed and cancelled."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest

from sumi.capture import (
    CaptureFolder,
    CaptureOptions,
    CaptureProgress,
    CrawlJob,
    JobStatus,
    cancel_active_crawl,
    get_active_crawl,
    start_crawl,
)
from sumi.errors import StateLocked, UsageError
from sumi.policy import RenderMode, RobotsOnError
from tests.e2e.captures import write_section
from tests.folder_site import folder_site

T = TypeVar("T")


def options(tmp_path: Path, *, rate: float = 0, **more: object) -> CaptureOptions:
    settings = {"rate_limit": rate, "processes": 0, "min_free": 0}
    return CaptureOptions(store=str(tmp_path / "captures"), settings=settings, **more)  # type: ignore[arg-type]


def run(main: Callable[[], Awaitable[T]]) -> T:
    async def bounded() -> T:
        return await asyncio.wait_for(main(), 60)

    return asyncio.run(bounded())


def test_progress_is_told_after_every_page_and_the_end_once(tmp_path: Path) -> None:
    told: list[CaptureProgress] = []
    ends: list[str] = []
    with folder_site(tmp_path / "site") as site:
        write_section(site, "docs", 7)

        async def main() -> str:
            job = CrawlJob([f"{site.url}docs/"], options(tmp_path))
            job.on_progress = told.append
            job.on_complete = lambda: ends.append("done")
            job_id = await job.start()
            captured = await job.wait()
            assert job.canonical_base_urls == [f"{site.url}docs"]
            assert (captured.job.id, captured.job.status) == (job_id, JobStatus.COMPLETED)
            return job_id

        job_id = run(main)
    assert [progress.pages_processed for progress in told] == list(range(1, 9))
    for progress in told:
        waiting = progress.queue_size + len(progress.in_progress)
        assert progress.pages_found == progress.pages_processed + waiting
        assert (progress.job, progress.pages_failed) == (job_id, 0)
    assert told[-1].queue_size == 0
    assert ends == ["done"]
    folder = CaptureFolder(tmp_path / "captures")
    with folder.looking() as database:
        assert len(list(database.pages(job_id))) == 8


def test_one_capture_is_active_and_can_be_cancelled_with_a_full_queue(tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        write_section(site, "docs", 40)

        async def main() -> None:
            some_pages = asyncio.Event()

            def hear(progress: CaptureProgress) -> None:
                if progress.pages_processed == 2:
                    some_pages.set()

            await start_crawl(f"{site.url}docs", hear, options(tmp_path, rate=20))
            active = get_active_crawl()
            assert active is not None
            with pytest.raises(StateLocked, match="already in progress"):
                await start_crawl(f"{site.url}docs", options=options(tmp_path))
            with pytest.raises(StateLocked, match="already in progress"):
                await CrawlJob(f"{site.url}docs", options(tmp_path)).start()
            await some_pages.wait()
            cancel_active_crawl()
            captured = await active.wait()
            assert active.is_cancelled
            assert captured.job.status is JobStatus.INTERRUPTED
            assert captured.job.queue_size > 0
            assert get_active_crawl() is None

        run(main)


def test_a_paused_job_goes_on_where_it_was(tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        write_section(site, "docs", 12)

        async def main() -> None:
            job = CrawlJob(f"{site.url}docs", options(tmp_path))
            first_page = asyncio.Event()

            def hear(progress: CaptureProgress) -> None:
                if not first_page.is_set():
                    job.pause()
                    first_page.set()

            job.on_progress = hear
            job_id = await job.start()
            await first_page.wait()
            assert job.is_paused
            folder = CaptureFolder(tmp_path / "captures")
            with folder.looking() as database:
                assert folder.job(database, job_id).status is JobStatus.PAUSED
            job.resume()
            assert (await job.wait()).job.pages_processed == 13

        run(main)


def test_a_store_that_cannot_be_used_is_said_by_start(tmp_path: Path) -> None:
    (tmp_path / "captures").write_text("a file")

    async def main() -> None:
        with pytest.raises(UsageError, match="captures"):
            await start_crawl("http://127.0.0.1:9/", options=options(tmp_path))
        assert get_active_crawl() is None

    run(main)


def test_a_browser_that_is_not_there_is_said_by_start(tmp_path: Path) -> None:
    async def main() -> None:
        given = options(tmp_path, render_mode=RenderMode.FAST)
        with_browser = msgspec.structs.replace(given, settings={**given.settings, "browser": "/nope"})
        with pytest.raises(UsageError, match="/nope"):
            await CrawlJob("http://127.0.0.1:9/", with_browser).start()
        assert not (tmp_path / "captures").exists()

    run(main)


@pytest.mark.parametrize(
    ("asked", "granted"), [(-3, 1), (0, 5), (1, 1), (7, 7), (10, 10), (11, 10), (10**9, 10)]
)
def test_workers_are_between_one_and_ten(asked: int, granted: int) -> None:
    job = CrawlJob("https://example.org", CaptureOptions(max_workers=asked))
    assert job.max_workers == granted


@pytest.mark.parametrize(("asked", "granted"), [(-1, 1), (0, 1), (1, 1), (3, 3), (5, 5), (6, 5)])
def test_external_hops_are_between_one_and_five_where_external_links_are_followed(
    asked: int, granted: int
) -> None:
    followed = CaptureOptions(follow_external_links=True, max_external_hops=asked)
    assert CrawlJob("https://example.org", followed).settings.external_hops == granted
    assert (
        CrawlJob("https://example.org", CaptureOptions(max_external_hops=asked)).settings.external_hops == 0
    )


@pytest.mark.parametrize(("asked", "granted"), [(None, None), (0, None), (-5, None), (3, 3)])
def test_a_page_limit_of_nothing_is_none(asked: int | None, granted: int | None) -> None:
    assert CrawlJob("https://example.org", CaptureOptions(page_limit=asked)).page_limit == granted


def test_the_other_options_reach_the_job() -> None:
    given = CaptureOptions(
        render_mode=RenderMode.THOROUGH, wait_for_selectors=("main",), strict_path_matching=False
    )
    settings = CrawlJob("https://example.org", given).settings
    assert (settings.connection.render, settings.connection.wait_for) == (RenderMode.THOROUGH, ("main",))
    assert settings.connection.loose_paths
    assert (settings.connection.timeout, settings.connection.rate_limit) == (30.0, 2.0)


@pytest.mark.parametrize("bad", ["", "no url", "ftp://example.org", []])
def test_what_is_no_url_is_refused_at_once(bad: str | list[str]) -> None:
    with pytest.raises(UsageError):
        CrawlJob(bad)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"ratelimit": 1}, "ratelimit is not a setting of a capture; did you mean rate_limit?"),
        ({"concurrency": 3}, "concurrency is not a setting of a capture"),
        ({"workers": 3}, "workers is an option of its own, max_workers"),
        ({"limit": 3}, "limit is an option of its own, page_limit"),
        ({"rate_limit": -1}, "rate_limit is '-1', but must be a number of requests per second from 0.0001"),
        ({"rate_limit": True}, "rate_limit is True, but must be a number"),
        ({"timeout": -1}, "timeout is '-1', but must be a number of seconds"),
        ({"timeout": float("nan")}, "timeout is 'nan', but must be"),
        ({"max_body": "many"}, "max_body is 'many', but must be a size"),
        ({"resolve": ("x",)}, "resolve is 'x', but must be HOST:PORT:ADDRESS"),
        ({"resolve": 5}, "resolve is 5, but must be HOST:PORT:ADDRESS"),
        ({"include": ("re:(",)}, "include"),
        ({"robots_on_error": "sometimes"}, "robots_on_error is 'sometimes', but must be"),
    ],
)
def test_a_setting_that_cannot_be_used_is_said_in_a_sentence(
    settings: dict[str, object], sentence: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        CrawlJob("https://example.org", CaptureOptions(settings=settings))


@pytest.mark.parametrize("secret", [{"auth": ("u", "s3cret")}, {"header": 53}, {"header": "X-Key s3cret"}])
def test_a_secret_that_cannot_be_used_is_not_repeated(secret: dict[str, object]) -> None:
    with pytest.raises(UsageError) as refused:
        CrawlJob("https://example.org", CaptureOptions(settings=secret))
    assert not {"s3cret", "53"} & set(re.findall(r"\w+", str(refused.value)))


def test_settings_are_read_as_the_command_line_reads_them(tmp_path: Path) -> None:
    authorities = tmp_path / "ca.pem"
    authorities.write_text("")
    given = {
        "rate_limit": 3,
        "max_body": "2MiB",
        "header": "Accept-Language: en",
        "resolve": ["EXAMPLE.org:443:127.0.0.1"],
        "robots_on_error": RobotsOnError.RFC9309,
        "ca_file": authorities,
        "cache_age": None,
    }
    settings = CrawlJob("example.org", CaptureOptions(settings=given)).settings
    assert settings.urls == ("https://example.org/",)
    shared = settings.connection
    assert (shared.rate_limit, shared.max_body) == (3.0, 2 * 1024**2)
    assert (shared.header, shared.resolve) == (("Accept-Language: en",), ("example.org:443:127.0.0.1",))
    assert (shared.ca_file, settings.cache_age) == (str(authorities), None)
