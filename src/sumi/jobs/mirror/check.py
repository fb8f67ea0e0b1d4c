"""``sumi state check`` for a mirror: compares the records with their files and the derived files."""

import os
import stat
import unicodedata
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec

from sumi.history.recorder import FOLDER as HISTORY
from sumi.history.store import history_violations
from sumi.jobs.mirror.assets import is_whole_asset, stored_assets
from sumi.jobs.mirror.layout import stored_layout
from sumi.jobs.mirror.manifest import relative_to_home
from sumi.jobs.mirror.markdown_page import is_whole
from sumi.jobs.mirror.progress_files import PROCESSED, processed_line
from sumi.jobs.mirror.settings import load_saved_settings
from sumi.jobs.mirror.survey import DONE, stored_pages
from sumi.model import PageFacts
from sumi.outcomes import Outcome
from sumi.ports import Snapshot, UrlRecord
from sumi.state.check import Finding, ledger_violations
from sumi.urls.paths import page_path

RUNNING = "running"
FLAG_FILES = ("pause.mirror", "stop.mirror")


class _Page(msgspec.Struct):
    url: str
    path: str | None = None
    size_bytes: int | None = None
    sha256: str | None = None


class _Manifest(msgspec.Struct):
    pages: list[_Page]
    discovered: int
    outcomes: dict[str, int]


class _Progress(msgspec.Struct):
    status: str = RUNNING


async def mirror_findings(home: Path, store: Snapshot, *, deep: bool) -> AsyncIterator[Finding]:
    """Everything that is wrong. ``deep``: also compare the content of every page with its hash."""
    async for finding in _Check(home, store).findings(deep):
        yield finding


class _Check:
    def __init__(self, home: Path, store: Snapshot) -> None:
        self._home = home
        self._root = home.parent
        self._store = store
        self._files: dict[str, str] = {}  # URL by case-folded path

    async def findings(self, deep: bool) -> AsyncIterator[Finding]:
        settings = await load_saved_settings(self._store)
        async for words in ledger_violations(self._store, settings.max_pages if settings else 0):
            yield Finding(words)
        async for finding in self._pages(deep):
            yield finding
        async for finding in self._assets(deep):
            yield finding
        async for finding in self._strays():
            yield finding
        if deep:
            for words in history_violations(self._home / ".sumi" / HISTORY):
                yield Finding(words)
        if _status(self._home) != RUNNING:  # after a kill they are outdated; the next run rewrites them
            for finding in [*await self._processed(), *await self._manifest()]:
                yield finding

    async def _pages(self, deep: bool) -> AsyncIterator[Finding]:
        async for record in stored_pages(self._store):
            path = record.facts.path
            if path is None or _awaits_its_file(record):
                continue
            twin = self._files.setdefault(_folded(path), record.url)
            if twin != record.url:
                yield Finding(f"{record.url}: shares the file {path} with {twin}", requeue=record.url)
                continue
            words = _file_problem(self._root, path, record.facts, deep)
            if words:
                yield Finding(f"{record.url}: {path} {words}", requeue=record.url)

    async def _assets(self, deep: bool) -> AsyncIterator[Finding]:
        async for record in stored_assets(self._store):
            words = _file_problem(self._root, record.facts.path or "", record.facts, deep)
            if words:
                yield Finding(f"{record.url}: {record.facts.path} {words}", requeue=record.url)

    async def _strays(self) -> AsyncIterator[Finding]:
        """Files without a record. A kill leaves some for pages in flight."""
        layout = await stored_layout(self._store)
        expected = {
            _folded(record.facts.path or page_path(record.url, layout))
            async for record in self._store.records({Outcome.PENDING})
        }
        hosts = {path.partition("/")[0] for path in self._files} | {_folded(self._home.name)}
        for folder in sorted(self._root.iterdir()):
            if _folded(folder.name) not in hosts or not self._is_ours(folder):
                continue
            for path in _page_files(folder, self._root):
                if _folded(path) not in self._files and _folded(path) not in expected:
                    yield Finding(f"{path}: a file without a page", stray=path)

    def _is_ours(self, folder: Path) -> bool:
        """Another host's folder may be another job's home."""
        return folder == self._home or not (folder / ".sumi").exists()

    async def _processed(self) -> list[Finding]:
        lines = (
            sorted((self._home / PROCESSED).read_bytes().splitlines(keepends=True))
            if self._has(PROCESSED)
            else None
        )
        done = sorted([processed_line(record.url) async for record in self._store.records(DONE)])
        if lines == done:
            return []
        return [Finding(f"{PROCESSED} does not list the finished pages", stale=True)]

    async def _manifest(self) -> list[Finding]:
        try:
            manifest = msgspec.json.decode((self._home / "_manifest.json").read_bytes(), type=_Manifest)
        except (OSError, msgspec.MsgspecError) as error:
            return [Finding(f"_manifest.json cannot be read: {error}", stale=True)]
        listed = {(page.path, page.size_bytes, page.sha256) for page in manifest.pages}
        facts = [record.facts async for record in stored_pages(self._store)]
        known = {(relative_to_home(f.path, self._home.name), f.size, f.sha256) for f in facts if f.path}
        found = []
        if listed != known or len(manifest.pages) != len(facts):
            words = f"lists {len(manifest.pages):,} pages, {len(listed - known):,} of them not as recorded"
            found.append(Finding(f"_manifest.json {words}; {len(facts):,} are recorded", stale=True))
        if sum(manifest.outcomes.values()) != manifest.discovered:
            found.append(Finding("_manifest.json: its outcomes do not add up to the URLs found", stale=True))
        return found

    def _has(self, name: str) -> bool:
        return (self._home / name).is_file()


def _status(home: Path) -> str:
    try:
        return msgspec.json.decode((home / "_progress.json").read_bytes(), type=_Progress).status
    except (OSError, msgspec.MsgspecError):
        return RUNNING


def _awaits_its_file(record: UrlRecord) -> bool:
    """Whether it is queued because its file was lost."""
    return record.outcome is Outcome.PENDING and record.facts.fetched_at is None


def _file_problem(root: Path, path: str, facts: PageFacts, deep: bool) -> str:
    """Empty if the file exists, is a regular file in the tree, and is as recorded."""
    file = root / path
    try:
        status = os.lstat(file)
        inside = file.resolve().is_relative_to(root.resolve())
    except (OSError, ValueError):
        return "is missing"
    if not inside or not stat.S_ISREG(status.st_mode):
        return "is not a separate file"
    if status.st_size != facts.size:
        return f"has {status.st_size:,} bytes, {facts.size:,} were recorded"
    whole = is_whole_asset if facts.asset else is_whole
    if deep and not whole(file.read_bytes(), facts):
        return "does not match its recorded hash"
    return ""


def _page_files(folder: Path, root: Path) -> Iterator[str]:
    """All but the job's own files, whose names start with ``_`` or ``.``."""
    for place, folders, names in os.walk(folder):
        at_top = Path(place) == folder
        if at_top:
            folders[:] = [name for name in folders if not name.startswith(("_", "."))]
        for name in sorted(names):
            own = at_top and (name.startswith("_") or name in FLAG_FILES)
            if not own and not name.startswith("."):
                yield (Path(place) / name).relative_to(root).as_posix()


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
