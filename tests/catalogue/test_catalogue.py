"""The catalogue finds every kind of job below a folder, reads its pages, and survives what else is there."""

import asyncio
import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.catalogue.find import Job, JobKind, find_jobs
from sumi.catalogue.pages import (
    HEAD_END,
    CapturedPage,
    Content,
    Form,
    _MirrorContents,
    open_pages,
    split_page,
)
from sumi.ports import Place
from tests.commands import RunSumi
from tests.e2e.capture.captures import FAST, write_section
from tests.e2e.pipeline.workspaces import make_workspace
from tests.folder_site import folder_site
from tests.made_maps import small_map
from tests.site import MakeSite


def pages_of(job: Job) -> list[tuple[CapturedPage, Content | None]]:
    async def read() -> list[tuple[CapturedPage, Content | None]]:
        async with open_pages(job) as pages:
            return [(page, pages.read(page)) async for page in pages.all()]

    return asyncio.run(read())


def test_a_mirror_and_a_capture_are_found_with_their_pages(tmp_path: Path, run_sumi: RunSumi) -> None:
    with folder_site(tmp_path / "site") as site:
        write_section(site, "guide", 3)
        start = f"{site.url}guide/"
        assert run_sumi("mirror", start, *FAST).returncode == 0
        assert run_sumi("capture", start, *FAST).returncode == 0
        jobs = find_jobs(tmp_path)
        assert [job.kind for job in jobs] == [JobKind.CAPTURE, JobKind.MIRROR]
        for job in jobs:
            assert (job.target.rstrip("/"), job.activity, job.damage) == (start.rstrip("/"), "stopped", "")
            read = pages_of(job)
            assert {page.url for page, _ in read} - {start, start.rstrip("/")} == {
                f"{start}p{n}.html" for n in range(3)
            }
            for page, content in read:
                assert content is not None
                assert b"guide" in content.data
                assert sha256(content.data).hexdigest() == page.sha256
        mirror = jobs[1]
        page, content = pages_of(mirror)[0]
        assert content is not None
        file = mirror.root / page.path
        assert file.read_bytes()[content.start :] == content.data
        file.write_bytes(file.read_bytes() + b"changed")
        assert pages_of(mirror)[0] == (page, None)
        file.unlink()
        assert pages_of(mirror)[0] == (page, None)


def test_a_page_with_the_text_of_another_is_known_as_another_name_of_it(
    tmp_path: Path, run_sumi: RunSumi
) -> None:
    async def aliases(job: Job) -> list[tuple[str, str]]:
        async with open_pages(job) as pages:
            return [alias async for alias in pages.aliases()]

    with folder_site(tmp_path / "site") as site:
        for name in ("a", "b"):
            site.write(f"{name}.html", "<p>The same on both.</p>", "Title")
        site.write("index.html", '<p>To <a href="a.html">one</a> and <a href="b.html">two</a>.', "Top")
        done = run_sumi("mirror", site.url, *FAST, "--drop-duplicates")
        assert done.returncode == 0, done.stderr
        run_sumi("export", "obsidian", "-o", "vault")
    [alias] = asyncio.run(aliases(find_jobs(tmp_path / "output")[0]))
    assert set(alias) == {f"{site.url}a.html", f"{site.url}b.html"}
    kept = alias[1].removeprefix(site.url).replace(".html", ".md")
    assert (tmp_path / "vault/index.md").read_text().count(f"]({kept})") == 2


@given(st.binary(max_size=40), st.sampled_from([b"", b"---\n", b"---\nurl: x\n", b"---\nurl: x\n---\n\n"]))
def test_the_content_of_a_page_begins_where_it_says(text: bytes, head: bytes) -> None:
    content = split_page(head + text)
    assert (head + text)[content.start :] == content.data
    if head.endswith(HEAD_END):
        assert content.data == text
    elif HEAD_END not in head + text:
        assert content.data == head + text  # a head without an end is text


def test_a_text_that_begins_like_a_head_is_read_whole() -> None:
    """The texts of a shared capture have no head."""
    text = b"---\nurl: of the page itself\n---\n\nText.\n"

    class Files:
        def read(self, path: str, most: int = 0) -> bytes | None:
            return text

        def body(self, place: Place, most: int = 0) -> bytes | None:
            return None

    contents = _MirrorContents(Files())
    whole = CapturedPage(url="https://e.org/", path="a", sha256=sha256(text).hexdigest())
    part = CapturedPage(url="https://e.org/", path="a", sha256=sha256(b"Text.\n").hexdigest())
    assert contents.read(whole) == Content(text)
    found = contents.read(part)
    assert found is not None
    assert found.data == b"Text.\n"
    assert contents.read(CapturedPage(url="https://e.org/", path="a", sha256="0")) is None


def test_an_archive_gives_its_pages_as_they_came(
    tmp_path: Path, make_site: MakeSite, run_sumi: RunSumi
) -> None:
    workspace = make_workspace(tmp_path, make_site(pages=1, github=1), 1)
    assert run_sumi("run", "--config", "crawl.yaml", "--unified").returncode == 0
    (job,) = find_jobs(workspace.folder)
    assert job.kind is JobKind.CRAWL
    read = pages_of(job)
    assert {page.url for page, _ in read} == workspace.truth.keys()
    assert {page.form for page, _ in read} == {Form.HTML}
    assert all(content is not None and b"<html" in content.data for _, content in read)


def test_a_map_has_titles_only(tmp_path: Path) -> None:
    small_map(tmp_path)
    (job,) = find_jobs(tmp_path)
    assert job.kind is JobKind.MAP
    read = pages_of(job)
    assert read
    assert {page.form for page, _ in read} == {Form.NONE}
    assert all(content is None for _, content in read)


def test_foreign_and_damaged_folders_are_no_trouble(tmp_path: Path) -> None:
    small_map(tmp_path)
    (tmp_path / "circle").symlink_to(tmp_path)
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe.db")
    (tmp_path / "other.sqlite").write_bytes(b"SQLite format 3\0" + bytes(100))
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "captures.sqlite").write_bytes(b"not a database" * 100)
    (tmp_path / "site" / ".sumi").mkdir(parents=True)
    (tmp_path / "site" / ".sumi" / "format.json").write_text("{")
    found = find_jobs(tmp_path)
    assert [job.kind for job in found] == [JobKind.MAP, JobKind.MIRROR, JobKind.CAPTURE]
    assert "captures.sqlite cannot be read" in found[2].damage
    assert find_jobs(tmp_path, tmp_path, tmp_path / "circle") == found
    assert find_jobs(tmp_path / "missing", "\0", tmp_path / "empty") == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_passed_over(tmp_path: Path) -> None:
    small_map(tmp_path)
    (tmp_path / "closed").mkdir(mode=0)
    assert len(find_jobs(tmp_path)) == 1
