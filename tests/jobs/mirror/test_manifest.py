"""The manifest lists what is in a mirror and what is missing, and its counts agree with its lists."""

from hashlib import sha256

from sumi.model import Kind
from sumi.outcomes import Outcome
from tests.jobs.mirror.stored_mirror import SITE, StoredMirror, split_page


def test_the_manifest_lists_stored_and_missing_pages(mirror: StoredMirror) -> None:
    mirror.settle(f"{SITE}sitemap.xml", Outcome.READ, kind=Kind.SITEMAP)
    mirror.settle(f"{SITE}sitemap2.xml", Outcome.READ, kind=Kind.SITEMAP)
    mirror.capture(f"{SITE}a", title="A")
    mirror.capture("https://other.example/b")
    mirror.end(f"{SITE}gone", Outcome.NOT_FOUND, "HTTP 404")
    mirror.end(f"{SITE}x.pdf", Outcome.NOT_HTML)
    mirror.settle("https://elsewhere.example/", Outcome.OUT_OF_SCOPE)
    manifest = mirror.finish()
    assert {key: value for key, value in manifest.items() if not key.endswith("pages")} == {
        "version": "2.0.0",
        "source_url": SITE,
        "sitemap_url": f"{SITE}sitemap.xml",
        "crawl_started": "2026-01-03T12:00:00Z",
        "crawl_completed": "2026-01-03T12:00:05Z",
        "successful": 2,
        "failed": 1,
        "skipped": 1,
        "outcomes": {"captured": 2, "read": 2, "out_of_scope": 1, "not_html": 1, "not_found": 1},
        "discovered": 7,
        "last_update": None,
        "assets": [],
    }
    assert manifest["total_pages"] == 4
    assert [page["path"] for page in manifest["pages"]] == ["a/index.md", "../other.example/b/index.md"]
    assert [(page["url"], page["reason"]) for page in manifest["failed_pages"]] == [
        (f"{SITE}gone", "HTTP 404")
    ]
    assert [page["url"] for page in manifest["skipped_pages"]] == [f"{SITE}x.pdf"]
    for page in manifest["pages"]:
        file = mirror.home / page["path"]
        _, body = split_page(file.read_text())
        assert page["size_bytes"] == file.stat().st_size
        assert page["sha256"] == sha256(body.encode()).hexdigest()
        assert page["fetched_at"] == "2026-01-03T12:00:00Z"


def test_an_empty_manifest_is_valid(mirror: StoredMirror) -> None:
    manifest = mirror.finish()
    assert (manifest["total_pages"], manifest["pages"], manifest["sitemap_url"]) == (0, [], None)


def test_a_job_with_pending_pages_is_not_complete(mirror: StoredMirror) -> None:
    mirror.capture(f"{SITE}a")
    for name in ("b", "c", "d"):
        mirror.discover(SITE + name)
    manifest = mirror.finish()
    assert manifest["crawl_completed"] is None
    assert manifest["outcomes"] == {"captured": 1, "pending": 3}
    assert manifest["discovered"] == sum(manifest["outcomes"].values())
    checkpoint = mirror.json("_checkpoint.json")
    assert checkpoint["status"] == "interrupted"
    assert (checkpoint["processed"], checkpoint["pending"], checkpoint["total_expected"]) == (1, 3, 4)
    assert "same command" in checkpoint["resume"]


def test_finishing_again_later_changes_nothing_but_the_progress(mirror: StoredMirror) -> None:
    mirror.capture(f"{SITE}a")
    mirror.finish()
    names = ["_manifest.json", "_index.md", "_processed.txt", "_failed.log", "_checkpoint.json"]
    before = [(mirror.home / name).read_bytes() for name in names]
    mirror.clock.time += 3600
    mirror.reopened()
    mirror.finish()
    assert [(mirror.home / name).read_bytes() for name in names] == before
