"""``sumi`` and ``python -m sumi``: where a process of ours begins."""

import signal
import sys

# A command takes a while to import, and has nothing to save before it runs. Until then Ctrl-C ends the
# process as it ends any program: without a traceback of what was being imported. Unless it is ignored.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from sumi.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
