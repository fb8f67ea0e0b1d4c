"""A run that nobody watches ends in time, leaves a log, and tells an address how it ended."""

import hashlib
import hmac
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sumi
from sumi.assembly import operating
from sumi.assembly.operating import PROGRESS_SECONDS, LogFile
from sumi.errors import UsageError
from sumi.events import Event, Progress, Summary, Warned
from tests.commands import RunSumi, parse_events
from tests.e2e.map.map_site import Page, running_web
from tests.e2e.pipeline.run_site import LIMITS, configured_crawl, plain_site
from tests.folder_site import FolderSite, folder_site
from tests.notified_server import Hook

FAST: dict[str, Any] = {"rate_limit": 0, "min_free": 0, "processes": 0}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as running:
        running.write("index.html", "Start. <a href='a.html'>A</a> <a href='b.html'>B</a>")
        running.write("a.html", "The page called A.")
        running.write("b.html", "The page called B.")
        yield running


# ── the time that a run has ─────────────────────────────────────────────────────────────────────────────────


def test_a_run_whose_time_is_up_is_interrupted_and_the_next_one_continues(
    site: FolderSite, run_sumi: RunSumi
) -> None:
    # At this rate, the second page would be requested in 1,000 seconds.
    first = run_sumi("mirror", site.url, "--rate-limit", "0.001", "--max-time", "1s", "--json")
    assert first.returncode == 3
    assert {"state": "stopping", "why": "--max-time is over"}.items() <= next(
        event for event in first.events if event["event"] == "state"
    ).items()
    assert first.events[-1]["status"] == "interrupted"
    second = run_sumi("mirror", site.url, "--rate-limit", "0", "--max-time", "1d")
    assert second.returncode == 0, second.stderr


def test_a_capture_has_a_limit_of_time_too(site: FolderSite, tmp_path: Path) -> None:
    ended = sumi.sync.capture(
        site.url, store=tmp_path / "captures", max_time="0.5s", rate_limit=0.001, min_free=0, processes=0
    )
    assert ended.summary.status == "interrupted"


@pytest.mark.parametrize("text", ["0", "-1h", "soon", "1h 30", "400d"])
def test_a_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"max_time is .* but must be a time such as 90s, 45m, 8h"):
        sumi.sync.mirror("https://docs.example.org", max_time=text)


# ── the log ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_runs_append_their_events_to_the_log(site: FolderSite, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    for _ in range(2):
        sumi.sync.mirror(site.url, output=tmp_path / "output", log_file=log, update=True, **FAST)
    events = parse_events(log.read_text())
    assert [event["event"] for event in events].count("summary") == 2
    assert {"started", "page", "robots", "summary"} <= {event["event"] for event in events}
    assert all(event["time"] for event in events)
    assert [event["time"] for event in events] == sorted(event["time"] for event in events)


def test_an_error_is_logged(site: FolderSite, tmp_path: Path) -> None:
    site.stop()
    log = tmp_path / "log.jsonl"
    with pytest.raises(sumi.SumiError) as raised:
        sumi.sync.mirror(site.url, output=tmp_path / "output", log_file=log, **FAST)
    last = parse_events(log.read_text())[-1]
    assert (last["event"], last["message"]) == ("error", str(raised.value))


