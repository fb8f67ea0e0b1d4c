"""Placeholders explain missing pages; removed pages are kept aside, never in place of a page that exists."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from sumi.files.safe_files import SafeFolder
from sumi.jobs.mirror.missing_pages import GonePages
from sumi.model import PageFacts
from sumi.outcomes import Outcome
from sumi.urls.paths import PathAllocator
from tests.jobs.mirror.stored_mirror import SITE, StoredMirror, split_page

GONE, NEW = "https://a.test/page", "https://a.test/Page"


@pytest.fixture
def files(tmp_path: Path) -> Iterator[SafeFolder]:
    folder = SafeFolder(tmp_path)
    yield folder
    folder.close()


def test_the_file_of_a_removed_page_is_moved_aside(files: SafeFolder) -> None:
    names = PathAllocator()
    path = names.claim(GONE)
    files.write_atomic(path, b"as it was")
    GonePages(files, "home").settle(GONE, PageFacts(was_path=path), names)
    assert files.read_bytes(path) is None
    assert files.read_bytes(f"home/_gone/{path}") == b"as it was"


def test_a_file_that_belongs_to_another_page_by_now_stays(files: SafeFolder) -> None:
    names = PathAllocator()
    path = names.claim(NEW)
    files.write_atomic(path, b"the new page")
    GonePages(files, "home").settle(GONE, PageFacts(was_path=path), names)
    assert files.read_bytes(path) == b"the new page"
    assert files.read_bytes(f"home/_gone/{path}") is None


def test_a_failed_page_leaves_a_placeholder_until_it_succeeds(mirror: StoredMirror) -> None:
    url = f"{SITE}broken"
    placeholder = mirror.home / "_failed" / f"{sha256(url.encode()).hexdigest()[:16]}.md"
    mirror.end(url, Outcome.SERVER_ERROR, "HTTP 503")
    fields, body = split_page(placeholder.read_text())
    assert (fields["url"], fields["outcome"], fields["reason"]) == (url, "server_error", "HTTP 503")
    assert "5xx on every attempt." in body
    assert "Run again later" in body
    mirror.reopened()
    mirror.capture(url)
    assert not placeholder.exists()


@pytest.mark.parametrize("ending", [Outcome.DUPLICATE, Outcome.REDIRECTED])
def test_a_page_that_failed_and_then_moved_has_no_placeholder(mirror: StoredMirror, ending: Outcome) -> None:
    failed = mirror.home / "_failed"
    mirror.end(f"{SITE}a", Outcome.SERVER_ERROR)
    mirror.end(f"{SITE}b", Outcome.SERVER_ERROR)
    assert len(list(failed.iterdir())) == 2
    mirror.end(f"{SITE}a", ending)
    assert len(list(failed.iterdir())) == 1
    mirror.settle(f"{SITE}b", ending)  # killed before the rest
    mirror.reopened()
    assert list(failed.iterdir()) == []


def test_a_skipped_page_leaves_its_placeholder_under_skipped(mirror: StoredMirror) -> None:
    mirror.end(f"{SITE}x.pdf", Outcome.SERVER_ERROR)
    mirror.end(f"{SITE}x.pdf", Outcome.NOT_HTML, "application/pdf")
    assert len(list((mirror.home / "_skipped").iterdir())) == 1
    assert list((mirror.home / "_failed").iterdir()) == []


def test_guesses_and_redirects_leave_no_placeholder(mirror: StoredMirror) -> None:
    mirror.end(f"{SITE}sitemap.xml", Outcome.ABSENT)
    mirror.end(f"{SITE}old", Outcome.REDIRECTED)
    assert not (mirror.home / "_skipped").exists()
    assert not (mirror.home / "_failed").exists()
