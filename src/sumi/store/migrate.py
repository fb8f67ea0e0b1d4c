"""State carried to another backend, whole or not at all.

The copy is made in a folder beside its destination and renamed when it is complete and on the disk. Killed
at any point, the source is untouched and the destination is not there yet.
"""

import os
import shutil
from pathlib import Path

from sumi.ports import Snapshot
from sumi.store.carry import carry_over, refuse_unless_alike
from sumi.store.folder import sync_folder
from sumi.store.lock import FolderLock
from sumi.store.recognize import LOOKING, backend_named, backend_of, open_snapshot


async def migrate(source: Path, target: Path, backend: str, now: float) -> int:
    """Returns the number of URLs carried over."""
    backend_named(backend)  # refused before anything is made
    lock = FolderLock(source)
    try:
        return await _into(target, backend, source, now)
    finally:
        lock.release()


async def _into(target: Path, backend: str, source: Path, now: float) -> int:
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)  # of an earlier try that was killed
    unfinished.mkdir()
    try:
        urls = await _copy(source, unfinished, backend, now)
        sync_folder(unfinished)
        os.rename(unfinished, target)
        sync_folder(target.parent)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return urls


async def _copy(source: Path, unfinished: Path, backend: str, now: float) -> int:
    old = backend_named(backend_of(source)).reading(source, LOOKING, now)
    try:
        new = backend_named(backend)(unfinished, LOOKING, now)
        try:
            urls = await carry_over(old, new)
        finally:
            await new.aclose()
        await _compare(old, unfinished, now)
        return urls
    finally:
        await old.aclose()


async def _compare(old: Snapshot, copied: Path, now: float) -> None:
    """As a later run will find it: what is right in memory need not be so on the disk."""
    copy = open_snapshot(copied, now)
    try:
        await refuse_unless_alike(old, copy, now)
    finally:
        await copy.aclose()
