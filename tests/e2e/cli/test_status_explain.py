"""`sumi status` and `sumi explain` tell the truth about a job: while it runs, when it ended, after a kill."""

import os
import shlex
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.commands import FinishedSumi, RunSumi, SpawnSumi
from tests.e2e.mirror.test_control import wait_for_event, wait_for_requests
from tests.folder_site import folder_site
from tests.site import MakeSite, RobotsPreset, RunningSite

FAST = ("--rate-limit", "0", "--json")


def told(run: FinishedSumi) -> dict[str, Any]:
    assert run.stderr == ""
    answer: dict[str, Any] = msgspec.json.decode(run.stdout)
    return answer


def home_of(site: RunningSite, tmp_path: Path) -> Path:
    return tmp_path / "output" / f"127.0.0.1_{site.port}"


def assert_balanced(status: dict[str, Any]) -> None:
    assert status["balanced"]
    assert sum(status["outcomes"].values()) == status["discovered"]


# ── status ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_finished_job_says_what_its_summary_said(
    make_site: MakeSite, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=20, seed=3)
    summary = run_sumi("mirror", site.url, *FAST).events[-1]
    for place in ("output", str(home_of(site, tmp_path))):
        status = told(run_sumi("status", place, "--json"))
        assert_balanced(status)
        assert (status["state"], status["outcomes"]) == (summary["status"], summary["outcomes"])
        assert status["process"] is None
        assert status["hosts"] == []
    words = run_sumi("status").stdout
    assert f"mirror {site.url}/: partial" in words
    assert "not_found" in words


def test_what_a_finished_job_left_out_is_told(small_site: RunningSite, run_sumi: RunSumi) -> None:
    """Only the end of the run knows it: pages that wait for another run look the same as pages left out."""
    summary = run_sumi("mirror", small_site.url, *FAST, "--max-pages", "3").events[-1]
    status = told(run_sumi("status", "--json"))
    assert summary["left_out"]
    assert (status["state"], status["left_out"]) == (summary["status"], summary["left_out"])


def test_pages_beyond_the_limit_wait_for_nothing(run_sumi: RunSumi, tmp_path: Path) -> None:
    """They come with a larger limit only, so nothing says that the same command would continue."""
    with folder_site(tmp_path / "site") as site:
        names = [f"p{number}.html" for number in range(9)]
        site.write("index.html", "".join(f'<p>To <a href="{name}">{name}</a>.</p>' for name in names))
        for name in names:
            site.write(name, f"<p>All there is to know of {name}.</p>")
        summary = run_sumi("mirror", site.url, *FAST, "--trap-hops", "50", "--max-pages", "4").events[-1]
        assert summary["outcomes"]["over_cap"] == 6
        status = told(run_sumi("status", "--json"))
        assert status["outcomes"] == summary["outcomes"]
        assert (status["balanced"], status["hosts"]) == (True, [])
        home = tmp_path / "output" / site.home
        explained = run_sumi("explain", f"{site.url}p8.html").stdout
        said = [run_sumi("status").stdout, explained, (home / "_checkpoint.json").read_text()]
        assert not any("same command again" in words for words in said)
        assert all("over_cap" in words for words in said[:2])
        assert '"status": "finished"' in said[2]
        headline, command = run_sumi().stdout.splitlines()[2:4]
        assert headline.endswith(": limited, 4 pages")
        (*words, limit) = shlex.split(command)
        typed = ["--trap-hops", "50", "--rate-limit", "0", "--min-free", "0"]
        assert (words, limit) == (["sumi", "mirror", site.url, *typed, "--max-pages"], "10")
        assert run_sumi(*words[1:], limit, "--json").events[-1]["status"] == "complete"


def test_a_host_that_had_its_requests_goes_on_with_the_command_that_is_shown(
    run_sumi: RunSumi, tmp_path: Path
) -> None:
    with folder_site(tmp_path / "site") as site:
        names = [f"p{number}.html" for number in range(12)]
        site.write("index.html", "".join(f'<p>To <a href="{name}">{name}</a>.</p>' for name in names))
        for name in names:
            site.write(name, f"<p>All there is to know of {name}.</p>")
        ended = run_sumi("mirror", site.url, "--rate-limit", "0", "--max-requests-per-host", "9")
        assert "\n  continue    sumi mirror" in ended.stderr
        before = told(run_sumi("status", "--json"))
        assert before["left_out"]["over_budget"] > 0
        command = shlex.split(run_sumi().stdout.splitlines()[-1])
        assert "--update" not in command
        after = run_sumi(*command[1:], "--json").events[-1]
        assert after["outcomes"]["captured"] > before["outcomes"]["captured"]


def test_a_running_job_is_seen_without_disturbing_it(
    make_site: MakeSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi
) -> None:
    site = make_site(pages=40, seed=3)
    running = spawn_sumi("mirror", site.url, "--rate-limit", "5", "--json")
    wait_for_requests(site, running, 6)
    status = told(run_sumi("status", "--json"))
    assert_balanced(status)
    assert (status["state"], status["process"]) == ("running", running.process.pid)
    assert status["outcomes"]["pending"] > 0
    assert [host["host"] for host in status["hosts"]] == [f"127.0.0.1:{site.port}"]
    assert running.process.poll() is None
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(30) == 3
    assert told(run_sumi("status", "--json"))["state"] == "interrupted"


