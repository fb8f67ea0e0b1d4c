"""A digest worker that misbehaves on request: the last segment of the URL names the misbehaviour."""

import os
import signal
import socket
import sys
from collections.abc import Callable

from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.workers.worker import confine, serve


def spin() -> None:
    while True:
        pass


def wait_for_ever() -> None:
    while True:
        signal.pause()


def swell() -> None:
    hoard = []
    while True:
        hoard.append(bytearray(16 * 1024 * 1024))


def bark() -> None:
    raise ValueError("bad\x1b[31m page")


def chatter() -> None:
    print("this must not reach the crawler", flush=True)
    os.write(1, b"\xff" * 64)


def connect(port: int) -> str:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=10).close()
    except OSError:
        return "unreachable"
    return "reached"


MISBEHAVIOURS: dict[str, Callable[[], None]] = {
    "segfault": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "exit": lambda: os._exit(3),
    "spin": spin,
    "wait": wait_for_ever,
    "swell": swell,
    "raise": bark,
    "chatter": chatter,
}


def digest(request: DigestRequest) -> PageDigest | Undigested:
    name = request.url.rsplit("/", 1)[-1]
    if name == "meet":
        # Opening a named pipe blocks until its other end is opened.
        path, mode = request.body.decode().split("\n")
        open(path, mode).close()
    if name == "environment":
        return PageDigest(links=sorted(os.environ))
    if name == "connect":
        return PageDigest(links=[], title=connect(int(request.body)))
    if name == "refuse":
        return Undigested(Verdict(Outcome.NOT_HTML, "an image"))
    if name == "surrogate":
        return PageDigest(links=[], title="\ud800")
    MISBEHAVIOURS.get(name, lambda: None)()
    return PageDigest(links=[request.url], title=str(os.getpid()), markdown=request.body.decode("latin-1"))


if __name__ == "__main__":
    cpu_seconds, memory_bytes = sys.argv[1:]
    confine(int(memory_bytes))
    serve(digest, float(cpu_seconds))
