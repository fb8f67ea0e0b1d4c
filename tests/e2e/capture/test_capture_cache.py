"""Pages of earlier captures are not fetched again, and every job has its own complete set of pages."""

from pathlib import Path

from tests.commands import FinishedSumi, RunSumi
from tests.e2e.capture.captures import FAST, linked, page_requests, shown, sites, write_section
from tests.folder_site import FolderSite, folder_site


def cache_note(done: FinishedSumi) -> str:
    notes: list[str] = done.events[-1]["notes"]
    return next(note for note in notes if note.startswith("cache: "))


def captured(run_sumi: RunSumi, site: FolderSite, *words: str) -> tuple[str, list[tuple[str, int]]]:
    """Which pages the cache had, and what the site was asked for."""
    before = len(site.answers)
    done = run_sumi("capture", f"{site.url}docs", *FAST, "--json", *words)
    assert done.returncode == 0, done.stderr
    return cache_note(done), page_requests(site, before)


def test_a_second_capture_requests_only_its_base_url(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        write_section(site, "docs", 9)
        site.write("docs/copy.html", "<p>About docs, part 0: </p>", title="docs/p0.html")
        site.write("docs/p1.html", f"<p>Leads to a copy</p>{linked('/docs/copy.html')}")
        assert captured(run_sumi, site)[0] == "cache: 0 full, 0 partial, 11 miss"
        first = shown(run_sumi, "page")
        note, asked = captured(run_sumi, site)
        assert note == "cache: 11 full, 0 partial, 0 miss"
        assert asked == [("/docs", 301), ("/docs/", 304)]
        second = shown(run_sumi, "page")
        assert {page["url"]: page["text"] for page in first} == {page["url"]: page["text"] for page in second}
        assert {tuple(page["alternate_urls"]) for page in first} == {
            tuple(page["alternate_urls"]) for page in second
        }


def test_skipping_the_cache_fetches_every_page(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        write_section(site, "docs", 5)
        captured(run_sumi, site)
        note, asked = captured(run_sumi, site, "--skip-cache")
        assert note == "cache: 0 full, 0 partial, 6 miss"
        assert len([status for _, status in asked if status == 200]) == 6


def test_an_old_copy_is_revalidated_and_a_changed_page_replaced(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        write_section(site, "docs", 5)
        captured(run_sumi, site)
        site.write("docs/p3.html", "<p>Something else by now</p>")
        note, asked = captured(run_sumi, site, "--cache-age", "0")
        assert note == "cache: 5 full, 0 partial, 1 miss"
        assert sorted(path for path, status in asked if status == 200) == ["/docs/p3.html"]
        assert run_sumi("capture", "export", "--format", "markdown", "-o", "all.md").returncode == 0
        assert "Something else by now" in (tmp_path / "all.md").read_text()


def test_a_page_is_requested_again_if_its_server_wants_it(run_sumi: RunSumi, tmp_path: Path) -> None:
    said = {
        "nothing": {},
        "for-an-hour": {"Cache-Control": "max-age=3600"},
        "later": {"Expires": "Fri, 01 Jan 2100 00:00:00 GMT"},
        "no-cache": {"Cache-Control": "private, no-cache"},
        "no-store": {"Cache-Control": "no-store"},
        "at-once": {"Cache-Control": "max-age=0, must-revalidate"},
        "expired": {"Expires": "0"},
    }
    with folder_site(tmp_path / "site") as site:
        site.write("docs/index.html", f"<p>Start</p>{linked(*(f'/docs/{name}.html' for name in said))}")
        for name, headers in said.items():
            site.write(f"docs/{name}.html", f"<p>The page {name}</p>")
            site.headers[f"/docs/{name}.html"] = headers
        captured(run_sumi, site)
        asked_always = [
            (f"/docs/{name}.html", 304) for name in ("at-once", "expired", "no-cache", "no-store")
        ]
        for words in ((), ("--cache-age", "3600")):
            note, asked = captured(run_sumi, site, *words)
            assert note == "cache: 8 full, 0 partial, 0 miss"
            assert sorted(asked[2:]) == asked_always
        note, asked = captured(run_sumi, site, "--cache-age", "0")
        assert {path for path, status in asked[2:] if status == 304} == {
            f"/docs/{name}.html" for name in said
        }


def test_without_bodies_the_cache_is_partial(run_sumi: RunSumi, tmp_path: Path) -> None:
    with folder_site(tmp_path / "site") as site:
        write_section(site, "docs", 5)
        captured(run_sumi, site, "--no-raw")
        assert {page["body"] for page in shown(run_sumi, "page")} == {None}
        note, asked = captured(run_sumi, site)
        assert note == "cache: 0 full, 6 partial, 0 miss"
        assert len([status for _, status in asked if status == 200]) == 6
        assert captured(run_sumi, site)[0] == "cache: 6 full, 0 partial, 0 miss"


def test_deleting_a_job_leaves_the_pages_of_the_others_whole(run_sumi: RunSumi, tmp_path: Path) -> None:
    with sites(tmp_path, 2) as (one, other):
        write_section(one, "docs", 4)
        write_section(other, "docs", 3)
        captured(run_sumi, one)
        job = shown(run_sumi, "job")[0]["id"]
        captured(run_sumi, one)
        captured(run_sumi, other)
        assert run_sumi("capture", "delete", job).returncode == 0
        assert run_sumi("capture", "show", job).returncode == 2
        assert not (tmp_path / "captures" / "jobs" / job).exists()
        left = [row["id"] for row in shown(run_sumi, "job")]
        assert len(left) == 1
        done = run_sumi("capture", "export", "--format", "jsonl", "-o", "left.jsonl")
        assert done.returncode == 0, done.stderr
        assert len((tmp_path / "left.jsonl").read_text().splitlines()) == 4
        assert captured(run_sumi, one)[0] == "cache: 5 full, 0 partial, 0 miss"
