"""The pages of a captured job, whole, for whoever exports them."""

from collections.abc import Iterator

from sumi.errors import StateDamaged
from sumi.jobs.capture.database import CaptureDatabase
from sumi.jobs.capture.export_formats import ExportedPage, fetched_time
from sumi.jobs.capture.rows import CaptureJob


def exported_pages(database: CaptureDatabase, job: CaptureJob) -> Iterator[ExportedPage]:
    for page in database.pages(job.id):
        text = database.content(page.text)
        if text is None:
            raise StateDamaged(f"the text of {page.url} is missing or damaged: capture it with --skip-cache")
        yield ExportedPage(
            url=page.url,
            title=page.title,
            alternate_urls=database.alternates(job.id, page),
            base_url=job.base_urls[page.base],
            depth=page.depth,
            content_hash=page.text,
            fetched_at=fetched_time(page.fetched_at),
            content=text.decode("utf-8", "replace"),
        )
