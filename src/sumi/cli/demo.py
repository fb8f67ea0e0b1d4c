"""``sumi demo``: serves a small site on this machine and mirrors it. Needs no network."""

import mimetypes
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple, TypeAlias
from urllib.parse import urlsplit

from sumi.console.narration import Verbosity
from sumi.console.parser import SentenceParser
from sumi.console.reporters import choose_reporter
from sumi.console.summary import count_of, exit_code
from sumi.console.terminal import Sink, printable
from sumi.errors import COMPLETE, WITH_FAILURES, UsageError
from sumi.events import Summary
from sumi.jobs.mirror.command import run_reported
from sumi.jobs.mirror.settings import MirrorSettings
from sumi.outcomes import Ending, Outcome

_MARKER = ".sumi-demo"  # also the lock of a running demo
_SHOWN_LINES = 16
_EXAMPLES = """\
examples:
  sumi demo                   needs no network; leaves its result in ./demo-output
  sumi demo --keep-serving    and look at the site itself in a browser
"""


def build_parser() -> SentenceParser:
    parser = SentenceParser(
        prog="sumi demo",
        usage="sumi demo [options]",
        description="Serves a small site on this machine, mirrors it, and shows the result.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        default="demo-output",
        help="Output folder; replaces an earlier demo there. Default: demo-output.",
    )
    parser.add_argument(
        "--keep-serving", action="store_true", help="Keep serving the site afterwards, until Ctrl-C."
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    options = build_parser().parse_all(arguments)
    folder = Path(options.output)
    with _prepared(folder):
        return _demonstrate(folder, keep_serving=options.keep_serving)


def _demonstrate(folder: Path, *, keep_serving: bool) -> int:
    out, err = Sink(sys.stdout), Sink(sys.stderr)
    with serving() as origin:
        settings = MirrorSettings(url=f"{origin}/", output=str(folder), rate_limit=0, min_free=0)
        reporter = choose_reporter(Verbosity.NORMAL, out, err, os.environ, as_json=False)
        summary = run_reported(settings, reporter)
        _show(folder, out)
        if keep_serving:
            err.line(f"\nserving {origin}/ until Ctrl-C")
            with suppress(KeyboardInterrupt):
                threading.Event().wait()
    return _exit_code(summary)


def _exit_code(summary: Summary) -> int:
    """The demo site has a dead link on purpose; finding it is a success."""
    dead_links = summary.outcomes.get(Outcome.NOT_FOUND.value, 0)
    code = exit_code(summary)
    return COMPLETE if code == WITH_FAILURES and count_of(summary, Ending.FAILED) == dead_links else code


@contextmanager
def _prepared(folder: Path) -> Iterator[None]:
    """Removes an earlier demo, whose pages came from another port, and never anything else."""
    try:
        if folder.is_symlink() or (folder.exists() and not _is_replaceable(folder)):
            raise UsageError(
                f"{str(folder)!r} is not the output of a demo; choose another folder with --output"
            )
    except OSError as error:
        raise UsageError(f"{str(folder)!r} cannot be used: {error.strerror}") from None
    from sumi.state.lock import Claim, remove_all_but

    with Claim(folder, "sumi demo", name=_MARKER) as claim:
        remove_all_but([claim.lock.path], folder)
        yield


def _is_replaceable(folder: Path) -> bool:
    return folder.is_dir() and ((folder / _MARKER).is_file() or not any(folder.iterdir()))


def _show(folder: Path, out: Sink) -> None:
    out.line("\n".join(["", *tree_lines(folder)]))
    pages = markdown_files(folder)
    if not pages:
        return
    longest = max(pages, key=lambda page: (folder / page).stat().st_size)
    lines = (folder / longest).read_text().splitlines()
    shown = [f"    {printable(line)}" for line in lines[:_SHOWN_LINES]]
    out.line("\n".join(["", f"{printable(str(folder / longest))} begins:", "", *shown]))


# ── the result, drawn as a tree ─────────────────────────────────────────────────────────────────────────────

Branches: TypeAlias = dict[str, "Branches"]  # a page is a branch without branches


def markdown_files(folder: Path) -> list[Path]:
    """Pages only: what starts with an underscore describes the mirror."""
    found = (path.relative_to(folder) for path in folder.rglob("*.md") if path.is_file())
    return sorted(path for path in found if not any(part.startswith("_") for part in path.parts))


def tree_lines(folder: Path) -> list[str]:
    """Every folder with the number of pages below it; a folder with just one page is one line."""
    root: Branches = {}
    pages = markdown_files(folder)
    for path in pages:
        branches = root
        for part in path.parts:
            branches = branches.setdefault(part, {})
    return [f"{printable(folder.name)} ({_pages(len(pages))})", *_draw(root, "")]


def _draw(branches: Branches, indent: str) -> list[str]:
    lines: list[str] = []
    last = next(reversed(branches), None)
    for name, below in branches.items():
        label, inner = _collapse(name, below)
        note = f" ({_pages(_leaves(inner))})" if inner else ""
        lines.append(f"{indent}{'└── ' if name == last else '├── '}{printable(label)}{note}")
        lines += _draw(inner, indent + ("    " if name == last else "│   "))
    return lines


def _collapse(name: str, below: Branches) -> tuple[str, Branches]:
    while len(below) == 1:
        child, below = next(iter(below.items()))
        name = f"{name}/{child}"
    return name, below


def _leaves(branches: Branches) -> int:
    return sum(_leaves(below) for below in branches.values()) if branches else 1


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"


_TEMPLATES = {
    "/robots.txt",
    "/sitemap.xml",
}  # these name the site's own address, known only once it is served


class Site(NamedTuple):
    bodies: dict[str, bytes]  # by path
    redirects: dict[str, str]


def load_site(folder: Traversable, origin: str) -> Site:
    bodies: dict[str, bytes] = {}
    redirects: dict[str, str] = {}
    for path, file in _walk(folder, "/"):
        body = file.read_bytes()
        if path == "/_redirects":
            redirects = _parse_redirects(body.decode())
            continue
        if path in _TEMPLATES:
            body = body.replace(b"{origin}", origin.encode())
        bodies[path] = body
        if path.endswith("/index.html"):
            bodies[path.removesuffix("index.html")] = body
    return Site(bodies, redirects)


class _Server(ThreadingHTTPServer):
    # A mirror opens more connections at once than the five that may wait by default; a refused one would be
    # retried only after a second.
    request_queue_size = 128


@contextmanager
def serving(folder: Traversable | None = None) -> Iterator[str]:
    """Serve the packaged site on a free loopback port while the block runs; yields its origin."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        origin = f"http://127.0.0.1:{server.server_port}"
        site = load_site(folder if folder is not None else files("sumi.demo_site"), origin)
        server.RequestHandlerClass = type("SiteHandler", (_Handler,), {"site": site})
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield origin
        finally:
            server.shutdown()
            thread.join()


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.name.startswith("__"):
            continue
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry


def _parse_redirects(text: str) -> dict[str, str]:
    rows = (line.split() for line in text.splitlines())
    return {row[0]: row[1] for row in rows if len(row) >= 2 and not row[0].startswith("#")}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    site: Site = Site({}, {})

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        target = self.site.redirects.get(path)
        if target is None and f"{path}/" in self.site.bodies:
            target = f"{path}/"
        if target is not None:
            self._answer(HTTPStatus.MOVED_PERMANENTLY, b"", {"Location": target})
        elif path in self.site.bodies:
            self._answer(HTTPStatus.OK, self.site.bodies[path], {"Content-Type": _content_type(path)})
        else:
            self._answer(HTTPStatus.NOT_FOUND, b"<h1>Not found</h1>", {"Content-Type": "text/html"})

    def do_HEAD(self) -> None:
        self.do_GET()

    def _answer(self, status: HTTPStatus, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """The crawl reports for itself."""


def _content_type(path: str) -> str:
    name = "index.html" if path.endswith("/") else path
    guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
    is_text = guessed.startswith("text/") or guessed.endswith("xml")
    return f"{guessed}; charset=utf-8" if is_text else guessed
