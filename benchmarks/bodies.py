"""Forty hostile answers at once, as large as they may be: the memory that the crawler and its workers take.

    python -m benchmarks.bodies [MAX_IN_FLIGHT]

Half of them come as they are, 15 MiB each; half are small on the wire and 31 MiB once decoded. They are
watched for two minutes: most is taken at the start, and reading them all takes longer.
"""

import asyncio
import gzip
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from benchmarks.measuring import run_measured

AT_ONCE = 40
SECONDS = 120
MIB = 1024 * 1024
PLAIN = b"<!doctype html><title>Large</title><p>" + b"ink and water, water and ink, " * (15 * MIB // 30)
COMPRESSED = gzip.compress(
    b"<!doctype html><title>Larger</title>"
    + b"".join(b"<p>%d ink and stone\n" % (number * 7919) for number in range(31 * MIB // 28)),
    9,
)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1]
    if path == b"/":
        links = "".join(f'<a href="/{kind}{n}">{n}</a> ' for n in range(AT_ONCE // 2) for kind in "pc")
        body, coding = f"<!doctype html><title>Start</title><p>{links}".encode(), b""
    elif path.startswith((b"/p", b"/c")):
        body, coding = (PLAIN, b"") if path[1:2] == b"p" else (COMPRESSED, b"Content-Encoding: gzip\r\n")
    else:
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.close()
        return
    writer.write(HEAD + coding + b"Content-Length: %d\r\n\r\n" % len(body))
    writer.write(body)
    with suppress(OSError):  # whoever is measured was ended
        await writer.drain()
    writer.close()


def _served() -> int:
    """The port of a server in a thread, which lives as long as this process."""
    ready: list[int] = []
    listens = threading.Event()

    async def serve() -> None:
        server = await asyncio.start_server(_serve, "127.0.0.1", 0)
        ready.append(server.sockets[0].getsockname()[1])
        listens.set()
        await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
    listens.wait()
    return ready[0]


def main() -> None:
    url = f"http://127.0.0.1:{_served()}/"
    words = ["mirror", url, "-q", "--follow-links", "--rate-limit", "0", "--min-free", "0", "--retries", "0"]
    at_once = ["--concurrency", str(AT_ONCE), "--per-host", str(AT_ONCE), "--processes", "2"]
    budget = ["--max-in-flight", sys.argv[1]] if len(sys.argv) > 1 else []
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, "-m", "sumi", *words, *at_once, *budget, "-o", f"{name}/out"]
        cost = run_measured(command, Path(name, "log"), limit_seconds=SECONDS, fine=(0, 1))
        print(Path(name, "log").read_text()[-800:])
    print(
        f"main process {cost.main_mb:.0f} MB, with workers {cost.tree_mb:.0f} MB, {cost.wall_seconds:.0f} s"
    )


if __name__ == "__main__":
    main()
