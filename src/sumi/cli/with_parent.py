"""``python -m sumi.cli.with_parent PID …``: a command that is killed when its parent process ends.

Killed rather than asked to stop: nothing reads its output any more, and the next run must not find it
running. What it had settled is safe, as after any kill.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_INTERRUPTED = 3


def main() -> int:
    parent, words = int(sys.argv[1]), sys.argv[2:]
    # As in sumi.__main__: no traceback for Ctrl-C while modules are imported.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:  # it ended before prctl was called
        return _INTERRUPTED
    from sumi.cli.main import main as sumi

    return sumi(words)


if __name__ == "__main__":
    sys.exit(main())
