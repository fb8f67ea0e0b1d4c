"""Sites that are particular about how their URLs are written: with a slash or ``www.``, without, or either.

Each has the same five pages. What they say and how they link to each other is the same; only which spelling
is a page, a redirect or nothing differs from kind to kind.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Final, NamedTuple

from tests.threaded_server import ThreadedServer

NAME: Final = "spelled.invalid"
PAGES: Final = ("", "guide", "guide/install", "guide/usage", "about")
SENTENCES: Final = {page: f"Only the page called {page or 'home'} says this sentence." for page in PAGES}


class Kind(NamedTuple):
    seed: str = "http://{name}/"
    with_slash: str = "page"  # or "missing", or "moved" to the other spelling
    without: str = "page"
    www: str = "unknown"
    bare: str = "page"
    links: str = "{page}/"  # how pages are written in links, from the root of the site


KINDS: Final = {
    "only with a slash": Kind(without="missing"),
    "only without a slash": Kind(with_slash="missing", links="{page}"),
    "both, with links relative to the slash": Kind(links="relative"),
    "linked without the slash that it wants": Kind(without="missing", links="{page}"),
    "linked with the slash that it does not know": Kind(with_slash="missing"),
    "adds the slash": Kind(without="moved", links="{page}"),
    "takes the slash away": Kind(with_slash="moved"),
    "only with www": Kind(seed="http://www.{name}/", www="page", bare="unknown"),
    "adds www": Kind(www="page", bare="moved"),
    "takes www away": Kind(seed="http://www.{name}/", www="moved"),
}
# Only a map takes these for one site.
MAP_KINDS: Final = {
    "named without the www that it wants": Kind(www="page", bare="unknown"),
    "named with the www that it does not have": Kind(seed="http://www.{name}/", www="unknown"),
}


class SpellingSite:
    def __init__(self, kind: Kind, port: int) -> None:
        self.kind = kind
        self.port = port
        self.seed = kind.seed.format(name=f"{NAME}:{port}")
        self.asked: list[str] = []

    @property
    def pins(self) -> list[str]:
        """Names that are known, as ``--resolve`` wants them."""
        known = {f"www.{NAME}": self.kind.www, NAME: self.kind.bare}
        return [f"{host}:{self.port}:127.0.0.1" for host, how in known.items() if how != "unknown"]

    def answer(self, host: str, path: str) -> tuple[int, dict[str, str], str]:
        name = host.partition(":")[0]
        is_www = name.startswith("www.")
        if (self.kind.www if is_www else self.kind.bare) == "moved":
            other = name.removeprefix("www.") if is_www else f"www.{name}"
            return 301, {"Location": f"http://{other}:{self.port}{path}"}, ""
        page = path.strip("/")
        if page not in SENTENCES:
            return 404, {}, "<p>Nothing here"
        slash = path.endswith("/")
        how = "page" if not page else self.kind.with_slash if slash else self.kind.without
        if how == "moved":
            return 301, {"Location": f"/{page}" if slash else f"/{page}/"}, ""
        if how == "missing":
            return 404, {}, "<p>Nothing here"
        return 200, {}, self._html(page)

    def _html(self, page: str) -> str:
        links = "".join(f'<li><a href="{href}">{href}</a>' for href in self._hrefs(page))
        title = page or "home"
        return f"<!doctype html><title>{title}</title><h1>{title}</h1><p>{SENTENCES[page]}<ul>{links}</ul>"

    def _hrefs(self, page: str) -> list[str]:
        """To its children and from the root to what is beside it: every page is found by one way only."""
        own = {"": ["guide", "about"], "guide": ["guide/install", "guide/usage"]}.get(page, [])
        if self.kind.links == "relative":
            return [f"{child.rpartition('/')[2]}/" for child in own]
        return ["/" + self.kind.links.format(page=child) for child in own]


@contextmanager
def spelling_site(kind: Kind) -> Iterator[SpellingSite]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            host = self.headers["Host"]
            site.asked.append(f"{host}{self.path}")
            status, headers, text = site.answer(host, self.path)
            body = text.encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadedServer(("127.0.0.1", 0), Handler)
    site = SpellingSite(kind, server.server_port)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
