"""A captured job for programs and for people: Markdown files in a folder or a ZIP, one file, JSON lines.

Pages come one by one and nothing is held but their names, so that a job of any size can be exported.
"""

import zipfile
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

import msgspec

from sumi.errors import UsageError
from sumi.files.front_matter import front_matter
from sumi.files.plain_text import iso_utc, markdown_text, markdown_url
from sumi.files.safe_files import SafeFolder
from sumi.urls.paths import PathAllocator


class ExportForm(StrEnum):
    FOLDER = "folder"
    MARKDOWN = "markdown"
    JSONL = "jsonl"
    ZIP = "zip"


class ExportedPage(msgspec.Struct, frozen=True):
    """The names are those of the JSON lines."""

    url: str
    title: str | None
    alternate_urls: tuple[str, ...]  # its own URL first
    base_url: str
    depth: int
    content_hash: str
    fetched_at: str
    content: str


def fetched_time(at: float) -> str:
    return iso_utc(at)


def export(form: ExportForm, target: Path, pages: Callable[[], Iterable[ExportedPage]]) -> int:
    """How many pages were written. ``pages`` is asked as often as a form needs them, and has to say the same
    every time. A file is there whole or not at all."""
    if form is ExportForm.FOLDER:
        return _write_folder(target, pages())
    if target.is_dir():
        raise UsageError(f"{target} is a folder, and the form {form} is one file: name one with --output")
    writers = {
        ExportForm.MARKDOWN: _write_one_file,
        ExportForm.JSONL: _write_lines,
        ExportForm.ZIP: _write_zip,
    }
    folder = SafeFolder(target.parent)
    try:
        with folder.stream_atomic(target.name) as file:
            return writers[form](file, pages)
    finally:
        folder.close()


def _write_folder(target: Path, pages: Iterable[ExportedPage]) -> int:
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is there already; choose another place with --output")
    folder = SafeFolder(target)
    written = 0
    try:
        for path, data in _files(pages):
            folder.write_atomic(path, data)
            written += 1
    finally:
        folder.close()
    return written


def _write_zip(file: BinaryIO, pages: Callable[[], Iterable[ExportedPage]]) -> int:
    written = 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in _files(pages()):
            archive.writestr(path, data)
            written += 1
    return written


def _write_lines(file: BinaryIO, pages: Callable[[], Iterable[ExportedPage]]) -> int:
    written = 0
    for page in pages():
        file.write(msgspec.json.encode(page) + b"\n")
        written += 1
    return written


def _write_one_file(file: BinaryIO, pages: Callable[[], Iterable[ExportedPage]]) -> int:
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
    """Each page as a path of its own and what stands there."""
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
