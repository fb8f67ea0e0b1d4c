"""Records what a run finds: a version for each text that differs from the last one of its page.

Idempotent: recording the same text of a page again adds nothing. So a page that is repeated after a crash
leaves one version, and what a crash kept from being recorded is recorded by the run that follows.
"""

import contextlib
import os
from collections.abc import Callable
from hashlib import sha256
from itertools import count
from pathlib import Path

import msgspec

from sumi.errors import StateDamaged
from sumi.history.line_changes import changed_spans, count_lines, is_minor
from sumi.history.rows import ChangeKind, Head, Version
from sumi.history.store import DATABASE, History
from sumi.model import PageFacts

FOLDER = "history"  # in the state folder of a mirror, or in a folder of captures
RUNNING = None
INTERRUPTED = "interrupted"
FINISHED = "finished"  # nothing was pending; whether the job is complete, its summary says


class HistoryRecorder:
    """Nothing is created before there is something to record. ``job`` names a job among several that share a
    history."""

    def __init__(self, folder: Path, now: Callable[[], float], job: str = "") -> None:
        self._folder = folder
        self._now = now
        self._job = job
        self._started = now()
        self._opened: History | None = None
        self._run = 0
        self.note = ""  # what the user should know

    @property
    def exists(self) -> bool:
        return (self._folder / DATABASE).is_file()

    @property
    def run(self) -> int:
        return self._run

    @property
    def store(self) -> History:
        """Opened, with a run begun or continued. An unreadable history is set aside: it must not keep a job
        from running."""
        if self._opened is None:
            try:
                self._opened = History(self._folder, readonly=False)
            except StateDamaged as error:
                aside = _set_aside(self._folder)
                self.note = f"history: {error.args[0]}; it is kept in {aside}, and a new one begins"
                self._opened = History(self._folder, readonly=False)
            self._run = self._continued_run(self._opened)
        return self._opened

    def _continued_run(self, store: History) -> int:
        last = store.last_run(self._job)
        if last is not None and last.status in (RUNNING, INTERRUPTED):
            return last.id
        return store.begin_run(self._job, self._started)

    def knows(self, url: str) -> bool:
        return self.store.head(url) is not None

    def is_current(self, url: str, facts: PageFacts) -> bool:
        """Whether the last version of a page is the one that its record is about, with its text."""
        head = self.store.head(url)
        if head is None or not head.live or head.sha256 is None:
            return False
        return head.revision == facts.revision and self.store.has_text(head.sha256)

    def page(self, url: str, text: bytes, facts: PageFacts, at: float, *, remade: bool = False) -> None:
        """The text of a page as it is now; call it before the page's file is replaced. Of the facts, title,
        fidelity, revision and the hash of the original count."""
        store, digest = self.store, sha256(text).digest()
        head = store.head(url)
        if head is not None and head.live and head.sha256 == digest:
            self._same(head, text, facts.revision)
            return
        with store.transaction():
            store.add_text(digest, text, None if head is None else head.sha256)
            version = self._compared(url, head, digest, text, remade=remade)
            version = msgspec.structs.replace(version, at=at, title=facts.title, fidelity=facts.fidelity)
            store.add_version(version, facts.revision, facts.raw)

    def _same(self, head: Head, text: bytes, revision: str | None) -> None:
        if head.revision != revision:
            self.store.set_revision(head, revision)
        if head.sha256 is not None and not self.store.has_text(head.sha256):  # lost by a power cut
            self.store.add_text(head.sha256, text)

    def _compared(self, url: str, head: Head | None, digest: bytes, text: bytes, *, remade: bool) -> Version:
        if head is None:
            return Version(0, url, 0, self._run, 0.0, ChangeKind.ADDED, digest)
        kind = ChangeKind.BACK if not head.live else ChangeKind.REMADE if remade else ChangeKind.CHANGED
        before = None if head.sha256 is None else self.store.text(head.sha256)
        added, removed, minor = None, None, False
        if before is not None:
            old, new = before.decode("utf-8", "replace"), text.decode("utf-8", "replace")
            added, removed = count_lines(changed_spans(old.splitlines(), new.splitlines()))
            minor = kind is ChangeKind.CHANGED and is_minor(old, new)
        return Version(
            0, url, 0, self._run, 0.0, kind, digest, head.sha256, added=added, removed=removed, minor=minor
        )

    def known_text(self, url: str, digest: str | None, facts: PageFacts, at: float) -> None:
        """As ``page``, for a text that another page has brought already."""
        text = None if digest is None else self.store.text(bytes.fromhex(digest))
        if text is not None:
            self.page(url, text, facts, at)

    def gone(self, url: str, at: float, moved_to: str | None = None) -> None:
        """The site no longer has the page, or redirects to another one. Nothing if that is recorded."""
        store = self.store
        head = store.head(url)
        if head is None or not head.live:
            return
        kind = ChangeKind.MOVED if moved_to else ChangeKind.GONE
        version = Version(0, url, 0, self._run, at, kind, None, head.sha256, other=moved_to)
        store.add_version(version, None)

    def end(self, *, finished: bool) -> None:
        self.store.end_run(self._run, self._now(), FINISHED if finished else INTERRUPTED)

    def sync(self) -> None:
        if self._opened is not None:
            self._opened.sync()

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None


def _set_aside(folder: Path) -> Path:
    for number in count(1):
        aside = folder.with_name(f"{folder.name}.damaged-{number}")
        if not aside.exists():
            with contextlib.suppress(FileNotFoundError):
                os.rename(folder, aside)
            return aside
    raise AssertionError("count() never ends")
