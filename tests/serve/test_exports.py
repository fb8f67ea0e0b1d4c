"""What is taken out of the window as a file: exports, lists, captured files."""

import csv
import fcntl
import io
import json
from pathlib import Path

import pytest

from sumi.catalogue.find import Job, JobKind
from sumi.serve import exports
from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.folder_site import FolderSite
from tests.made_maps import Page, make_map
from tests.serve.conftest import EVIL_TITLE, Library
from tests.serve.made_jobs import make_mirror
from tests.serve.windows import OpenWindow, opened


@pytest.fixture
def mine(spawn_sumi: SpawnSumi, run_sumi: RunSumi, library: Library, tmp_path: Path) -> OpenWindow:
    """A window on a mirror that a test may change."""
    assert run_sumi("mirror", library.site.url, "-o", "mine", "--rate-limit", "0", "-q").returncode == 1
    return opened(spawn_sumi, "mine", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})


def _exported(window: OpenWindow, job: str, kind: str) -> dict[str, object]:
    assert window.post(f"/api/jobs/{job}/exports", {"format": kind}).status == 201

    def is_over() -> bool:
        return all(made["state"] != "running" for made in _made(window, job))

    wait_until(window.process, is_over)
    return next(made for made in _made(window, job) if made["format"] == kind)


def _made(window: OpenWindow, job: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = window.get(f"/api/jobs/{job}/exports").json["made"]
    return found


def test_an_export_is_what_the_command_writes(mine: OpenWindow) -> None:
    job = mine.jobs()[0]["id"]
    assert mine.get(f"/raw/export/{job}?format=jsonl").status == 404  # not yet
    made = _exported(mine, job, "jsonl")
    assert (made["state"], made.get("problem"), made["written"]) == ("there", "", 33)
    answer = mine.get(f"/raw/export/{job}?format=jsonl")
    rows = [json.loads(line) for line in answer.body.splitlines()]
    assert len(rows) == 33
    assert EVIL_TITLE in {row["title"] for row in rows}
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-security-policy"].startswith("sandbox")


def test_an_export_that_fails_says_why(spawn_sumi: SpawnSumi, tmp_path: Path) -> None:
    make_mirror(tmp_path / "library", 0)
    window = opened(spawn_sumi, "library", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    job = window.jobs()[0]["id"]
    made = _exported(window, job, "epub")
    assert made["state"] == "failed"
    assert "no page was captured" in str(made["problem"])


def test_what_an_earlier_export_said_is_not_taken_for_the_next_ones_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(kind=JobKind.MIRROR, name="a", home=tmp_path, state=tmp_path, root=tmp_path)
    kind = exports.format_of(job, "epub")
    for words in (["echo", '{"event": "error", "message": "of then"}'], ["true"]):
        monkeypatch.setattr(exports, "as_process", lambda *_, command=words, **__: command)
        assert exports.start_export(job, kind).wait() == 0
    [made] = exports.exports_of(job)
    assert (made.state, made.problem) == ("failed", "It ended without a result.")


def test_an_export_of_another_window_is_seen_to_run(mine: OpenWindow, tmp_path: Path) -> None:
    """Its log is locked while it lives: the window that began it may be gone."""
    job = mine.jobs()[0]["id"]
    _exported(mine, job, "llms")
    log = tmp_path / "mine" / ".sumi-window" / "exports" / job / ".llms.jsonl"
    with log.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert [made["state"] for made in _made(mine, job)] == ["running"]
        assert mine.post(f"/api/jobs/{job}/exports", {"format": "llms"}).status == 422
    assert [made["state"] for made in _made(mine, job)] == ["there"]


@pytest.mark.parametrize("name", ["nothing", "../../jsonl", "", "wacz/../../x"])
def test_only_formats_of_the_list_are_made_or_sent(window: OpenWindow, name: str) -> None:
    job = window.jobs()[0]["id"]
    assert window.post(f"/api/jobs/{job}/exports", {"format": name}).status == 422
    assert window.get(f"/raw/export/{job}?format={name}").status == 422


def test_a_map_is_exported_for_gephi(spawn_sumi: SpawnSumi, tmp_path: Path) -> None:
    (tmp_path / "maps").mkdir()
    made = [Page(f"https://a.example/{number}", title="<b>") for number in range(3)]
    make_map(tmp_path / "maps" / "web.db", made, [(0, 1), (1, 2)])
    window = opened(spawn_sumi, "maps", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    job = window.jobs()[0]["id"]
    assert _exported(window, job, "gexf")["state"] == "there"
    assert b"<gexf" in window.get(f"/raw/export/{job}?format=gexf").body


def test_failures_are_a_table_that_no_spreadsheet_computes_with(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    (tmp_path / "site").mkdir()
    site = FolderSite(tmp_path / "site")
    site.write("index.html", '<p>Some words to keep.<a href="gone,1.html">x</a> <a href="a.html">y</a>')
    site.write("a.html", "<p>More words to keep here.", title="=HYPERLINK(1)")
    site.start()
    assert run_sumi("mirror", site.url, "-o", "mine", "--rate-limit", "0", "-q").returncode == 1
    site.stop()
    window = opened(spawn_sumi, "mine", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    job = window.jobs()[0]["id"]
    answer = window.get(f"/api/jobs/{job}/urls.csv?ending=failed")
    assert answer.headers["content-disposition"].startswith("attachment")
    (row,) = csv.DictReader(io.StringIO(answer.body.decode()))
    assert (row["url"], row["outcome"], row["referrer"]) == (f"{site.url}gone,1.html", "not_found", site.url)
    captured = list(
        csv.DictReader(io.StringIO(window.get(f"/api/jobs/{job}/urls.csv?outcome=captured").body.decode()))
    )
    assert {row["title"][:2] for row in captured} == {"'=", "in"}
    assert window.get(f"/api/jobs/{job}/urls.csv").status == 400


def test_files_that_could_act_are_downloads(spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    site = FolderSite(tmp_path / "site")
    picture = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><rect width="9" height="9"/></svg>'
    site.write("index.html", '<p>Some words to keep.<img src="evil.svg" alt="a picture">')
    site.put("evil.svg", picture)
    site.start()
    assert run_sumi("mirror", site.url, "-o", "mine", "--rate-limit", "0", "-q", "--assets").returncode == 0
    site.stop()
    window = opened(spawn_sumi, "mine", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    job = window.jobs()[0]["id"]
    address = f"{site.url}evil.svg"
    assert window.get(f"/raw/original?job={job}&url={address}").status == 415
    answer = window.get(f"/raw/file?job={job}&url={address}")
    assert answer.body == picture
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == "attachment; filename*=utf-8''evil.svg"
    assert answer.headers["content-security-policy"].startswith("sandbox")
    assert window.get(f"/raw/file?job={job}&url={site.url}unknown").status == 404
