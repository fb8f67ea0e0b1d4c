"""Every version of a mirrored page is kept, and what an update changed is listed."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from sumi.history.store import History
from tests.commands import FinishedSumi, RunSumi
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--json", "--retries", "0", "--processes", "0")
NAMES = [f"p{number}" for number in range(6)]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        link(site, *NAMES)
        for name in NAMES:
            site.write(f"{name}.html", f"<p>All there is to know of {name}, in 2024.</p>")
        yield site


def link(site: FolderSite, *names: str) -> None:
    site.write("index.html", "".join(f'<p>To <a href="{name}.html">{name}</a>.</p>' for name in names))


def mirror(run_sumi: RunSumi, site: FolderSite, *options: str) -> FinishedSumi:
    done = run_sumi("mirror", site.url, *FAST, *options)
    assert done.returncode in (0, 1), done.stderr
    return done


def home(tmp_path: Path, site: FolderSite) -> Path:
    return tmp_path / "output" / site.home


def changes(tmp_path: Path, site: FolderSite) -> dict[str, Any]:
    listed: dict[str, Any] = json.loads((home(tmp_path, site) / "_changes.json").read_text())
    return listed


def kinds(tmp_path: Path, site: FolderSite, name: str) -> list[str]:
    store = History(home(tmp_path, site) / ".sumi" / "history")
    try:
        return [version.kind for version in store.versions(site.url + name)]
    finally:
        store.close()


def texts(tmp_path: Path, site: FolderSite, name: str) -> list[str | None]:
    store = History(home(tmp_path, site) / ".sumi" / "history")
    try:
        found = [store.text(v.sha256) if v.sha256 else None for v in store.versions(site.url + name)]
        return [None if text is None else text.decode() for text in found]
    finally:
        store.close()


def rewrite(site: FolderSite) -> None:
    """A change, a minor one, a page moved, one moved with a redirect, one removed and one added."""
    site.write("p0.html", "<p>All there is to know of p0.</p><p>And a paragraph more.</p>")
    site.write("p1.html", "<p>All there is to know of p1, in 2025.</p>")
    (site.folder / "p2.html").rename(site.folder / "q2.html")
    (site.folder / "p3.html").rename(site.folder / "q3.html")
    site.moved["/p3.html"] = "/q3.html"
    site.remove("p4.html")
    site.write("p9.html", "<p>All there is to know of p9.</p>")
    link(site, "p0", "p1", "q2", "p3", "p5", "p9")


def test_an_update_lists_what_changed(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    mirror(run_sumi, site)
    assert not (home(tmp_path, site) / "_changes.json").exists()
    rewrite(site)
    mirror(run_sumi, site, "--update")
    listed = changes(tmp_path, site)
    here = site.url
    assert [page["url"] for page in listed["added"]] == [here + "p9.html"]
    changed = {page["url"].removeprefix(here): page for page in listed["changed"]}
    assert set(changed) == {"", "p0.html", "p1.html"}
    assert (changed["p0.html"]["lines_added"], changed["p0.html"]["minor"]) == (3, False)
    assert changed["p1.html"]["minor"] is True
    assert {page["url"]: page["to"] for page in listed["moved"]} == {
        here + "p2.html": here + "q2.html",
        here + "p3.html": here + "q3.html",
    }
    assert [page["url"] for page in listed["gone"]] == [here + "p4.html"]
    mirror(run_sumi, site, "--update")
    assert not any(changes(tmp_path, site)[kind] for kind in ("added", "changed", "moved", "gone"))


def test_versions_read_back_and_a_page_that_returns_is_told(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    mirror(run_sumi, site)
    rewrite(site)
    mirror(run_sumi, site, "--update")
    site.write("p4.html", "<p>Here again.</p>")
    mirror(run_sumi, site, "--update")
    assert kinds(tmp_path, site, "p4.html") == ["added", "gone", "back"]
    first, gone, back = texts(tmp_path, site, "p4.html")
    assert first is not None
    assert "All there is to know of p4" in first
    assert (gone, back) == (None, "# p4.html\n\nHere again.\n")
    checked = run_sumi("state", "check", "--deep")
    assert checked.returncode == 0, checked.stdout


def test_a_new_title_alone_and_a_repeated_run_are_no_change(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    mirror(run_sumi, site)
    body = "<body><main><h1>p0.html</h1><p>All there is to know of p0, in 2024.</p></main>"
    site.put("p0.html", f"<html lang=en><title>Another title</title>{body}".encode())
    mirror(run_sumi, site, "--update")
    mirror(run_sumi, site, "--update")
    assert kinds(tmp_path, site, "p0.html") == ["added"]


def test_links_to_local_files_are_no_change(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    mirror(run_sumi, site, "--rewrite-links")
    rewrite(site)
    mirror(run_sumi, site, "--update", "--rewrite-links")
    mirror(run_sumi, site, "--update")
    assert kinds(tmp_path, site, "") == ["added", "changed"]
    assert kinds(tmp_path, site, "p5.html") == ["added"]


def test_without_history_nothing_of_it_is_written(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    mirror(run_sumi, site, "--no-history")
    assert not (home(tmp_path, site) / ".sumi" / "history").exists()


def test_a_mirror_older_than_its_history_gets_one_with_the_texts_before(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    mirror(run_sumi, site, "--no-history")
    rewrite(site)
    mirror(run_sumi, site, "--update")
    assert kinds(tmp_path, site, "p0.html") == ["added", "changed"]
    assert kinds(tmp_path, site, "p5.html") == ["added"]
    first, second = texts(tmp_path, site, "p0.html")
    assert first == "# p0.html\n\nAll there is to know of p0, in 2024.\n"
    assert second is not None
    assert "a paragraph more" in second


def test_starting_over_keeps_the_history(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    mirror(run_sumi, site)
    rewrite(site)
    mirror(run_sumi, site, "--fresh")
    assert kinds(tmp_path, site, "p0.html") == ["added", "changed"]
    assert kinds(tmp_path, site, "p2.html") == ["added", "moved"]
    assert kinds(tmp_path, site, "p4.html") == ["added", "gone"]
    assert kinds(tmp_path, site, "p5.html") == ["added"]


def test_a_damaged_history_is_told_and_does_not_keep_a_mirror_from_running(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    mirror(run_sumi, site)
    (home(tmp_path, site) / ".sumi/history/history.sqlite").write_bytes(b"damage" * 1000)
    (home(tmp_path, site) / ".sumi/history/history.sqlite-wal").unlink()
    done = mirror(run_sumi, site, "--update")
    assert any("history.damaged-1" in note for note in done.events[-1]["notes"])
    assert kinds(tmp_path, site, "p0.html") == ["added"]


def test_a_deep_check_names_the_versions_whose_texts_are_damaged(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    mirror(run_sumi, site)
    folder = home(tmp_path, site) / ".sumi/history"
    with closing(sqlite3.connect(folder / "history.sqlite")) as db:
        page, start = db.execute(
            "SELECT p.url, t.start FROM page p JOIN text t USING (sha256) ORDER BY t.start LIMIT 1"
        ).fetchone()
    with (folder / "texts-000001.pack").open("r+b") as pack:
        pack.seek(start + 12)
        pack.write(b"\0" * 6)
    assert run_sumi("state", "check").returncode == 0
    checked = run_sumi("state", "check", "--deep")
    assert checked.returncode == 1
    wanted = f"{page}: the text of its version 1 is damaged in history/texts-000001.pack"
    assert checked.stdout.splitlines() == [wanted]


# ── log, diff, feed, prune ─────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def changed(run_sumi: RunSumi, site: FolderSite) -> FolderSite:
    mirror(run_sumi, site)
    rewrite(site)
    mirror(run_sumi, site, "--update")
    return site


def lines(run_sumi: RunSumi, *arguments: str) -> list[dict[str, Any]]:
    done = run_sumi(*arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_log_lists_runs_and_versions(run_sumi: RunSumi, changed: FolderSite) -> None:
    newest, oldest = lines(run_sumi, "log", "--json")
    assert (newest["added"], newest["changed"], newest["moved"], newest["gone"]) == (1, 3, 2, 1)
    assert (oldest["added"], oldest["changed"]) == (7, 0)
    versions = lines(run_sumi, "log", changed.url + "p0.html", "--json")
    assert [version["kind"] for version in versions] == ["changed", "added"]
    told = run_sumi("log", changed.url + "p0").stderr
    assert f"did you mean {changed.url}p0.html?" in told
    assert run_sumi("log", "--in", "nowhere").returncode == 2


def test_a_diff_shows_lines_and_words(run_sumi: RunSumi, changed: FolderSite) -> None:
    page = changed.url + "p0.html"
    shown = run_sumi("diff", page).stdout.splitlines()
    assert "-All there is to know of p0, in 2024." in shown
    assert "+And a paragraph more." in shown
    words = run_sumi("diff", changed.url + "p1.html", "1", "2", "--word").stdout
    assert "in [-2024-]{+2025+}." in words
    counted = {page["url"]: page["added"] for page in lines(run_sumi, "diff", "--since", "1d", "--json")}
    assert set(counted) >= {changed.url + "p9.html", changed.url + "p4.html"}
    assert run_sumi("diff", page, "7").returncode == 2
    assert run_sumi("diff", page, "--since", "1d").returncode == 2


def test_a_diff_of_a_text_that_cannot_be_read_says_so_and_ends_with_1(
    run_sumi: RunSumi, changed: FolderSite, tmp_path: Path
) -> None:
    for pack in (home(tmp_path, changed) / ".sumi/history").glob("texts-*.pack"):
        pack.write_bytes(b"\0" * pack.stat().st_size)
    done = run_sumi("diff", changed.url + "p0.html")
    assert done.returncode == 1
    assert "the text of version 1 and version 2 cannot be read" in done.stdout


def test_a_feed_can_be_read_and_passes_over_minor_changes(run_sumi: RunSumi, changed: FolderSite) -> None:
    found = lines(run_sumi, "feed", "--format", "jsonl")
    by_url = {entry["url"].removeprefix(changed.url): entry["kind"] for entry in found}
    assert "p1.html" not in {entry["url"].removeprefix(changed.url) for entry in found[7:]}
    assert (by_url["p0.html"], by_url["p2.html"], by_url["p4.html"]) == ("changed", "moved", "gone")
    feed = ET.fromstring(run_sumi("feed", "--diff").stdout)
    titles = [entry.findtext("{*}title") or "" for entry in feed.iter("{http://www.w3.org/2005/Atom}entry")]
    assert "Changed: p0.html" in titles
    assert run_sumi("feed", "--chunks").returncode == 2


def applied(events: list[dict[str, Any]], store: dict[str, str], urls: dict[str, str]) -> None:
    for event in events:
        match event["event"]:
            case "add" | "change":
                store[event["id"]], urls[event["id"]] = event["text"], event["url"]
            case "delete":
                store.pop(event["id"], None)
            case "clear":
                for name in [name for name in store if urls[name] == event["url"]]:
                    del store[name]


def test_section_events_bring_a_store_up_to_date(run_sumi: RunSumi, site: FolderSite) -> None:
    feed = ("feed", "--format", "jsonl", "--chunks")
    mirror(run_sumi, site)
    store: dict[str, str] = {}
    urls: dict[str, str] = {}
    applied(lines(run_sumi, *feed, "--cursor", "store.cursor"), store, urls)
    rewrite(site)
    mirror(run_sumi, site, "--update")
    events = lines(run_sumi, *feed, "--cursor", "store.cursor")
    applied(events, store, urls)
    applied(events, store, urls)
    fresh: dict[str, str] = {}
    applied(lines(run_sumi, *feed), fresh, urls)
    assert store == fresh
    assert any("And a paragraph more." in text for text in store.values())
    assert lines(run_sumi, *feed, "--cursor", "store.cursor") == []


def test_pruning_keeps_the_last_version_of_each_page(
    run_sumi: RunSumi, changed: FolderSite, tmp_path: Path
) -> None:
    assert "0 versions forgotten" in run_sumi("history", "prune", "--keep", "1d").stdout
    done = run_sumi("history", "prune", "--keep", "0s")
    assert done.returncode == 0, done.stderr
    assert kinds(tmp_path, changed, "p0.html") == ["changed"]
    text = texts(tmp_path, changed, "p0.html")[0]
    assert text is not None
    assert "And a paragraph more." in text
    shown = run_sumi("diff", changed.url + "p0.html")
    assert "what was before version 2 is forgotten; it had +" in shown.stdout
    assert len(shown.stdout.splitlines()) == 1
    assert "is forgotten" in run_sumi("feed", "--diff").stdout
    (counts,) = lines(run_sumi, "diff", changed.url + "p0.html", "--json")
    assert counts["forgotten"]
    assert counts["added"] < 10
    mirror(run_sumi, changed, "--update")
    assert kinds(tmp_path, changed, "p0.html") == ["changed"]
    assert run_sumi("state", "check", "--deep").returncode == 0


def test_the_log_does_not_call_a_run_with_failures_complete(
    run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    link(site, "p0", "missing")
    assert mirror(run_sumi, site).returncode == 1
    assert "  finished     2 added" in run_sumi("log").stdout
    with closing(sqlite3.connect(home(tmp_path, site) / ".sumi" / "history" / "history.sqlite")) as old:
        old.execute("UPDATE run SET status = 'complete'")  # as an older version wrote it
        old.commit()
    assert "  finished     2 added" in run_sumi("log").stdout
