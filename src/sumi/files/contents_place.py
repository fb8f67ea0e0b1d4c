"""Where a job keeps its contents, if not in files: a small file beside its state says so.

Each job has a folder of its own in the store, so that no job takes the segments of another for garbage.
"""

import re
import secrets
from pathlib import Path
from typing import Final

import msgspec

from sumi.errors import StateDamaged, UsageError
from sumi.files.objects import checked_address
from sumi.files.safe_files import SafeFolder

CONTENTS_FILE: Final = "contents.json"
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9.-]+")
_MOST_BYTES: Final = 64 * 1024


class _Contents(msgspec.Struct, frozen=True):
    store: str


def contents_of(state: Path) -> str | None:
    """The address of the job's own folder in its store; None: its contents are in files."""
    try:
        text = (state / CONTENTS_FILE).read_bytes()[:_MOST_BYTES]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StateDamaged(f"{state / CONTENTS_FILE} cannot be read: {error.strerror}") from None
    try:
        return checked_address(msgspec.json.decode(text, type=_Contents).store)
    except (msgspec.MsgspecError, UsageError):
        raise StateDamaged(f"{state / CONTENTS_FILE} does not say where the contents are") from None


def new_contents(store: str, name: str) -> str:
    """An address in the store that no other job has. ``name``: of the job, for people."""
    readable = _NOT_IN_NAMES.sub("-", name)[:80].strip(".-") or "job"
    return f"{checked_address(store)}/{readable}-{secrets.token_hex(6)}"


def keep_contents(state: Path, address: str) -> None:
    folder = SafeFolder(state)
    try:
        folder.write_atomic(CONTENTS_FILE, msgspec.json.encode(_Contents(address)) + b"\n")
        folder.sync()
    finally:
        folder.close()


def agreed_contents(known: str | None, store: str | None, name: str, *, is_new: bool) -> str | None:
    """Where a run keeps its contents. ``known``: where the job has them. ``store``: what the user says.
    Raises UsageError if the two differ."""
    if known is not None:
        if store is not None and checked_address(store) not in (known, known.rpartition("/")[0]):
            raise UsageError(f"this job keeps its contents in {known}: omit --store to continue there")
        return known
    if store is None:
        return None
    if not is_new:
        raise UsageError(
            "this job keeps its contents in files: omit --store to continue, or begin another one"
        )
    return new_contents(store, name)
