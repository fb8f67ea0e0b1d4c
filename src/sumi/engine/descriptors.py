"""How many requests at once a process can afford: each needs a few of the files it may have open.

Running out of them would look like hosts that cannot be reached.
"""

import contextlib
import resource

# The event loop, the journal, the logs, the terminal: about 20; and the pipes of each worker process.
RESERVED = 28
PER_PROCESS = 4
# A socket, the resolver's two, and a second socket while two addresses are tried.
PER_REQUEST = 4
# Of all descriptors: for open folders and for idle connections that wait to be used again.
SHARE_OF_FOLDERS = 8
SHARE_OF_IDLE = 4

# More is of no use, and a huge limit makes some system calls slow.
ENOUGH = 8192


def raise_limit() -> None:
    """As far as is useful and allowed without asking anybody."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard < 0 else min(hard, ENOUGH)
    if 0 <= soft < wanted:
        with contextlib.suppress(OSError, ValueError):  # the old limit serves too
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def affordable_requests(processes: int) -> int:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit < 0:
        limit = ENOUGH
    left = limit - limit // SHARE_OF_FOLDERS - limit // SHARE_OF_IDLE - RESERVED - PER_PROCESS * processes
    return max(1, left // PER_REQUEST)
