"""What the window says of a job is what the job's own commands say."""

import json
from pathlib import Path

from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.serve.conftest import EVIL_TITLE, Library
from tests.serve.windows import OpenWindow, opened


def test_counts_add_up_and_are_those_of_sumi_status(
    window: OpenWindow, library: Library, run_sumi: RunSumi
) -> None:
    job = window.jobs()[0]
    status = json.loads(run_sumi("status", str(library.folder), "--json").stdout)
    told = {name: count for name, count in status["outcomes"].items() if count}
    assert job["outcomes"] == told
    assert job["discovered"] == status["discovered"] == sum(told.values()) == sum(job["endings"].values())
    assert job["state"] == status["state"] == "partial"
    groups = window.get(f"/api/jobs/{job['id']}/failures").json
    assert sum(group["count"] for group in groups) == job["discovered"]
    assert sum(group["count"] for group in groups if group["ending"] == "failed") == job["endings"]["failed"]


def test_failures_name_who_links_there(window: OpenWindow, library: Library) -> None:
    job = window.jobs()[0]["id"]
    (group,) = window.get(f"/api/jobs/{job}/failures?ending=failed").json
    rows = window.get(f"/api/jobs/{job}/urls?outcome=not_found").json["rows"]
    assert (group["outcome"], group["count"]) == ("not_found", len(rows))
    missing = next(row for row in rows if row["url"].endswith("/missing.html"))
    assert missing["referrer"] == library.site.url


def test_hosts_say_what_they_answered_last(window: OpenWindow, library: Library) -> None:
    job = window.jobs()[0]
    told = window.get(f"/api/jobs/{job['id']}/hosts").json
    (host,) = (one for one in told["answers"] if one["host"] == library.site.url.split("/")[2])
    last = max(
        (row["at"], row["outcome"])
        for group in window.get(f"/api/jobs/{job['id']}/failures").json
        if group["ending"] in ("done", "failed")
        for row in window.get(f"/api/jobs/{job['id']}/urls?outcome={group['outcome']}").json["rows"]
    )
    assert (host["at"], host["robots"]) == (last[0], 404)
    assert sum(one["urls"] for one in told["answers"]) == job["discovered"]


def test_the_tree_counts_every_page_once(window: OpenWindow, library: Library) -> None:
    job = window.jobs()[0]["id"]
    (root,) = window.get(f"/api/jobs/{job}/tree").json["folders"]
    assert root == {"path": library.site.url, "name": library.site.url, "pages": 33}
    inside = window.get(f"/api/jobs/{job}/tree?under={library.site.url}").json
    assert [(folder["name"], folder["pages"]) for folder in inside["folders"]] == [("part/", 30)]
    assert len(inside["rows"]) == 3


def test_pages_are_found_by_title_and_lists_go_on_after_a_key(window: OpenWindow) -> None:
    job = window.jobs()[0]["id"]
    rows = window.get(f"/api/jobs/{job}/pages?q=page%207").json["rows"]
    assert [row["title"] for row in rows] == ["Page 7"]
    everything = window.get(f"/api/jobs/{job}/pages").json["rows"]
    later = window.get(f"/api/jobs/{job}/pages?after={everything[9]['url']}").json["rows"]
    assert later == everything[10:]
    assert window.get(f"/api/jobs/{job}/pages?q=%25").json["rows"] == []  # no pattern, but a character


def test_a_page_comes_with_its_markdown_and_its_source(window: OpenWindow, library: Library) -> None:
    job = window.jobs()[0]["id"]
    page = window.get(f"/api/page?job={job}&url={library.site.url}hostile.html").json
    assert page["facts"]["title"] == EVIL_TITLE
    assert "alert(3)" in page["source"]["text"]
    assert "A paragraph of the hostile page" in page["markdown"]["text"]
    assert window.get(f"/api/page?job={job}&url={library.site.url}unknown").status == 404


def test_a_page_that_was_changed_behind_our_back_is_not_shown(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi, library: Library, tmp_path: Path
) -> None:
    assert run_sumi("mirror", library.site.url, "-o", "mine", "--rate-limit", "0", "-q").returncode == 1
    window = opened(spawn_sumi, "mine", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    job = window.jobs()[0]["id"]
    (tmp_path / "mine" / library.site.home / "index.md").write_text("---\n---\n\nsomething else")
    page = window.get(f"/api/page?job={job}&url={library.site.url}").json
    assert page["markdown"] is None
    assert page["source"] is not None


def test_a_damaged_job_says_so_and_hides_no_other(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi, library: Library, tmp_path: Path
) -> None:
    assert run_sumi("mirror", library.site.url, "-o", "mine", "--rate-limit", "0", "-q").returncode == 1
    broken = tmp_path / "mine" / "broken.example" / ".sumi"
    broken.mkdir(parents=True)
    (broken / "format.json").write_text('{"sumi-state": "nothing", "format": 1}')
    window = opened(spawn_sumi, "mine", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    states = {job["name"]: (job["state"], job["problem"]) for job in window.jobs()}
    assert states[library.site.home] == ("partial", "")
    assert states["broken.example"][0] == "unreadable"
    assert "nothing" in states["broken.example"][1]


def test_metrics_are_the_counts_of_the_jobs(window: OpenWindow) -> None:
    (job,) = window.jobs()
    bearer = {"Authorization": f"Bearer {window.token}"}
    assert window.ask("/metrics").status == 401
    text = window.ask("/metrics", headers=bearer).body.decode()
    of = f'job="mirror",name="{job["name"]}",target="{job["target"]}"'
    lines = text.splitlines()
    for outcome, count in job["outcomes"].items():
        assert f'sumi_job_urls{{{of},outcome="{outcome}"}} {count}' in lines
    assert f"sumi_job_running{{{of}}} 0" in lines
    named = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(named) == len(set(named))
    assert {line.partition("{")[0] for line in lines if not line.startswith("#")} == set(named)


def test_a_job_that_was_started_here_is_not_started_twice(
    spawn_sumi: SpawnSumi, library: Library, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    window = opened(spawn_sumi, "mine", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    wanted = {"url": library.site.url, "rate_limit": "1"}
    started = window.post("/api/jobs", wanted)
    assert started.status == 201
    again = window.post("/api/jobs", wanted)
    assert again.status == 422
    assert "still runs" in again.json["error"]
    job = started.json["job"] or window.get("/api/jobs").json[0]["id"]
    assert window.post(f"/api/jobs/{job}/cancel").status == 200
    wait_until(window.process, lambda: window.get(f"/api/jobs/{job}").json["process"] is None)


def test_a_capture_hides_no_mirror_and_has_its_events(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi, library: Library, tmp_path: Path
) -> None:
    """Both are begun from one form, into one folder."""
    assert run_sumi("mirror", library.site.url, "-o", "mine", "--rate-limit", "0", "-q").returncode == 1
    window = opened(spawn_sumi, "mine", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    wanted = {"url": f"{library.site.url}part/", "kind": "capture", "rate_limit": "0"}
    for _ in range(2):
        started = window.post("/api/jobs", wanted)
        assert started.status == 201
        assert f"--captures {tmp_path}/mine/captures" in started.json["command"]
        wait_until(
            window.process, lambda: all(job["process"] is None for job in window.get("/api/jobs").json)
        )
    jobs = window.jobs()
    assert sorted(job["kind"] for job in jobs) == ["capture", "capture", "mirror"]
    for job in jobs:
        events = window.get(f"/api/jobs/{job['id']}/log").json["events"]
        outputs = {Path(event["output"]).name for event in events if event["event"] == "started"}
        assert outputs == (set() if job["kind"] == "mirror" else {job["name"]})
