"""State carried to another backend, whole or not at all.

The copy is made in a folder beside its destination and renamed when it is complete and on the disk. Killed
at any point, the source is untouched and the destination is not there yet.
"""

import os
from pathlib import Path

from sumi.errors import UsageError
from sumi.files.faults import explained
from sumi.ports import Snapshot
from sumi.state.carry import carry_over, refuse_unless_alike
from sumi.state.claim import Claim, remove_all_but
from sumi.state.folder import sync_folder
from sumi.state.lock import FolderLock
from sumi.state.recognize import LOOKING, backend_named, backend_of, open_snapshot

COMMAND = "sumi state migrate"


async def migrate(source: Path, target: Path, backend: str, now: float) -> int:
    """Returns the number of URLs carried over."""
    backend_named(backend)  # refused before anything is made
    lock = FolderLock(source, command=COMMAND)
    try:
        return await _into(target, backend, source, now)
    finally:
        lock.release()


async def _into(target: Path, backend: str, source: Path, now: float) -> int:
    """The copy's lock goes with it, and keeps out others who would copy to the same place."""
    unfinished = target.with_name(f".{target.name}.unfinished")
    with Claim(unfinished, COMMAND, option="TO") as claim:
        kept = [claim.lock.path]
        remove_all_but(kept, unfinished)  # of an earlier try that was killed
        try:
            urls = await _copy(source, unfinished, backend, now, claim.lock)
            sync_folder(unfinished)
            give_its_name(unfinished, target)
        except BaseException:
            remove_all_but(kept, unfinished)
            claim.vanish()
            raise
    return urls


def give_its_name(unfinished: Path, target: Path) -> None:
    if target.exists():
        raise UsageError(f"{target} exists by now; give a folder that does not")
    with explained(target):
        os.rename(unfinished, target)
    sync_folder(target.parent)


async def _copy(source: Path, unfinished: Path, backend: str, now: float, lock: FolderLock) -> int:
    old = backend_named(backend_of(source)).reading(source, LOOKING, now)
    try:
        new = backend_named(backend)(unfinished, LOOKING, now, lock=lock)
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
