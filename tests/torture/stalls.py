"""Hosts that fall silent in every phase of an exchange, beside a healthy one: the run ends, the healthy one's
pages are all there, and every page of the others has an outcome with a name."""

import os
import random
import signal
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.commands import ROOT, parse_events, sumi_environment

SECONDS = 180
LIMIT = 4  # seconds, of each phase; on a busy machine a healthy server takes one or two
PAGES = 6
MOST_STALLING = 40
PHASES = (
    "name",
    "connect",
    "tls",
    "headers",
    "body",
    "chunks",
    "end",
    "robots",
    "sitemap",
    "redirect",
)
HEALTHY = ("healthy-1.test", "healthy-2.test")  # the second is looked up when others have stalled already
NAMED = {
    "address_refused",
    "connect_failed",
    "connection_lost",
    "dns_failed",
    "redirected",
    "robots_unreachable",
    "timed_out",
    "tls_failed",
    "captured",
    "duplicate",
    "absent",
    "probed",
}
_HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128
    hub: bytes = b""
    port: int = 0

    def __init__(self, handler: type[socketserver.BaseRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.port = self.socket.getsockname()[1]
        self.over = threading.Event()  # nobody is kept waiting after that


class _Silent(socketserver.BaseRequestHandler):
    """Takes connections, and says nothing: not even a handshake."""

    server: _Server

    def handle(self) -> None:
        self.server.over.wait(SECONDS)


class _Hosts(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        with suppress(OSError):
            while line := self.rfile.readline():
                host = ""
                while (field := self.rfile.readline()) not in (b"\r\n", b""):
                    name, _, value = field.decode().partition(":")
                    host = value.strip() if name.lower() == "host" else host
                self.answer(host.partition(":")[0], line.split()[1].decode())

    def answer(self, host: str, path: str) -> None:
        phase = host.partition("-")[0]
        if path == "/robots.txt":
            self.robots(host, phase)
        elif path == "/sitemap.xml" and phase == "sitemap":
            self.stall()
        elif path != "/" and not path.startswith(("/page", "/target")):
            self.wfile.write(_NOT_FOUND)
        elif phase in _PARTS:
            self.stall(_PARTS[phase])
        elif phase == "redirect":
            where = f"http://headers-of-{host}:{self.server.port}/target"
            self.wfile.write(
                b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: %s\r\n\r\n" % where.encode()
            )
        else:
            body = (
                self.server.hub if path == "/" else b"<h1>Page %s of %s</h1>" % (path.encode(), host.encode())
            )
            self.wfile.write(_HTML + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def robots(self, host: str, phase: str) -> None:
        if phase == "robots":
            self.stall()
        elif phase == "sitemap":
            body = f"Sitemap: http://{host}:{self.server.port}/sitemap.xml\n".encode()
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        else:
            self.wfile.write(_NOT_FOUND)

    def stall(self, first: bytes = b"") -> None:
        self.wfile.write(first)
        self.server.over.wait(SECONDS)


# What is said before the silence.
_PARTS = {
    "headers": b"HTTP/1.1 200 OK\r\nContent-Ty",
    "body": _HTML + b"Content-Length: 1000\r\n\r\n<h1>Half a",
    "chunks": _HTML + b"Transfer-Encoding: chunked\r\n\r\n9\r\n<h1>Half \r\n",
    "end": _HTML + b"Transfer-Encoding: chunked\r\n\r\n9\r\n<h1>Whole\r\n",
}


def attempt(folder: Path, seed: int) -> list[str]:
    chance = random.Random(seed)
    phases = [chance.choice(PHASES) for _ in range(chance.randint(1, MOST_STALLING))]
    return beside(folder, phases, chance)


def beside(folder: Path, phases: list[str], chance: random.Random) -> list[str]:
    """What was violated by a mirror of a healthy host beside one that stalls in each of these phases."""
    with ExitStack() as stack:
        hosts = stack.enter_context(_serving(_Hosts))
        silent = stack.enter_context(_serving(_Silent))
        full = stack.enter_context(_full_listener())
        roots = {"connect": f"http://{{}}:{full}", "tls": f"https://{{}}:{silent.port}"}
        stalling = [
            roots.get(phase, f"http://{{}}:{hosts.port}").format(f"{phase}-{number}.test")
            for number, phase in enumerate(phases)
        ]
        links = [f"http://{name}:{hosts.port}/page{number}" for name in HEALTHY for number in range(PAGES)]
        links += [f"{root}/page{number}" for root in stalling for number in range(chance.randint(1, 3))]
        chance.shuffle(links)
        hosts.hub = b"<h1>The hub</h1>" + b"".join(b'<p><a href="%s">x</a>' % link.encode() for link in links)
        words = [
            "mirror",
            f"http://{HEALTHY[0]}:{hosts.port}/",
            "--follow-links",
            "--allow-private",
            "--json",
        ]
        for port in (hosts.port, silent.port, full):
            words += ["--hosts", f"*.test:{port}"]
        words += ["--rate-limit", "0", "--concurrency", str(chance.choice((4, 16, 64)))]
        words += ["--retries", str(chance.choice((0, 1))), "--timeout", str(3 * LIMIT), "-o", str(folder)]
        for limit in ("connect", "first-byte", "idle"):
            words += [f"--{limit}-timeout", str(LIMIT)]
        wrong = _run(words, folder, set(links))
        return [f"{phases}: {one}" for one in wrong]


def _run(words: list[str], folder: Path, links: set[str]) -> list[str]:
    error = folder.with_suffix(".error")
    command = [sys.executable, "-m", "tests.torture.stalling_names", *words]
    with (
        error.open("w") as stderr,
        subprocess.Popen(
            command,
            cwd=ROOT,
            env=sumi_environment(None),
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
        ) as run,
    ):
        try:
            output = run.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            return [f"no end of the run within {SECONDS} s"]
        finally:
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
    return _violations(parse_events(output), error.read_text(), links)


def _violations(events: list[dict[str, Any]], said: str, links: set[str]) -> list[str]:
    wrong = [f"noise: {said.strip()[-500:]}"] if "Traceback" in said or not events else []
    outcomes = {event["url"]: event["outcome"] for event in events if event["event"] == "page"}
    for link in sorted(links):
        outcome = outcomes.get(link, "nothing")
        whole = outcome in ("captured", "duplicate")
        if outcome not in NAMED or ("//healthy" in link and not whole):
            wrong.append(f"{link} ended as {outcome}: {said.strip()[-200:]}")
    summary = events[-1] if events else {}
    if sum(summary.get("outcomes", {}).values()) != summary.get("discovered"):
        wrong.append(f"the outcomes do not add up: {summary}")
    return wrong


@contextmanager
def _serving(handler: type[socketserver.BaseRequestHandler]) -> Iterator[_Server]:
    with _Server(handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()


@contextmanager
def _full_listener() -> Iterator[int]:
    """A port whose queue is full: the system drops whoever asks to be let in, as a dead route does."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        knock: Callable[[], bool] = lambda: _gets_in(stack.enter_context(socket.socket()), listener)  # noqa: E731
        for _ in range(8):
            if not knock():
                break
        yield listener.getsockname()[1]


def _gets_in(asking: socket.socket, listener: socket.socket) -> bool:
    asking.settimeout(0.2)
    try:
        asking.connect(listener.getsockname())
    except OSError:
        return False
    return True
