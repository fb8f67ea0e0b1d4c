"""Exports a captured job: as Markdown files in a folder or a ZIP, one Markdown file, or JSON lines.

To add a format, write a function that writes it, add a row to ``EXPORT_FORMATS``, describe it in
``docs/guides/capture.md`` and run ``make docs``. Pages are read one by one and only their file names are kept
in memory, so a job of any size can be exported. ``exchange`` has the formats of ``sumi export``, which takes
every kind of job.
"""

import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, TypeAlias

import msgspec

from sumi.errors import StateDamaged, UsageError
from sumi.files.plain_text import front_matter, iso_utc, markdown_text, markdown_url
from sumi.files.safe_files import SafeFolder
from sumi.urls.paths import PathAllocator

if TYPE_CHECKING:
    from sumi.jobs.capture.database import CaptureDatabase
    from sumi.jobs.capture.rows import CaptureJob


class ExportedPage(msgspec.Struct, frozen=True):
    """The names are the keys of the JSON lines."""

    url: str
    title: str | None
    alternate_urls: tuple[str, ...]  # its own URL first
    base_url: str
    depth: int
    content_hash: str
    fetched_at: str
    content: str


Pages: TypeAlias = Callable[[], Iterable[ExportedPage]]


def exported_pages(database: "CaptureDatabase", job: "CaptureJob") -> Iterator[ExportedPage]:
    for page in database.pages(job.id):
        text = database.content(page.text_sha256)
        if text is None:
            raise StateDamaged(
                f"the text of {page.url} is missing or damaged: capture it again with --skip-cache"
            )
        yield ExportedPage(
            url=page.url,
            title=page.title,
            alternate_urls=database.alternates(job.id, page),
            base_url=job.base_urls[page.base],
            depth=page.depth,
            content_hash=page.text_sha256,
            fetched_at=iso_utc(page.fetched_at),
            content=text.decode("utf-8", "replace"),
        )


class ExportFormat(NamedTuple):
    """``write`` returns the number of pages written. It may call ``Pages`` more than once and must get the
    same pages each time."""

    summary: str
    suffix: str  # of the default output; a folder has none
    write: Callable[[Path, Pages], int]


def _write_folder(target: Path, pages: Pages) -> int:
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} exists already; choose another with --output")
    folder = SafeFolder(target)
    written = 0
    try:
        for path, data in _files(pages()):
            folder.write_atomic(path, data)
            written += 1
    finally:
        folder.close()
    return written


def _one_file(write: Callable[[BinaryIO, Pages], int]) -> Callable[[Path, Pages], int]:
    """Write to a single file, which is there whole or not at all."""

    def write_file(target: Path, pages: Pages) -> int:
        if target.is_dir():
            raise UsageError(f"{target} is a folder, but this format writes one file: name it with --output")
        folder = SafeFolder(target.parent)
        try:
            with folder.stream_atomic(target.name) as file:
                return write(file, pages)
        finally:
            folder.close()

    return write_file


def _write_zip(file: BinaryIO, pages: Pages) -> int:
    written = 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in _files(pages()):
            archive.writestr(path, data)
            written += 1
    return written


def _write_jsonl(file: BinaryIO, pages: Pages) -> int:
    written = 0
    for page in pages():
        file.write(msgspec.json.encode(page) + b"\n")
        written += 1
    return written


def _write_markdown(file: BinaryIO, pages: Pages) -> int:
    file.write(b"# Contents\n\n")
    file.writelines(
        f"{number}. [{_heading(page)}](#page-{number})\n".encode("utf-8", "replace")
        for number, page in enumerate(pages(), 1)
    )
    number = 0
    for number, page in enumerate(pages(), 1):
        head = f'\n---\n\n<a id="page-{number}"></a>\n\n{markdown_url(page.url)}\n\n'
        file.write((head + page.content.strip("\n") + "\n").encode("utf-8", "replace"))
    return number


def _files(pages: Iterable[ExportedPage]) -> Iterator[tuple[str, bytes]]:
    """The path and the content of each page's file."""
    paths = PathAllocator()
    for page in pages:
        others = " ".join(page.alternate_urls[1:])
        head = front_matter(
            title=page.title,
            url=page.url,
            alternate_urls=others or None,
            fetched_at=page.fetched_at,
            sha256=page.content_hash,
        )
        text = page.content.strip("\n") + "\n"
        yield paths.claim(page.url), f"{head}\n{text}".encode("utf-8", "replace")


def _heading(page: ExportedPage) -> str:
    return markdown_text(page.title or page.url)


EXPORT_FORMATS: Final = {
    "folder": ExportFormat("a folder of Markdown files", "", _write_folder),
    "markdown": ExportFormat("one Markdown file with a table of contents", ".md", _one_file(_write_markdown)),
    "jsonl": ExportFormat("JSON lines", ".jsonl", _one_file(_write_jsonl)),
    "zip": ExportFormat("a ZIP of Markdown files", ".zip", _one_file(_write_zip)),
}
DEFAULT_FORMAT: Final = "folder"
