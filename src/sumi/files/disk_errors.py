"""An OSError as a sentence that says where it happened and what to do about it."""

import errno
import os
from pathlib import Path

from sumi.errors import OutputRefused, StorageFailed, SumiError

_IN_THE_WAY = frozenset((errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO))
_FULL = frozenset((errno.ENOSPC, errno.EDQUOT))
_ADVICE = {
    errno.EROFS: "make the disk writable again",
    errno.EACCES: "check its permissions",
    errno.EPERM: "check its permissions",
    errno.ENOENT: "put its folder back, or run again to start over",
    errno.EMFILE: "raise the limit on open files (ulimit -n), or lower --concurrency",
    errno.ENFILE: "close other programs",
}


class explained:  # noqa: N801 - a context manager, used as ``with explained(path):``
    """Raises every OSError of its block as the SumiError that ``disk_error`` makes of it.

    A class and not a generator, which would take several times as long, for every file that is written.
    """

    __slots__ = ("_folder", "_rel_path")

    def __init__(self, folder: Path, rel_path: str = "") -> None:
        self._folder = folder
        self._rel_path = rel_path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):  # the path is joined only now: joining costs as much as a write
            raise disk_error(error, self._folder / self._rel_path) from error


def disk_error(error: OSError, path: Path) -> SumiError:
    if error.errno in _IN_THE_WAY:
        return OutputRefused(
            f"a symbolic link or something that is not a plain file or folder is in the way of {path}: "
            "remove it and run the same command again"
        )
    if error.errno in _FULL:
        return StorageFailed(
            f"no space left to write {path}: free some and run the same command again to continue"
        )
    if error.errno == errno.EIO:
        return StorageFailed(
            f"the disk failed at {path}: check it, then run the same command again to continue"
        )
    reason = os.strerror(error.errno) if error.errno else str(error)
    advice = _ADVICE.get(error.errno or 0, "fix this")
    return StorageFailed(
        f"cannot write {path} ({reason}): {advice}, then run the same command again to continue"
    )
