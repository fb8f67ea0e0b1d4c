"""Control by files: ``pause.<job>`` and ``stop.<job>`` in a job's home folder, for scripts and programs.

While the pause file exists, nothing new is fetched. The stop file stops the run as one Ctrl-C does, and is
removed once obeyed, so that it does not stop the next one. Only regular files count: a link or a page's
folder of that name means nothing.
"""

import contextlib
import os
import stat
from pathlib import Path

from sumi.engine.control import Control
from sumi.ports import Clock

LOOK_SECONDS = 1.0


class FlagFiles:
    def __init__(self, home: Path, job: str, control: Control) -> None:
        self._pause = home / f"pause.{job}"
        self._stop = home / f"stop.{job}"
        self._control = control
        self._paused_by_us = False  # a pause asked for by other means is not ours to end

    async def watch(self, clock: Clock) -> None:
        """Look every second; runs beside the crawl until cancelled."""
        while True:
            self.look()
            await clock.sleep_until(clock.now() + LOOK_SECONDS)

    def look(self) -> None:
        if _is_file(self._stop):
            with contextlib.suppress(OSError):  # a folder we may not change: obeyed all the same
                os.unlink(self._stop)
            if not self._control.stopping:
                self._control.stop(self._stop.name)
            return
        wanted = _is_file(self._pause)
        if wanted and self._control.leasing:
            self._control.pause(self._pause.name)
            self._paused_by_us = True
        elif not wanted and self._paused_by_us:
            self._paused_by_us = False
            self._control.resume(f"{self._pause.name} is gone")


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