def test_a_killed_job_is_told_as_it_was_left(
    make_site: MakeSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    site = make_site(pages=60, seed=3)
    running = spawn_sumi("mirror", site.url, "--rate-limit", "50", "--json", "--max-pages", "50")
    wait_for_requests(site, running, 20)
    os.killpg(running.process.pid, signal.SIGKILL)
    running.process.wait()
    journal = home_of(site, tmp_path) / ".sumi" / "journal-000001.log"
    with journal.open("ab") as file:
        file.write(b"000001f0 0badc0de {torn")
    before = journal.read_bytes()
    status = told(run_sumi("status", "--json"))
    assert_balanced(status)
    assert (status["state"], status["process"]) == ("interrupted", None)
    assert "waiting for the next run" in status["hosts"][0]["why"]
    assert journal.read_bytes() == before  # looked at, not mended


def test_a_host_that_asked_for_a_pause_is_named_with_its_time(
    make_site: MakeSite, spawn_sumi: SpawnSumi, run_sumi: RunSumi
) -> None:
    site = make_site(pages=5, seed=1)
    running = spawn_sumi("mirror", f"{site.url}/bad/status-503-retry-after?seconds=60", *FAST)
    wait_for_event(running, "retry")
    (host,) = told(run_sumi("status", "--json"))["hosts"]
    assert "pause" in host["why"] or "retry" in host["why"]
    assert host["ready_at"] > 0


@pytest.mark.parametrize("command", [("status",), ("explain", "http://a.test/", "--in")])
def test_a_folder_without_a_job_is_refused_in_one_sentence(
    run_sumi: RunSumi, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "empty").mkdir()
    run = run_sumi(*command, "empty")
    assert run.returncode == 2
    assert "holds no job" in run.stderr


# ── explain ────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_way_from_the_seed_to_a_page_is_told(make_site: MakeSite, run_sumi: RunSumi) -> None:
    site = make_site(pages=30, seed=3)
    run_sumi("mirror", site.url, *FAST)
    path = max(site.truth.captured_by_sitemap)
    why = told(run_sumi("explain", site.url + path, "--json"))
    assert (why["outcome"], why["known"]) == ("captured", True)
    assert why["chain"][-1] == {"hop": "manifest", "url": site.url + path}
    assert [step["hop"] for step in why["chain"][:2]] == ["site", "robots"]
    assert why["facts"]["status"] == 200
    assert why["facts"]["path"].endswith("index.md")
    assert [attempt["outcome"] for attempt in why["attempts"]] == ["captured"]
    words = run_sumi("explain", site.url + path).stdout
    assert "how it was found" in words
    assert why["facts"]["title"] in words


def test_each_attempt_of_a_failed_page_is_told(make_site: MakeSite, run_sumi: RunSumi) -> None:
    site = make_site(pages=5, seed=1)
    url = f"{site.url}/bad/status-500"
    run_sumi("mirror", url, *FAST, "--retries", "1")
    why = told(run_sumi("explain", url, "--json"))
    assert why["outcome"] == "server_error"
    assert [attempt["rule"] for attempt in why["attempts"]] == ["HTTP 500", "HTTP 500"]
    assert why["chain"] == [{"hop": "seed", "url": url}]
    assert why["advice"]


def test_a_page_passed_over_names_the_rule(make_site: MakeSite, run_sumi: RunSumi) -> None:
    site = make_site(pages=60, seed=5, robots=RobotsPreset.SECTION)
    run_sumi("mirror", site.url, *FAST)
    path = min(site.truth.disallowed)
    why = told(run_sumi("explain", site.url + path, "--json"))
    assert why["outcome"] == "robots_denied"
    assert "robots.txt" in why["rule"]
    assert why["attempts"] == []


def test_of_an_unknown_url_it_is_told_what_would_become_of_it(make_site: MakeSite, run_sumi: RunSumi) -> None:
    site = make_site(pages=20, seed=5, robots=RobotsPreset.SECTION)
    run_sumi("mirror", site.url, *FAST, "--exclude", "/private/*")
    taken = run_sumi("explain", f"{site.url}/nobody-links-here")
    assert taken.returncode == 1
    assert "would be taken" in taken.stdout
    excluded = run_sumi("explain", f"{site.url}/private/x", "--json")
    answer = msgspec.json.decode(excluded.stdout)
    assert (answer["known"], answer["outcome"]) == (False, "excluded")
    assert "/private/*" in answer["rule"]
    elsewhere = msgspec.json.decode(run_sumi("explain", "http://elsewhere.test/", "--json").stdout)
    assert elsewhere["outcome"] == "out_of_scope"


def test_a_url_is_taken_as_typed(make_site: MakeSite, run_sumi: RunSumi) -> None:
    site = make_site(pages=20, seed=3)
    run_sumi("mirror", site.url, *FAST)
    assert told(run_sumi("explain", f"HTTP://127.0.0.1:{site.port}/#top", "--json"))["url"] == f"{site.url}/"
    refused = run_sumi("explain", "mailto:me@example.org")
    assert refused.returncode == 2
    assert "must be an http or https address" in refused.stderr
