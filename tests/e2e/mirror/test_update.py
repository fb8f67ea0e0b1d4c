"""An update fetches and rewrites only what changed, and never loses anything."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.commands import FinishedSumi, RunSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--json", "--retries", "0")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        names = [f"p{number}" for number in range(12)]
        site.write("index.html", "".join(f'<p>To <a href="{name}.html">{name}</a>.</p>' for name in names))
        for name in names:
            site.write(f"{name}.html", f"<p>All there is to know of {name}, and more of it.</p>")
        yield site


def mirror(run_sumi: RunSumi, site: FolderSite, *options: str) -> FinishedSumi:
    return run_sumi("mirror", site.url, *FAST, *options)


def manifest(tmp_path: Path, site: FolderSite) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((tmp_path / "output" / site.home / "_manifest.json").read_text())
    return content


def stamps(tmp_path: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in (tmp_path / "output").rglob("index.md")}


def changes(tmp_path: Path, site: FolderSite) -> dict[str, int]:
    head = manifest(tmp_path, site)["last_update"]
    return {name: number for name, number in head.items() if name != "since" and number}


def test_every_update_of_a_mirror_with_a_page_limit_asks_again(run_sumi: RunSumi, site: FolderSite) -> None:
    """Pages beyond the limit never come, so an update does not stay open for them."""
    assert mirror(run_sumi, site, "--max-pages", "5").events[-1]["outcomes"]["over_cap"] == 8
    for _ in range(3):
        site.answers.clear()
        updated = mirror(run_sumi, site, "--max-pages", "5", "--update").events[-1]
        assert updated["outcomes"]["unchanged"] == 5
        assert len([answer for answer in site.answers if answer.status == 304]) == 5


@pytest.mark.parametrize("state", ["files", "sqlite", "lmdb"])
def test_an_unchanged_site_is_not_transferred_and_no_file_is_touched(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path, state: str
) -> None:
    assert mirror(run_sumi, site, "--state", state).returncode == 0
    before = stamps(tmp_path)
    site.answers.clear()
    again = mirror(run_sumi, site, "--update", "--state", state)
    assert again.returncode == 0
    assert stamps(tmp_path) == before
    pages = [answer.status for answer in site.answers if answer.path.endswith(".html")]
    assert pages == [304] * 12
    assert changes(tmp_path, site) == {"unchanged": 13}


def test_added_changed_moved_and_removed_pages_are_told_apart(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    mirror(run_sumi, site)
    before = stamps(tmp_path)
    site.write("p3.html", "<p>Something entirely different about p3 is written here.</p>")
    site.write("new.html", "<p>A page that was not there the first time around.</p>")
    site.write("index.html", (site.folder / "index.html").read_text() + '<a href="new.html">new</a>')
    site.remove("p5.html")
    site.moved["/p7.html"] = "/new.html"
    again = mirror(run_sumi, site, "--update")
    assert changes(tmp_path, site) == {"added": 1, "changed": 2, "gone": 1, "moved": 1, "unchanged": 9}
    home = tmp_path / "output" / site.home
    assert "entirely different" in (home / "p3" / "index.md").read_text()
    assert not (home / "p5" / "index.md").exists()
    assert "know of p5" in (home / "_gone" / "p5" / "index.md").read_text()
    gone = {page["url"]: page for page in manifest(tmp_path, site)["gone_pages"]}
    assert gone[f"{site.url}p7.html"]["moved_to"] == f"{site.url}new.html"
    untouched = {path for path, stamp in before.items() if stamps(tmp_path).get(path) == stamp}
    assert len(untouched) == 9
    assert any(note.startswith("update: 1 added") for note in again.events[-1]["notes"])


def test_a_removed_page_stays_gone_and_may_come_back(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    mirror(run_sumi, site)
    text = (site.folder / "p5.html").read_text()
    site.remove("p5.html")
    mirror(run_sumi, site, "--update")
    mirror(run_sumi, site, "--update")
    assert changes(tmp_path, site) == {"unchanged": 12}
    assert [page["url"] for page in manifest(tmp_path, site)["gone_pages"]] == [f"{site.url}p5.html"]
    (site.folder / "p5.html").write_text(text)
    mirror(run_sumi, site, "--update")
    home = tmp_path / "output" / site.home
    assert (home / "p5" / "index.md").is_file()
    assert not (home / "_gone" / "p5" / "index.md").exists()


def test_a_dead_server_destroys_nothing(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    mirror(run_sumi, site)
    before = stamps(tmp_path)
    site.stop()
    dead = mirror(run_sumi, site, "--update")
    assert dead.returncode == 5
    assert "cannot reach" in dead.stderr
    assert stamps(tmp_path) == before
    assert run_sumi("state", "check", "--deep").returncode == 0


def test_a_server_that_fails_on_every_page_leaves_the_copies(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    mirror(run_sumi, site)
    before = stamps(tmp_path)
    for number in range(12):
        site.moved[f"/p{number}.html"] = ""  # a redirect to nowhere
    failing = mirror(run_sumi, site, "--update")
    assert failing.returncode == 1
    assert stamps(tmp_path) == before
    assert changes(tmp_path, site) == {"unchanged": 1, "not_checked": 12}
    assert manifest(tmp_path, site)["successful"] == 13


XMLNS = "http://www.sitemaps.org/schemas/sitemap/0.9"


def write_dates(site: FolderSite, dates: list[str]) -> None:
    """A sitemap of p0.html and so on; "" for no date."""
    entry = "<url><loc>{url}p{number}.html</loc>{date}</url>"
    lastmod = [f"<lastmod>{date}</lastmod>" if date else "" for date in dates]
    urls = "".join(entry.format(url=site.url, number=n, date=date) for n, date in enumerate(lastmod))
    site.write("sitemap.xml", f'<?xml version="1.0"?><urlset xmlns="{XMLNS}">{urls}</urlset>')


def asked_again(run_sumi: RunSumi, site: FolderSite, *words: str) -> set[str]:
    site.answers.clear()
    mirror(run_sumi, site, "--update", *words)
    return {answer.path for answer in site.answers if re.match(r"/p\d", answer.path)}


@pytest.mark.parametrize("store", ["files", "sqlite", "lmdb"])
def test_only_pages_with_unchanged_dates_in_the_sitemap_are_skipped(
    run_sumi: RunSumi, site: FolderSite, store: str
) -> None:
    at = ("--state", store)
    write_dates(site, ["2020-01-02", "2020-01-02T03:04:05Z", "2999-01-01", "2020-06-07", "2020-06-07", ""])
    mirror(run_sumi, site, *at)
    moved = ["2020-01-02", "2020-01-02T03:04:05Z", "2999-01-01", "2020-06-08", "2019-01-01", "2020-01-02"]
    write_dates(site, moved)
    # In the future, moved forward but before our copy, moved back, dated for the first time.
    assert asked_again(run_sumi, site, *at) == {f"/p{number}.html" for number in (2, 3, 4, 5)}
    # Those dates were used, and the server was asked; the one in the future may still come.
    assert asked_again(run_sumi, site, *at) == {"/p2.html"}
    write_dates(site, ["", *moved[1:]])
    assert asked_again(run_sumi, site, *at) == {"/p0.html", "/p2.html"}
    assert asked_again(run_sumi, site, *at, "--no-trust-lastmod") == {f"/p{n}.html" for n in range(6)}


def test_a_state_without_dates_requests_once(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    write_dates(site, ["2020-01-02"] * 3)
    mirror(run_sumi, site, "--state", "sqlite")
    (database,) = tmp_path.rglob(".sumi/*.sqlite")
    with closing(sqlite3.connect(database)) as state, state:
        dated = "UPDATE urls SET facts = json_remove(facts, '$.lastmod') WHERE facts LIKE '%lastmod%'"
        assert state.execute(dated).rowcount == 3
    pages = {f"/p{number}.html" for number in range(3)}
    assert asked_again(run_sumi, site) == pages
    assert [answer.status for answer in site.answers if answer.path in pages] == [304] * 3
    assert asked_again(run_sumi, site) == set()


def _removed(page: Path) -> None:
    page.unlink()


def _cut_short(page: Path) -> None:
    page.write_text(page.read_text()[:-10])


def _other_words_of_the_same_length(page: Path) -> None:
    page.write_text(page.read_text().replace("All there", "No, there"))


@pytest.mark.parametrize("harm", [_removed, _cut_short, _other_words_of_the_same_length])
def test_a_changed_file_is_fetched_again(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    mirror(run_sumi, site)
    page = tmp_path / "output" / site.home / "p4" / "index.md"
    text = page.read_text()
    harm(page)
    mirror(run_sumi, site, "--update")
    assert page.read_text().partition("sha256")[2] == text.partition("sha256")[2]


def test_a_page_whose_raw_pack_was_lost_is_fetched_again(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    mirror(run_sumi, site)
    home = tmp_path / "output" / site.home
    next((home / ".sumi/raw").glob("pack-*.zst")).unlink()
    mirror(run_sumi, site, "--update")
    rebuilt = run_sumi("rebuild", str(home))
    assert rebuilt.returncode == 0, rebuilt.stderr


def test_an_update_that_failed_at_its_last_files_does_not_start_over(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    """As after a kill there: everything was requested, and nothing is requested again."""
    assert mirror(run_sumi, site).returncode == 0
    listed = tmp_path / "output" / site.home / "_manifest.json"
    listed.unlink()
    listed.mkdir()  # nothing can be written in its place
    assert mirror(run_sumi, site, "--update").returncode == 4
    listed.rmdir()
    site.answers.clear()
    assert mirror(run_sumi, site, "--update").returncode == 0
    assert site.answers == []
    assert changes(tmp_path, site) == {"unchanged": 13}


def test_an_adaptive_update_asks_for_what_is_due_and_says_what_it_left_out(
    run_sumi: RunSumi, tmp_path: Path
) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", "<p>To <a href='a.html'>a</a> and <a href='b.html'>b</a>.</p>")
        for name in "ab":
            site.write(f"{name}.html", f"<p>All there is to know about {name}.</p>")
        words = ("mirror", site.url, "--rate-limit", "0", "--json", "--update", "--revisit", "adaptive")
        assert run_sumi(*words).returncode == 0
        site.write("b.html", "<p>Something new about b.</p>")
        site.answers.clear()
        done = run_sumi(*words)
        assert not [answer for answer in site.answers if "html" in answer.path]
        assert any("3 of these not asked for" in note for note in done.events[-1]["notes"])
        done = run_sumi(*words, "--revisit-min", "0.001s", "--revisit-max", "0.001s")
        assert any("1 changed" in note for note in done.events[-1]["notes"])


def test_another_name_of_a_page_is_not_added_by_every_update(run_sumi: RunSumi, site: FolderSite) -> None:
    site.write("p0.html", '<p>Back to the <a href="index.html">start</a>.</p>')
    assert mirror(run_sumi, site).events[-1]["outcomes"]["duplicate"] == 1
    for _ in range(2):
        updated = mirror(run_sumi, site, "--update").events[-1]
        assert updated["outcomes"]["duplicate"] == 1
        assert "update: 0 added, 0 changed, 0 moved, 0 gone, 13 unchanged" in updated["notes"]


def test_pages_are_not_called_lost_when_the_site_is_down_during_an_update(
    run_sumi: RunSumi, tmp_path: Path
) -> None:
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", '<p>To <a href="p0.html">p0</a>.</p>')
        site.write("p0.html", "<p>All there is to know of p0.</p>")
        assert mirror(run_sumi, site).returncode == 0
        assert "updat" not in run_sumi("status").stdout
    assert mirror(run_sumi, site, "--update").returncode == 5
    assert "interrupted, 0 pages updated, " in run_sumi().stdout
    assert "pages that wait are here as they were" in run_sumi("status").stdout


def test_the_file_of_a_page_that_became_a_duplicate_leaves_the_tree(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    words = ("--drop-duplicates", "--concurrency", "1")
    home = tmp_path / "output" / site.home
    mirror(run_sumi, site, *words)
    site.write("p3.html", "<p>All there is to know of p1, and more of it.</p>", "p1.html")
    for _ in range(2):
        updated = mirror(run_sumi, site, *words, "--update")
        assert updated.events[-1]["outcomes"]["duplicate"] == 1
        assert not (home / "p3" / "index.md").exists()
        assert (home / "_gone" / "p3" / "index.md").is_file()
        checked = run_sumi("state", "check", "output", "--deep")
        assert (checked.returncode, "without a page" in checked.stdout) == (0, False), checked.stdout
    site.write("p3.html", "<p>Now p3 says something else again.</p>")
    returned = mirror(run_sumi, site, *words, "--update").events[-1]
    assert "duplicate" not in {name for name, count in returned["outcomes"].items() if count}
    assert (home / "p3" / "index.md").is_file()


def test_the_log_says_of_which_page_a_page_became_a_duplicate(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    words = ("--drop-duplicates", "--concurrency", "1")
    mirror(run_sumi, site, *words)
    site.write("p3.html", "<p>All there is to know of p1, and more of it.</p>", "p1.html")
    mirror(run_sumi, site, *words, "--update")
    (gone,) = manifest(tmp_path, site)["gone_pages"]
    assert (gone["url"], gone["moved_to"]) == (f"{site.url}p3.html", f"{site.url}p1.html")
    assert f"{site.url}p1.html" in run_sumi("log", f"{site.url}p3.html", "--in", "output").stdout
