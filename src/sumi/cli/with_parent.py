"""``python -m sumi.cli.with_parent …``: a command that is asked to stop when whoever started it is gone."""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> int:
    parent = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))
        if os.getppid() != parent:  # gone before we could say so
            return 3
    from sumi.cli.main import main as sumi

    return sumi(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
