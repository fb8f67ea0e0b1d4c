"""What the disk did wrong, as a sentence that says where and what to do."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sumi.errors import StorageFailed

_FULL = frozenset((errno.ENOSPC, errno.EDQUOT))


def storage_failed(path: Path, error: OSError) -> StorageFailed:
    if error.errno in _FULL:
        return StorageFailed(f"no space left to write {path}: free some, then run the same command again")
    words = os.strerror(error.errno) if error.errno else str(error)
    return StorageFailed(f"cannot write {path} ({words}): check the disk, then run the same command again")


@contextmanager
def explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise storage_failed(path, error) from error
