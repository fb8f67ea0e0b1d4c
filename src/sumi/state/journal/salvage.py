"""Salvages a damaged journal: records that can still be applied go to a new one, and the old one is kept.

A lost record may have held discoveries. So that they are made again, everything that depended on it is
undone: a page whose settlement was lost is queued again, the settlement of a page that is no longer known is
dropped, and every robots.txt is dropped, because reading it is how sitemaps are discovered.
"""

import os
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import msgspec

from sumi.state.folder import exchange, sync_folder
from sumi.state.journal.journal import BadLine, Journal, JournalView
from sumi.state.journal.records import (
    Added,
    Again,
    Amended,
    Ended,
    Find,
    HostSet,
    Imported,
    ListingSet,
    NotePut,
    PutBack,
    Record,
    RobotsPut,
    Synced,
    decode,
    encode,
)
from sumi.state.lock import LOCK_NAME


def damages(folder: Path) -> list[BadLine]:
    """Every line that was complete once and is damaged now."""
    view = JournalView(folder)
    return [line for line in view.lines() if isinstance(line, BadLine) and not line.is_tail]


def salvage(folder: Path) -> Path:
    """Replace the state folder with one without the damage; returns where the damaged one is kept.

    The new one is complete before anything is moved. The caller holds the folder's lock: both folders have
    the same lock file, so the new one is locked as soon as it takes the old one's place.
    """
    aside = next(place for number in count(1) if not (place := _beside(folder, f"damaged-{number}")).exists())
    rebuilt = _beside(folder, "rebuilt")
    shutil.rmtree(rebuilt, ignore_errors=True)
    shutil.copytree(folder, rebuilt, ignore=shutil.ignore_patterns("journal-*.log", LOCK_NAME))
    _write_segment(rebuilt, _good_records(folder))
    os.link(folder / LOCK_NAME, rebuilt / LOCK_NAME)
    sync_folder(rebuilt)
    exchange(rebuilt, folder)
    (rebuilt / LOCK_NAME).unlink()
    os.rename(rebuilt, aside)
    sync_folder(folder.parent)
    return aside


def _beside(folder: Path, word: str) -> Path:
    return folder.with_name(f"{folder.name}-{word}")


def _write_segment(folder: Path, records: Iterator[Record]) -> None:
    journal = Journal(folder)
    try:
        for record in records:
            journal.append([encode(record)])
        journal.sync()
    finally:
        journal.close()


def _good_records(folder: Path) -> Iterator[Record]:
    usable = _Filter()
    for line in JournalView(folder).lines():
        if isinstance(line, BadLine):
            continue
        try:
            record = decode(line[1])
        except msgspec.MsgspecError:
            continue
        yield from usable.apply(record)


class _Filter:
    """Knows which URLs are known and settled so far, which decides whether a record can still be applied."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._done: set[str] = set()

    def apply(self, record: Record) -> Iterator[Record]:
        match record:
            case Added():
                self._learn(record.found)
                yield record
            case Ended() if record.url in self._known:
                if record.url in self._done:  # the record that queued it again was lost
                    yield Again([record.url], record.at)
                self._done.add(record.url)
                self._learn(record.found)
                yield record
            case PutBack() if record.url in self._known and record.url not in self._done:
                self._learn(record.found)
                yield record
            case Again():
                self._done.difference_update(record.urls)
                yield record
            case Amended() if record.url in self._done:
                yield record
            case Imported():
                yield from self._imported(record)
            case HostSet() | NotePut() | ListingSet():
                yield record
            case Ended() | PutBack() | Amended() | RobotsPut() | Synced():
                return  # sync marks too: offsets have changed

    def _learn(self, found: list[Find]) -> None:
        """Refused URLs do not count: no record can follow, unless they were accepted later."""
        self._known.update(find.url for find in found if find.outcome is None)

    def _imported(self, record: Imported) -> Iterator[Record]:
        stored = record.stored
        if not stored.refused:
            self._known.add(stored.candidate.url)
            if stored.verdict is not None:
                self._done.add(stored.candidate.url)
        yield record
