"""``sumi`` and ``python -m sumi``: the entry point."""

import signal
import sys

# A command takes a while to import and has nothing to save before it runs. Until then Ctrl-C ends the process
# without a traceback of what was being imported, unless SIGINT is ignored.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from sumi.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
