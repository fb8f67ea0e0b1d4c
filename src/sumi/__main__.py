"""``python -m sumi`` is ``sumi``."""

import sys

from sumi.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