def test_a_torn_line_takes_no_other_with_it(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"event":"warning","mess')
    log = LogFile(str(path))
    log(Warned("after the power cut"))
    log.close(lambda event: None)
    torn, whole = path.read_text().splitlines()
    assert torn == '{"event":"warning","mess'
    assert msgspec.json.decode(whole)["message"] == "after the power cut"


def test_progress_is_logged_once_a_minute(tmp_path: Path) -> None:
    now = [1000.0]
    log = LogFile(str(tmp_path / "log.jsonl"), lambda: now[0])
    for second in range(3 * int(PROGRESS_SECONDS)):
        now[0] = 1000.0 + second
        log(Progress(second, 0, 0, 0, 1.0, None))
    log.close(lambda event: None)
    written = parse_events((tmp_path / "log.jsonl").read_text())
    assert [event["done"] for event in written] == [0, 60, 120]


def test_a_log_that_cannot_be_written_ends_and_says_so() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("/dev/full is not there")
    heard: list[Event] = []
    log = LogFile("/dev/full")
    log(Warned("one"))
    log(Warned("two"))
    log.close(heard.append)
    assert heard == [Warned("the log file /dev/full is incomplete: No space left on device")]


def test_a_log_in_a_folder_that_is_not_there_is_refused_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the log file .* cannot be written: No such file"):
        sumi.sync.mirror(
            "https://docs.example.org", log_file=tmp_path / "none" / "log", output=tmp_path / "o"
        )
    assert not (tmp_path / "o").exists()


# ── the notification ────────────────────────────────────────────────────────────────────────────────────────


def test_the_end_is_notified_and_signed(site: FolderSite, run_sumi: RunSumi) -> None:
    with Hook().serving() as hook:
        secret = {"SUMI_NOTIFY_SECRET": "between us", "SUMI_NOTIFY": hook.url}
        done = run_sumi("mirror", site.url, "--rate-limit", "0", "--json", env=secret)
    assert done.returncode == 0, done.stderr
    (post,) = hook.posts
    assert post.path == "/hook?key=abc"
    assert post.headers["Content-Type"] == "application/json"
    expected = hmac.new(b"between us", post.body, hashlib.sha256).hexdigest()
    assert post.headers["X-Sumi-Signature"] == f"sha256={expected}"
    told, shown = hook.told[0], done.events[-1]
    assert told.pop("target").rstrip("/") == site.url.rstrip("/")
    assert told.pop("time") <= shown.pop("time")  # the summary stays the last event
    assert told == shown
    assert "between us" not in done.stdout + done.stderr


def test_a_server_in_trouble_is_asked_three_times(
    site: FolderSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operating, "PAUSES", (0.0, 0.0))
    heard: list[Event] = []
    with Hook(503, 500).serving() as hook:
        sumi.sync.mirror(
            site.url, output=tmp_path / "o", notify=hook.url, listeners=[heard.append], auth="me:pw", **FAST
        )
    assert len(hook.posts) == 3
    assert len({post.body for post in hook.posts}) == 1
    assert "Authorization" not in hook.posts[0].headers  # the site's password stays with the site
    assert "X-Sumi-Signature" not in hook.posts[0].headers
    assert not [event for event in heard if isinstance(event, Warned)]


@pytest.mark.parametrize(("statuses", "tries"), [((404,), 1), ((503, 503, 503), 3)])
def test_a_notification_that_fails_is_a_warning_before_the_summary(
    site: FolderSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statuses: tuple[int, ...], tries: int
) -> None:
    monkeypatch.setattr(operating, "PAUSES", (0.0, 0.0))
    heard: list[Event] = []
    with Hook(*statuses).serving() as hook:
        summary = sumi.sync.mirror(
            site.url, output=tmp_path / "o", notify=hook.url, listeners=[heard.append], **FAST
        )
    assert len(hook.posts) == tries
    assert summary.status == "complete"
    warning, last = heard[-2:]
    assert warning == Warned(f"the notification to 127.0.0.1 was not delivered: HTTP {statuses[0]}")
    assert isinstance(last, Summary)


def test_an_error_is_notified_too(site: FolderSite, tmp_path: Path) -> None:
    site.stop()
    with Hook().serving() as hook, pytest.raises(sumi.SumiError) as raised:
        sumi.sync.mirror(site.url, output=tmp_path / "o", notify=hook.url, **FAST)
    (told,) = hook.told
    assert (told["event"], told["message"]) == ("error", str(raised.value))


def test_the_address_guard_holds_for_notifications(site: FolderSite, tmp_path: Path) -> None:
    """The site may be private because it was typed; a name that leads to a private address was not."""
    heard: list[Event] = []
    with Hook().serving() as hook:
        metadata = "http://169.254.169.254/latest"
        sumi.sync.mirror(site.url, output=tmp_path / "o", notify=metadata, listeners=[heard.append], **FAST)
    assert hook.posts == []
    (warning,) = [event for event in heard if isinstance(event, Warned)]
    assert warning.message.startswith("the notification to 169.254.169.254 was not delivered: ")


# ── the other jobs ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_of_two_processes_has_one_log_and_one_notification(tmp_path: Path, run_sumi: RunSumi) -> None:
    log = tmp_path / "log.jsonl"
    with plain_site() as site, Hook().serving() as hook:
        configured_crawl(tmp_path, site)
        env = {"SUMI_NOTIFY": hook.url, "SUMI_LOG_FILE": str(log)}  # not for the crawler's process
        done = run_sumi("run", "--config", "crawl.yaml", "--json", env=env)
    assert done.returncode == 0, done.stderr
    (told,) = hook.told
    assert (told["job"], told["status"], told["target"]) == ("run", "complete", "crawl.yaml")
    assert told["outcomes"] == done.events[-1]["outcomes"]
    logged = parse_events(log.read_text())
    ends = [event["job"] for event in logged if event["event"] == "summary"]
    assert (sorted(ends[:2]), ends[2:]) == (["crawler", "scraper"], ["run"])
    pages = [event["url"] for event in logged if event["event"] == "page"]
    assert pages.count(f"{site.url}/p1") == 2  # found by one, archived by the other


def test_a_run_of_two_processes_ends_in_time(tmp_path: Path, run_sumi: RunSumi) -> None:
    with plain_site(pages=500) as site:
        configured_crawl(tmp_path, site, limits=LIMITS | {"req_per_sec": 1})
        done = run_sumi("run", "--config", "crawl.yaml", "--max-time", "2s")
    assert done.returncode == 3, done.stderr


def test_a_crawl_in_one_process_is_operated_like_a_mirror(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with plain_site() as site, Hook().serving() as hook:
        config = configured_crawl(tmp_path, site)
        sumi.sync.run(config, unified=True, min_free=0, notify=hook.url, log_file=log, max_time="1h")
    (told,) = hook.told
    assert told["status"] == "complete"
    assert parse_events(log.read_text())[-1]["event"] == "summary"


def test_a_map_is_operated_like_a_mirror(tmp_path: Path, run_sumi: RunSumi) -> None:
    with running_web({"good.test/": Page()}, tmp_path, tls=False) as web, Hook().serving() as hook:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}))
        done = run_sumi("map", config, "--notify", hook.url, "--log-file", "log.jsonl", "--max-time", "1h")
    assert done.returncode == 0, done.stderr
    (told,) = hook.told
    assert (told["job"], told["status"]) == ("map", "limited")  # one page alone
    assert parse_events((tmp_path / "log.jsonl").read_text())[-1]["event"] == "summary"


def test_a_setting_that_no_job_has_is_refused(tmp_path: Path) -> None:
    with plain_site() as site, pytest.raises(UsageError, match="max_tim is not a setting of a run; did you"):
        sumi.sync.run(configured_crawl(tmp_path, site), max_tim="1h")
