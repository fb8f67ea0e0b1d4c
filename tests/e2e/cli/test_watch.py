"""``sumi watch``: jobs run when they are due, never two of the same, missed ones once, over kills."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.watching.plan import LastRun, Plan, WatchedJob, next_due
from sumi.watching.watcher import Record, Watcher
from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.folder_site import FolderSite, folder_site

HOUR, DAY = 3600.0, 86_400.0
HOURLY = WatchedJob("h", ("mirror",), every=HOUR)
NIGHTLY = WatchedJob("n", ("mirror",), cron="30 3 * * *")


# ── what is due ────────────────────────────────────────────────────────────────────────────────────────────


@given(
    st.lists(st.floats(0, 10 * DAY), max_size=20),
    st.floats(0.01 * DAY, 5 * DAY),
    st.sampled_from(["every", "cron"]),
)
def test_what_was_missed_is_due_once_and_nothing_before_its_time(
    gaps: list[float], every: float, how: str
) -> None:
    """A watcher that looks at any moments, with any pauses between."""
    job = WatchedJob("j", ("map",), every=every) if how == "every" else NIGHTLY
    now, last = 1.8e9, LastRun(1.8e9)
    begin, starts = now, 0
    for gap in gaps:
        now += gap
        due = next_due(job, last, now)
        if due > now:
            continue
        starts += 1
        last = LastRun(due, started=now, ended=now, code=0)
        assert next_due(job, last, now) > now
    period = every if how == "every" else DAY
    assert starts <= (now - begin) / period + 2


@given(st.floats(0, 100 * DAY))
def test_an_interval_keeps_its_beat(pause: float) -> None:
    begun = LastRun(0.0, started=10.0, ended=20.0)
    due = next_due(HOURLY, begun, pause)
    assert due == HOUR
    later = LastRun(due, started=max(pause, due), ended=max(pause, due))
    assert next_due(HOURLY, later, max(pause, due)) % HOUR == pytest.approx(0, abs=1e-3)


def test_a_run_whose_end_nobody_saw_is_repeated_at_once() -> None:
    assert next_due(HOURLY, LastRun(0.0, started=0.0), 5.0) == 5.0


def test_a_clock_that_was_set_back_does_not_put_a_job_off() -> None:
    last = LastRun(50 * DAY, started=50 * DAY, ended=50 * DAY)
    assert next_due(HOURLY, last, DAY) <= DAY + HOUR


def test_a_job_that_a_stop_ended_while_it_began_goes_on_with_the_next_watch(tmp_path: Path) -> None:
    told: list[str] = []
    plan = Plan(tmp_path / "nightly.toml", (HOURLY,))
    plan.folder.mkdir()
    watcher = Watcher(plan, told.append, now=lambda: DAY)
    watcher._record.note(HOURLY.name, LastRun(DAY, started=DAY))
    watcher.stop()
    watcher._note_end(HOURLY.name, -signal.SIGINT)
    assert told == [f"{HOURLY.name}: interrupted; it continues with the next watch"]
    assert Record(plan.folder).runs[HOURLY.name].ended is None


# ── the command ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", "<title>One</title><p>The whole site is this page.</p>")
        yield site


def watch_file(tmp_path: Path, *jobs: tuple[str, str, str]) -> Path:
    path = tmp_path / "nightly.toml"
    path.write_text(
        "".join(f'[[job]]\nname = "{name}"\ncommand = "{command}"\n{when}\n' for name, command, when in jobs)
    )
    return path


def fast(site: FolderSite, folder: str) -> str:
    return f"mirror {site.url} -o {folder} --rate-limit 0 --allow-private"


def standing(run_sumi: RunSumi, file: Path) -> dict[str, dict[str, object]]:
    lines = run_sumi("watch", "status", str(file), "--json").stdout.splitlines()
    return {job["name"]: job for job in map(json.loads, lines)}


def test_once_runs_what_is_due_and_then_nothing(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    file = watch_file(
        tmp_path,
        ("a", fast(site, "a"), 'every = "1d"'),
        ("b", fast(site, "b"), 'every = "1h"'),
        ("never", "map none.toml", 'cron = "0 0 29 2 *"'),
    )
    done = run_sumi("watch", str(file), "--once")
    assert done.returncode == 0, done.stderr
    for folder in "ab":
        assert (tmp_path / folder / site.home / "index.md").is_file()
    stands = standing(run_sumi, file)
    assert [stands[name]["code"] for name in ("a", "b", "never")] == [0, 0, None]
    assert not any(job["running"] for job in stands.values())
    asked = len(site.answers)
    assert run_sumi("watch", str(file), "--once").returncode == 0
    assert len(site.answers) == asked


def test_a_failing_job_is_told_and_does_not_keep_the_others_from_running(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    file = watch_file(
        tmp_path,
        ("bad", "mirror http://127.0.0.1:9/ --allow-private --retries 0 --rate-limit 0", 'every = "1d"'),
        ("good", fast(site, "good"), 'every = "1d"'),
    )
    done = run_sumi("watch", str(file), "--once")
    assert done.returncode not in (0, 3)
    stands = standing(run_sumi, file)
    assert stands["good"]["code"] == 0
    assert stands["bad"]["code"] not in (0, None)
    assert (tmp_path / "nightly.watch" / "bad.log").read_text()


def test_over_a_kill_a_job_is_never_run_twice_and_goes_on(
    run_sumi: RunSumi, spawn_sumi: SpawnSumi, site: FolderSite, tmp_path: Path
) -> None:
    for number in range(40):
        site.write(f"p{number}.html", f"<p>What page {number} says.</p>")
    links = "".join(f"<a href='p{number}.html'>x</a> " for number in range(40))
    site.write("index.html", f"<p>All of them: {links}</p>")
    slow = f"mirror {site.url} -o m --rate-limit 4 --allow-private"
    file = watch_file(tmp_path, ("slow", slow, 'every = "1d"'))
    first = spawn_sumi("watch", str(file))
    wait_until(first, lambda: len(site.answers) > 3)
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait()
    assert standing(run_sumi, file)["slow"]["running"]
    second = run_sumi("watch", str(file), "--once")  # the first one's job still holds its lock
    assert "still running" in second.stderr
    third = spawn_sumi("watch", str(file))
    lock = tmp_path / "m" / site.home / ".sumi" / "lock"
    owner = next((int(line) for line in lock.read_text().splitlines() if line.isdigit()), 0)
    assert owner
    os.kill(owner, signal.SIGKILL)  # the job that was left over
    third.process.send_signal(signal.SIGTERM)
    third.process.wait()
    while standing(run_sumi, file)["slow"]["running"]:  # the third may have begun it before it stopped
        pass
    assert run_sumi("watch", str(file), "--once").returncode == 0
    assert standing(run_sumi, file)["slow"]["code"] == 0
    assert len({answer.path for answer in site.answers if answer.status == 200}) >= 41


def test_two_watchers_of_one_file_are_refused(
    run_sumi: RunSumi, spawn_sumi: SpawnSumi, site: FolderSite, tmp_path: Path
) -> None:
    file = watch_file(tmp_path, ("a", fast(site, "a"), 'every = "1d"'))
    first = spawn_sumi("watch", str(file))
    wait_until(first, lambda: standing(run_sumi, file)["a"]["code"] == 0)
    assert run_sumi("watch", str(file), "--once").returncode == 7
    first.process.send_signal(signal.SIGTERM)
    assert first.process.wait() == 0


def test_every_mistake_in_the_file_is_told(run_sumi: RunSumi, tmp_path: Path) -> None:
    file = watch_file(
        tmp_path,
        ("a", "mirror https://a.org", 'every = "1d"\ncron = "@daily"'),
        ("a", "rm -rf /", 'cron = "every day"'),
    )
    done = run_sumi("watch", str(file))
    assert done.returncode == 2
    for words in ("either every or cron", "a command of sumi", "a cron expression", "two jobs are called a"):
        assert done.stderr.count(words) == 1, done.stderr
