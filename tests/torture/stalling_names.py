"""``sumi`` with a name server of its own: ``python -m tests.torture.stalling_names mirror …``.

Every ``*.test`` is this machine. A name that begins with ``name`` gets no answer before the run is over, and
no other name exists: nothing is ever asked of a real name server.
"""

import socket
import sys
import threading
from typing import Any

from sumi.cli.main import main

_NEVER = threading.Event()
_LONG = 60.0


def _look_up(host: Any, *_args: Any, **_kwargs: Any) -> list[tuple[Any, ...]]:
    name = host.decode() if isinstance(host, bytes) else host
    if not name.endswith(".test"):
        raise socket.gaierror(socket.EAI_NONAME, "no such name here")
    if name.startswith("name"):
        _NEVER.wait(_LONG)
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")
    return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", 0))]


if __name__ == "__main__":
    socket.getaddrinfo = _look_up
    sys.exit(main())
