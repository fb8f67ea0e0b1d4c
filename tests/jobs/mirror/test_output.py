"""A mirror is a tree of Markdown files: a page has one file, the same in every run, whatever it contains."""

from hashlib import sha256
from pathlib import Path

import pytest

from sumi.errors import OutputRefused
from sumi.model import PageFacts
from sumi.outcomes import Outcome
from sumi.parse.page.digest import PageDigest
from tests.jobs.mirror.stored_mirror import (
    CANARY,
    HOME,
    NOON,
    SITE,
    StoredMirror,
    lease,
    response,
    run,
    split_page,
)


def test_a_page_is_its_front_matter_and_its_markdown(mirror: StoredMirror) -> None:
    facts = mirror.capture(
        f"{SITE}docs/a", "\n# Hello\n\nworld\n\n\n", title="Hello", description="d", language="en"
    )
    content = (mirror.root / "example.com/docs/a/index.md").read_bytes()
    fields, body = split_page(content.decode())
    assert body == "# Hello\n\nworld\n"
    assert fields == {
        "title": "Hello",
        "url": f"{SITE}docs/a",
        "fetched_at": "2026-01-03T12:00:00Z",
        "sha256": sha256(body.encode()).hexdigest(),
        "description": "d",
        "language": "en",
    }
    assert (facts.path, facts.size, facts.sha256) == (
        "example.com/docs/a/index.md",
        len(content),
        fields["sha256"],
    )


def test_the_facts_come_from_the_response_and_the_digest(mirror: StoredMirror) -> None:
    answer = response(("etag", '"v1"'), ("last-modified", "yesterday"), ("x-robots-tag", "noarchive"))
    digest = PageDigest(
        [SITE], title="T\n\x1b", robots_meta="noindex", canonical=SITE, markdown="x", links_dropped=2
    )
    facts = run(mirror.tree.accept(lease(SITE), answer, digest))
    assert facts == PageFacts(
        status=200,
        content_type="text/html",
        path="example.com/index.md",
        size=facts.size,
        sha256=sha256(b"x\n").hexdigest(),
        title="T",
        canonical=SITE,
        robots_meta="noindex, noarchive",
        etag='"v1"',
        last_modified="yesterday",
        body_bytes=6,
        latency_ms=250,
        fetched_at=NOON,
        links=3,
    )


def test_accepting_a_page_again_leaves_the_same_files(mirror: StoredMirror) -> None:
    first = mirror.capture(f"{SITE}a")
    before = {path: path.read_bytes() for path in mirror.root.rglob("*.md")}
    assert mirror.capture(f"{SITE}a") == first
    assert {path: path.read_bytes() for path in mirror.root.rglob("*.md")} == before


def test_resumed_pages_keep_their_files_and_new_ones_get_others(mirror: StoredMirror) -> None:
    urls = [f"{SITE}x", f"{SITE}X", f"{SITE}x/"]
    paths = [mirror.capture(url).path for url in urls]
    mirror.reopened()
    assert [mirror.capture(url).path for url in reversed(urls)] == list(reversed(paths))
    mirror.capture(f"{SITE}x?")
    assert len(mirror.page_files()) == 4
    manifest = mirror.finish()
    assert {f"{HOME}/{page['path']}" for page in manifest["pages"]} == mirror.page_files()


def test_a_requeued_page_keeps_its_file_and_its_entries(mirror: StoredMirror) -> None:
    facts = mirror.capture(f"{SITE}a?b=1", title="Requested again")
    mirror.requeue(f"{SITE}a?b=1")
    mirror.reopened()
    other = mirror.capture(f"{SITE}A?b=1")
    assert other.path != facts.path
    assert str(other.path).lower() != str(facts.path).lower()
    assert {page["url"] for page in mirror.finish()["pages"]} == {f"{SITE}a?b=1", f"{SITE}A?b=1"}
    assert "Requested again" in (mirror.home / "_index.md").read_text()


def test_a_link_planted_as_host_folder_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    mirror = StoredMirror(tmp_path / "output")
    (mirror.root / "other.example").symlink_to(outside, target_is_directory=True)
    with pytest.raises(OutputRefused):
        mirror.capture("https://other.example/a")
    assert list(outside.iterdir()) == []


def test_hostile_text_breaks_no_line_of_any_file(mirror: StoredMirror) -> None:
    mirror.capture(f"{SITE}a", title=CANARY, description=CANARY, markdown="text\n")
    mirror.end(f"{SITE}{CANARY}", Outcome.NOT_FOUND, CANARY)
    mirror.end(f"{SITE}skip{CANARY}", Outcome.NOT_HTML, CANARY)
    mirror.end(f"{SITE}moved{CANARY}", Outcome.REDIRECTED, CANARY)
    for finished in (False, True):
        if finished:
            manifest = mirror.finish()
            assert len(manifest["failed_pages"]) == len(manifest["skipped_pages"]) == 1
        assert len(mirror.lines("_processed.txt")) == 2
        assert [line.count("\t") for line in mirror.lines("_failed.log")] == [2]
        for file in filter(Path.is_file, mirror.root.rglob("*")):
            content = file.read_bytes().decode()
            assert not set(content) & set("\x1b\x9b\u202e\r")


def test_very_long_titles_are_cut(mirror: StoredMirror) -> None:
    facts = mirror.capture(f"{SITE}a", title="x" * 1_000_000)
    assert facts.title is not None
    assert len(facts.title) == 1000
