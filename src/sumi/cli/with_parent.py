"""``python -m sumi.cli.with_parent PID …``: a command that ends when the process that started it is gone.

It is killed rather than asked to stop: whoever would hear what it says is gone, and the next run is to find
nothing at work. What it had settled is safe, as after any kill.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_INTERRUPTED = 3


def main() -> int:
    parent, words = int(sys.argv[1]), sys.argv[2:]
    # As at our other entry point: Ctrl-C while modules are loaded is worth no traceback.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:  # gone before we could say so
        return _INTERRUPTED
    from sumi.cli.main import main as sumi

    return sumi(words)


if __name__ == "__main__":
    sys.exit(main())
