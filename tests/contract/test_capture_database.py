"""What the database of captures promises. A job's queue is no part of it: that is a store like any other, and
runs the cases of Frontier and Ledger as ``capture``."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sumi.catalogue.captures import open_captures
from sumi.errors import StateError
from sumi.jobs.capture.database import BatchWriter, CaptureDatabase
from sumi.jobs.capture.rows import CacheLevel, CapturedPage, CaptureJob, FailedPage, JobStatus
from sumi.parse.page.raw import packed

FORMS = ("plain", None, None, None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captures.sqlite"


@pytest.fixture
def database(path: Path) -> Iterator[CaptureDatabase]:
    database = CaptureDatabase(path)
    yield database
    database.close()


def job(job_id: str, created: float = 1.0, status: JobStatus = JobStatus.PENDING, **more: Any) -> CaptureJob:
    return CaptureJob(job_id, ("https://a.test/",), status, created, "{}", **more)


def page(name: str, fetched_at: float = 1.0, **more: Any) -> CapturedPage:
    url = f"https://a.test/{name}"
    fields: dict[str, Any] = {
        "url": url,
        "address": url,
        "text_sha256": "0" * 64,
        "body_sha256": None,
        "title": name,
        "base": 0,
        "depth": 0,
        "status": 200,
        "content_type": None,
        "etag": None,
        "last_modified": None,
        "rendered": None,
        "fresh_for": None,
        "cached": CacheLevel.MISS,
        "fetched_at": fetched_at,
        "vary_key": "plain",
    }
    return CapturedPage(**fields | more)


def titles(database: CaptureDatabase, job_id: str) -> list[str | None]:
    return [one.title for one in database.pages(job_id)]


def test_jobs_come_oldest_first_and_are_replaced_by_their_id(database: CaptureDatabase) -> None:
    database.put_job(job("later", 2.0))
    database.put_job(job("first", 1.0))
    database.put_job(job("later", 2.0, status=JobStatus.COMPLETED, pages_processed=3))
    assert [one.id for one in database.jobs()] == ["first", "later"]
    later = database.job("later")
    assert later is not None
    assert (later.status, later.pages_processed) == (JobStatus.COMPLETED, 3)
    assert database.job("nobody") is None


def test_a_page_put_again_keeps_its_place(database: CaptureDatabase) -> None:
    for name in ("one", "two"):
        database.put_page("job", page(name))
    database.put_page("job", page("one", title="one, again"))
    assert titles(database, "job") == ["one, again", "two"]
    assert database.count_pages("job") == 2


def test_duplicates_are_named_with_the_page_that_they_repeat(database: CaptureDatabase) -> None:
    kept = page("kept")
    database.put_page("job", kept)
    database.put_page("job", page("copy", duplicate_of=kept.url))
    assert titles(database, "job") == ["kept"]
    assert database.alternates("job", kept) == (kept.url, "https://a.test/copy")


def test_the_youngest_copy_answers_a_request_of_its_own_form(database: CaptureDatabase) -> None:
    database.put_page("old", page("x", 1.0, title="old"))
    database.put_page("new", page("x", 2.0, title="new"))
    database.put_page("secret", page("x", 3.0, title="secret", vary_key="with a cookie"))
    found = database.cached("https://a.test/x", FORMS)
    assert found is not None
    assert found.title == "new"
    assert database.cached("https://a.test/x", ("another form", None, None, None)) is None


def test_a_failure_is_one_per_page_and_can_be_taken_back(database: CaptureDatabase) -> None:
    for error in ("HTTP 500", "HTTP 404"):
        database.put_failure("job", FailedPage("https://a.test/x", error, 1.0))
    assert [failure.error for failure in database.failures("job")] == ["HTTP 404"]
    database.drop_failure("job", "https://a.test/x")
    assert database.failures("job") == []


def test_a_deleted_job_leaves_what_others_have(database: CaptureDatabase) -> None:
    contents = [packed(b"shared"), packed(b"own")]
    (shared, _), (own, _) = contents
    database.put_contents(contents)
    for name in ("one", "two"):
        database.put_job(job(name))
        database.put_page(name, page("x", text_sha256=shared))
    database.put_page("one", page("y", text_sha256=own))
    database.delete_job("one")
    assert [one.id for one in database.jobs()] == ["two"]
    assert titles(database, "one") == []
    assert database.content(shared) == b"shared"
    assert database.content(own) is None


def test_a_transaction_is_there_whole_or_not_at_all(database: CaptureDatabase) -> None:
    def die_in_between() -> None:
        with database.transaction():
            database.put_job(job("one"))
            database.put_page("one", page("x"))
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        die_in_between()
    assert database.jobs() == []
    assert titles(database, "one") == []


def test_what_was_written_is_there_for_others_at_once(path: Path, database: CaptureDatabase) -> None:
    database.put_job(job("one"))
    reader = CaptureDatabase(path, readonly=True)
    assert [one.id for one in reader.jobs()] == ["one"]
    with reader.snapshot():
        assert len(reader.jobs()) == 1
        database.put_job(job("two"))
        assert len(reader.jobs()) == 1  # all that is read within is of one moment
    assert len(reader.jobs()) == 2
    reader.close()


def test_what_is_no_database_of_captures_is_refused(path: Path) -> None:
    path.write_bytes(b"something else" * 100)
    with pytest.raises(StateError, match="is damaged"):
        CaptureDatabase(path)


def test_the_writes_of_one_turn_are_one_transaction(database: CaptureDatabase) -> None:
    lasts: list[int] = []

    async def scenario() -> None:
        writer = BatchWriter(database, lambda: lasts.append(database.count_pages("job")))
        await asyncio.gather(
            *(writer.do(lambda name=name: database.put_page("job", page(name))) for name in "abc")  # type: ignore[misc]
        )
        assert lasts == [3]

        def fail() -> None:
            raise RuntimeError("no room")

        written = writer.do(lambda: database.put_page("job", page("d")))
        results = await asyncio.gather(written, writer.do(fail), return_exceptions=True)
        assert [str(result) for result in results] == ["no room", "no room"]

    asyncio.run(scenario())
    assert titles(database, "job") == ["a", "b", "c"]


def test_whoever_holds_a_moment_reads_what_was_there_then(path: Path, database: CaptureDatabase) -> None:
    database.put_job(job("one"))
    with open_captures(path) as reader:
        reader.hold_moment()
        database.put_job(job("two"))
        assert [row.id for row in reader.jobs()] == ["one"]
    with open_captures(path) as reader:
        assert {row.id for row in reader.jobs()} == {"one", "two"}
