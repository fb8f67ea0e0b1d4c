"""``python -m benchmarks.memory``: the crawler's memory over 20,000 pages in every kind of state, drawn.

A site of small pages that its sitemap lists whole, so that all URLs are known from the start: what grows then
grows with the pages that are done. Only the crawler's own process is measured, and of that what is its alone:
no files that it maps, which the system may take back. Workers live and die by pages of their own.
"""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

STATES = ("files", "sqlite", "lmdb")
LOOKS = 20  # per run
LOOK_SECONDS = 0.1
AT_END = 0  # instead of a number of pages: while the results and the search index are written
HEIGHT, WIDTH = 260, 640
COLOURS = {"files": "#1f77b4", "sqlite": "#d62728", "lmdb": "#2ca02c"}
HEAD = "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\n\r\n"
WORDS = ["ink", "stone", "brush", "paper", "water", "press", "hang", "dry", "fold", "bind"]


class Look(NamedTuple):
    pages: int
    mb: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--state", action="append", choices=STATES)
    parser.add_argument("--svg", type=Path, help="draw the curves into this file")
    options = parser.parse_args()
    url = _served(options.pages)
    curves: dict[str, list[Look]] = {}
    for state in options.state or STATES:
        *curves[state], end = measured(url, options.pages, state)
        print(drawn(state, curves[state]), flush=True)
        print(
            f"at the end, while results and the search index are written, {end.mb:.1f} MB at most", flush=True
        )
    if options.svg:
        options.svg.write_text(svg(curves))


def measured(url: str, pages: int, state: str) -> Iterator[Look]:
    with tempfile.TemporaryDirectory() as folder:
        words = ["mirror", url, "--json", "--rate-limit", "0", "--concurrency", "8", "--per-host", "8"]
        further = ["--max-pages", "0", "--min-free", "0", "--state", state, "-o", f"{folder}/out"]
        run = subprocess.Popen(
            [sys.executable, "-m", "sumi", *words, *further], stdout=subprocess.PIPE, start_new_session=True
        )
        assert run.stdout is not None
        done, every, most = 0, max(1, pages // LOOKS), 0.0
        try:
            for line in run.stdout:
                done += b'"outcome":"captured"' in line
                if b'"outcome":"captured"' in line and done % every == 0:
                    yield Look(done, _own_mb(run.pid))
                if done >= pages:
                    break
            while run.poll() is None:
                with suppress(OSError, StopIteration):  # it may just have ended
                    most = max(most, _own_mb(run.pid))
                time.sleep(LOOK_SECONDS)
            yield Look(AT_END, most)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
            run.wait()


def drawn(state: str, looks: list[Look]) -> str:
    most = max(look.mb for look in looks)
    lines = [f"{state}: memory of the crawler after so many pages"]
    lines += [f"{look.pages:>9,} {'█' * round(50 * look.mb / most):<50} {look.mb:5.1f} MB" for look in looks]
    second = [look for look in looks if look.pages >= looks[-1].pages / 2]
    growth = (second[-1].mb - second[0].mb) * 1e6 / max(1, second[-1].pages - second[0].pages)
    return "\n".join([*lines, f"in the second half {growth:,.0f} bytes a page"])


def svg(curves: dict[str, list[Look]]) -> str:
    most = max(look.mb for looks in curves.values() for look in looks) * 1.1
    last = max(looks[-1].pages for looks in curves.values())
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">'
    ]
    parts.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>')
    for mb in range(0, int(most) + 1, 20):
        y = _y(mb, most)
        parts.append(f'<path d="M50 {y:.0f}H{WIDTH - 90}" stroke="#ddd"/>')
        parts.append(f'<text x="44" y="{y + 4:.0f}" font-size="11" text-anchor="end">{mb} MB</text>')
    for state, looks in curves.items():
        points = " ".join(f"{50 + (WIDTH - 140) * n / last:.0f},{_y(mb, most):.0f}" for n, mb in looks)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[state]}" stroke-width="2"/>')
        label = f'x="{WIDTH - 84}" y="{_y(looks[-1].mb, most) + 4:.0f}" fill="{COLOURS[state]}"'
        parts.append(f'<text {label} font-size="12">{state}</text>')
    parts.append(
        f'<text x="{WIDTH - 90}" y="{HEIGHT - 6}" font-size="11" text-anchor="end">{last:,} pages</text>'
    )
    return "\n".join([*parts, "</svg>\n"])


def _y(mb: float, most: float) -> float:
    return HEIGHT - 25 - (HEIGHT - 40) * mb / most


def _own_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) / 1000


def _served(pages: int) -> str:
    """A server in a thread, which lives as long as this process."""
    ports: list[int] = []
    listens = threading.Event()
    urls: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                path = head.split(b" ")[1].decode()
                kind, body = "text/html", _page(path, pages)
                if path == "/sitemap.xml":
                    kind, body = "application/xml", "".join(urls)
                elif path == "/robots.txt":
                    kind, body = "text/plain", f"Sitemap: http://127.0.0.1:{ports[0]}/sitemap.xml\n"
                data = body.encode()
                writer.write(HEAD.format(kind=kind, size=len(data)).encode() + data)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
        urls.append('<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">')
        urls.extend(f"<url><loc>http://127.0.0.1:{ports[0]}{_path(n)}</loc></url>" for n in range(pages))
        urls.append("</urlset>")
        listens.set()
        await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
    listens.wait()
    return f"http://127.0.0.1:{ports[0]}/"


def _path(number: int) -> str:
    return f"/part-{number // 100}/page-{number}/"


def _page(path: str, pages: int) -> str:
    number = int(path.rstrip("/").rpartition("-")[2] or 0) if "page-" in path else 0
    links = "".join(f'<a href="{_path((number + n) % pages)}">{n}</a> ' for n in range(1, 6))
    text = " ".join(f"{WORDS[(number * n) % 10]}{number * n % 997}" for n in range(1, 120))
    start = f"<!doctype html><title>Page {number}</title><main><h1>{number}</h1>"
    return f"{start}<p>{text}</p>{links}</main>"


if __name__ == "__main__":
    main()
