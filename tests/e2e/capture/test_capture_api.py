"""From Python a capture is awaited, or runs in the background and can be paused, resumed and cancelled."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

import sumi
from sumi.errors import StateLocked, UsageError
from sumi.events import CaptureProgress, Event
from sumi.jobs.capture.rows import JobStatus
from sumi.jobs.capture.settings import CaptureSettings, keyword_settings
from sumi.policy import RenderMode, RobotsOnError
from tests.e2e.capture.captures import write_section
from tests.folder_site import folder_site

T = TypeVar("T")
QUICK: dict[str, Any] = {"rate_limit": 0, "processes": 0, "min_free": 0}


def hearing(told: Callable[[CaptureProgress], None]) -> Callable[[Event], None]:
    return lambda event: told(event) if isinstance(event, CaptureProgress) else None


def run(main: Callable[[], Awaitable[T]]) -> T:
    async def bounded() -> T:
        return await asyncio.wait_for(main(), 60)

    return asyncio.run(bounded())


def test_progress_is_reported_after_every_page(tmp_path: Path) -> None:
    told: list[CaptureProgress] = []
    with folder_site(tmp_path / "site") as site:
        write_section(site, "docs", 7)
        captures = sumi.Captures(tmp_path / "captures")

        async def main() -> str:
            run = await captures.start([f"{site.url}docs/"], listeners=[hearing(told.append)], **QUICK)
            captured = await run.wait()
            assert captured.job.base_urls == (f"{site.url}docs",)
            assert (captured.job.id, captured.job.status) == (run.job_id, JobStatus.COMPLETED)
            return run.job_id

        job_id = run(main)
    assert [progress.pages_processed for progress in told] == list(range(1, 9))
    for progress in told:
        waiting = progress.queue_size + len(progress.in_progress)
        assert progress.pages_found == progress.pages_processed + waiting
        assert (progress.job, progress.pages_failed) == (job_id, 0)
    assert told[-1].queue_size == 0
    with captures.show() as shown:
        assert (shown.job.id, len(list(shown.pages()))) == (job_id, 8)


def test_a_capture_without_an_event_loop_is_exported_and_deleted(tmp_path: Path) -> None:
    store = tmp_path / "captures"
    with folder_site(tmp_path / "site") as site:
        write_section(site, "docs", 2)
        captured = sumi.sync.capture(f"{site.url}docs", store=store, **QUICK)
    captures = sumi.Captures(store)
    assert [job.id for job in captures.jobs()] == [captured.job.id]
    assert captures.export(form="jsonl", output=tmp_path / "pages.jsonl").pages == 3
    assert len((tmp_path / "pages.jsonl").read_bytes().splitlines()) == 3
    with pytest.raises(UsageError, match="'pdf' is not an export format: choose one of folder, markdown"):
        captures.export(form="pdf")
    for steer in (captures.pause, captures.cancel):
        with pytest.raises(UsageError, match="no capture is running"):
            steer()
    captures.delete(captured.job.id)
    assert captures.jobs() == []


def test_a_capture_can_be_cancelled_with_a_full_queue_and_resumed(tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        write_section(site, "docs", 40)
        captures = sumi.Captures(tmp_path / "captures")

        async def main() -> None:
            some_pages = asyncio.Event()

            def hear(progress: CaptureProgress) -> None:
                if progress.pages_processed == 2:
                    some_pages.set()

            slowly = {**QUICK, "rate_limit": 20}
            active = await captures.start(f"{site.url}docs", listeners=[hearing(hear)], **slowly)
            with pytest.raises(StateLocked, match="already in progress"):
                await captures.start(f"{site.url}docs", **QUICK)
            await some_pages.wait()
            active.cancel()
            captured = await active.wait()
            assert active.is_cancelled
            assert captured.job.status is JobStatus.INTERRUPTED
            assert captured.job.queue_size > 0
            again = await captures.resume(rate_limit=0)
            assert again is not None
            assert again.job_id == active.job_id
            assert (await again.wait()).job.pages_processed == 41

        run(main)


def test_a_paused_job_continues_where_it_was(tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        write_section(site, "docs", 12)
        captures = sumi.Captures(tmp_path / "captures")

        async def main() -> None:
            first_page = asyncio.Event()
            # A second between pages: paused before the next one, however slow this machine is.
            slowly = {**QUICK, "rate_limit": 1}
            active = await captures.start(
                f"{site.url}docs", listeners=[hearing(lambda _: first_page.set())], **slowly
            )
            await first_page.wait()
            active.pause()
            assert active.is_paused
            assert captures.job(active.job_id).status is JobStatus.PAUSED
            active.resume()
            assert captures.job().status is JobStatus.IN_PROGRESS
            active.cancel()
            assert (await active.wait()).job.pages_processed < 13

        run(main)


def test_start_raises_for_an_unusable_store(tmp_path: Path) -> None:
    (tmp_path / "captures").write_text("a file")

    async def main() -> None:
        with pytest.raises(UsageError, match="captures"):
            await sumi.Captures(tmp_path / "captures").start("http://127.0.0.1:9/", **QUICK)

    run(main)


def test_start_raises_for_a_missing_browser(tmp_path: Path) -> None:
    async def main() -> None:
        captures = sumi.Captures(tmp_path / "captures")
        with pytest.raises(UsageError, match="/nope"):
            await captures.start("http://127.0.0.1:9/", render="fast", browser="/nope", **QUICK)
        assert not (tmp_path / "captures").exists()

    run(main)


def given(url: str | list[str] = "https://example.org", **settings: Any) -> CaptureSettings:
    return keyword_settings(url, settings)


@pytest.mark.parametrize(
    ("asked", "granted"), [(-3, 1), (0, 5), (1, 1), (7, 7), (10, 10), (11, 10), (10**9, 10)]
)
def test_workers_are_between_one_and_ten(asked: int, granted: int) -> None:
    assert given(workers=asked).workers == granted


@pytest.mark.parametrize(("asked", "granted"), [(-1, 0), (0, 0), (1, 1), (3, 3), (5, 5), (6, 5)])
def test_external_hops_are_at_most_five(asked: int, granted: int) -> None:
    assert given(external_hops=asked).external_hops == granted


@pytest.mark.parametrize(("asked", "granted"), [(None, 0), (0, 0), (-5, 0), (3, 3)])
def test_a_page_limit_of_zero_is_no_limit(asked: int | None, granted: int) -> None:
    assert given(limit=asked).limit == granted


def test_settings_reach_the_job() -> None:
    settings = given(render=RenderMode.THOROUGH, wait_for=("main",), loose_paths=True)
    assert (settings.render, settings.wait_for) == (RenderMode.THOROUGH, ("main",))
    assert settings.loose_paths
    assert (settings.timeout, settings.rate_limit) == (30.0, 2.0)


@pytest.mark.parametrize("bad", ["", "no url", "ftp://example.org", []])
def test_invalid_urls_are_refused_at_once(bad: str | list[str]) -> None:
    with pytest.raises(UsageError):
        given(bad)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"ratelimit": 1}, "ratelimit is not a setting of a capture; did you mean rate_limit?"),
        ({"concurrency": 3}, "concurrency is not a setting of a capture"),
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
def test_an_unusable_setting_is_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        given(**settings)


@pytest.mark.parametrize("secret", [{"auth": ("u", "s3cret")}, {"header": 53}, {"header": "X-Key s3cret"}])
def test_an_unusable_secret_is_not_repeated(secret: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as refused:
        given(**secret)
    assert not {"s3cret", "53"} & set(re.findall(r"\w+", str(refused.value)))


def test_settings_are_read_as_the_command_line_reads_them(tmp_path: Path) -> None:
    authorities = tmp_path / "ca.pem"
    authorities.write_text("")
    values = {
        "rate_limit": 3,
        "max_body": "2MiB",
        "header": "Accept-Language: en",
        "resolve": ["EXAMPLE.org:443:127.0.0.1"],
        "robots_on_error": RobotsOnError.RFC9309,
        "ca_file": authorities,
        "cache_age": None,
    }
    settings = given("example.org", **values)
    assert settings.urls == ("https://example.org/",)
    shared = settings
    assert (shared.rate_limit, shared.max_body) == (3.0, 2 * 1024**2)
    assert (shared.header, shared.resolve) == (("Accept-Language: en",), ("example.org:443:127.0.0.1",))
    assert (shared.ca_file, settings.cache_age) == (str(authorities), None)
