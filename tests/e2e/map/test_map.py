"""``sumi map`` maps the web around chosen domains, over TLS, in tables for queries."""

import hashlib
from pathlib import Path

import msgspec
import zstandard

from tests.commands import RunSumi
from tests.e2e.map.map_site import Page, running_web
from tests.jobs.map.map_world import recorded_depths, recorded_links, states, tables

WEB = {
    "good.test/": Page(("/a", "near.test/", "ads.test/pixel", "wiki.test/Page")),
    "good.test/a": Page(("/", "wiki.test/Page", "/missing", "/paper.pdf", "/old")),
    "good.test/old": Page(status=301, headers=(("Location", "/a"),)),
    "good.test/paper.pdf": Page(content_type="application/pdf"),
    "near.test/": Page(("/two", "good.test/hidden"), refuses_head=True),
    "near.test/two": Page(("far.test/",)),
    "far.test/": Page(("other.test/",)),
    "other.test/": Page(),
    "good.test/hidden": Page(),
    "ads.test/pixel": Page(),
    "wiki.test/Page": Page(),
}
LISTS = '[[blacklist]]\ndomain = "ads.test"\n[[stub]]\ndomain = "*.wiki.test"\n'


def test_a_map_over_tls_has_pages_links_depths_and_references(tmp_path: Path, run_sumi: RunSumi) -> None:
    with running_web(dict(WEB), tmp_path) as web:
        config = web.config(tmp_path, {"good.test": "good.test/"}, LISTS)
        done = run_sumi("map", str(config), "--json")
        assert done.returncode == 1, done.stderr  # one dead link
        database = tmp_path / "map.db"
        found = {web.address(url): state for url, state in states(database).items()}
        assert found == {
            "good.test/": "Processed",
            "good.test/a": "Processed",
            "good.test/old": "Processed",
            "good.test/hidden": "Processed",
            "near.test/": "Processed",
            "near.test/two": "Processed",
            "good.test/missing": "DeadLink",
            "good.test/paper.pdf": "ContentMismatch",
            "far.test/": "DepthExceeded",
            "ads.test/pixel": "Blacklisted",
            "wiki.test/Page": "Stubbed",
        }
        depths = {web.address(url): by["good.test"] for url, by in recorded_depths(database).items()}
        assert (depths["near.test/"], depths["near.test/two"], depths["far.test/"]) == (1, 2, 3)
        assert depths["good.test/hidden"] == 0
        links = {(web.address(a), web.address(b)) for a, b in recorded_links(database)}
        assert ("good.test/old", "good.test/a") in links
        assert tables(database, "SELECT url, reference_count FROM stubbed_urls") == [
            (web.url("wiki.test/Page"), 2)
        ]
        assert web.asked("ads.test/pixel") == web.asked("wiki.test/Page") == web.asked("far.test/") == []
        assert web.asked("good.test/paper.pdf") == ["HEAD"]
        assert web.asked("near.test/") == ["HEAD", "GET"]
        assert tables(database, "SELECT title FROM pages WHERE url = ?", web.url("good.test/a")) == [
            ("good.test/a",)
        ]
        assert tables(database, "SELECT status FROM runs") == [("completed",)]
        assert tables(database, "PRAGMA foreign_key_check") == []
        assert tables(database, "SELECT * FROM frontier") == []
        assert "Pages Crawled" in (tmp_path / "map-summary.md").read_text()


def test_contents_are_kept_and_a_webhook_is_sent_if_configured(tmp_path: Path, run_sumi: RunSumi) -> None:
    pages = {
        "good.test/": Page(("/a",)),
        "good.test/a": Page(),
        "hooks.test/done": Page(content_type="text/plain"),
    }
    with running_web(pages, tmp_path, tls=False) as web:
        extra = f'[content]\nkeep = true\n[webhooks]\non-complete = "{web.url("hooks.test/done")}"\n'
        config = web.config(tmp_path, {"good.test": "good.test/"}, extra)
        assert run_sumi("map", str(config)).returncode == 0
        (notice,) = [msgspec.json.decode(asked.body) for asked in web.log if asked.method == "POST"]
        assert (notice["event"], notice["run"], notice["discovered"]) == ("map.completed", 1, 2)
    database = tmp_path / "map.db"
    for url, digest in tables(database, "SELECT url, content_hash FROM pages"):
        assert url.startswith("http://good.test:")
        kept = tmp_path / "map-contents" / digest[:2] / digest[2:4] / f"{digest}.html.zst"
        content = zstandard.ZstdDecompressor().decompress(kept.read_bytes())
        assert hashlib.sha256(content).hexdigest() == digest


def test_a_page_that_exists_only_without_tls_is_unreachable(tmp_path: Path, run_sumi: RunSumi) -> None:
    pages = {"good.test/": Page(("/moved",)), "good.test/moved": Page(status=301)}
    with running_web(pages, tmp_path) as web:
        there = ("Location", f"http://good.test:{web.port}/moved")
        web.pages["good.test/moved"] = Page(status=301, headers=(there,))
        run_sumi("map", str(web.config(tmp_path, {"good.test": "good.test/"})))
        assert states(tmp_path / "map.db")[web.url("good.test/moved")] == "Unreachable"


def test_dry_run_and_stats_change_nothing(tmp_path: Path, run_sumi: RunSumi) -> None:
    with running_web({"good.test/": Page()}, tmp_path) as web:
        config = str(web.config(tmp_path, {"good.test": "good.test/"}))
        plan = run_sumi("map", config, "--dry-run")
        assert (plan.returncode, web.log) == (0, [])
        assert web.url("good.test/") in plan.stdout
        assert not (tmp_path / "map.db").exists()
        missing = run_sumi("map", config, "--stats")
        assert (missing.returncode, "there is no map yet" in missing.stderr) == (2, True)
        assert run_sumi("map", config, "-q").returncode == 0
        asked = len(web.log)
        (tmp_path / "map-summary.md").unlink()
        assert "| Pages Crawled | 1 |" in run_sumi("map", config, "--stats").stdout
        assert run_sumi("map", config, "--export-summary").returncode == 0
        assert "**Status:** Completed" in (tmp_path / "map-summary.md").read_text()
        assert len(web.log) == asked
