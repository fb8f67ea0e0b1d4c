"""Where contenders write: a fresh folder for every run, and all of them stay until everything is over.

ext4 steps over inodes that were deleted within the last seconds. Removing one contender's files before the
next one runs cost that one a fifth of its time: a bare loop made 760 pages/s instead of 1,100.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ENOUGH_BYTES: Final = 6_000_000_000  # by reckoning, for a whole comparison of three rounds


class Outputs:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fresh(self) -> Path:
        """For one run. What others wrote is on the disk by then, so that nobody pays for it but them."""
        os.sync()
        return Path(tempfile.mkdtemp(prefix="run-", dir=self._folder))


@contextmanager
def kept_outputs(place: Path | None = None) -> Iterator[Outputs]:
    """In the place, or else in the temporary folder."""
    folder = Path(tempfile.mkdtemp(prefix="sumi-outputs-", dir=place))
    folder.chmod(0o755)  # a web server may have to read in it after it gave up its rights
    _tell_if_little_is_free(folder)
    try:
        yield Outputs(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _tell_if_little_is_free(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < ENOUGH_BYTES:
        print(
            f"only {free / 1e9:.1f} GB are free for {folder}, and outputs stay until the end: make room, or "
            f"set TMPDIR (for make bench: --place) to a larger disk",
            file=sys.stderr,
        )
