"""What the site removed is kept aside, and never at the cost of a page that is there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sumi.files.safe_files import SafeFolder
from sumi.jobs.mirror.missing_pages import GonePages
from sumi.model import PageFacts
from sumi.urls.paths import PathAllocator

GONE, NEW = "https://a.test/page", "https://a.test/Page"


@pytest.fixture
def files(tmp_path: Path) -> Iterator[SafeFolder]:
    folder = SafeFolder(tmp_path)
    yield folder
    folder.close()


def test_the_file_of_a_page_that_went_is_moved_aside(files: SafeFolder) -> None:
    names = PathAllocator()
    path = names.claim(GONE)
    files.write_atomic(path, b"as it was")
    GonePages(files, "home").settle(GONE, PageFacts(was_path=path), names)
    assert files.read_bytes(path) is None
    assert files.read_bytes(f"home/_gone/{path}") == b"as it was"


def test_a_file_that_another_page_has_by_now_stays(files: SafeFolder) -> None:
    names = PathAllocator()
    path = names.claim(NEW)
    files.write_atomic(path, b"the new page")
    GonePages(files, "home").settle(GONE, PageFacts(was_path=path), names)
    assert files.read_bytes(path) == b"the new page"
    assert files.read_bytes(f"home/_gone/{path}") is None
