"""A browser's cookie file: each cookie goes where it belongs, and its value nowhere else."""

import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.errors import UsageError
from sumi.fetch.cookie_file import cookie_header, read_cookie_file
from sumi.fetch.target import Target, parse_target
from tests.commands import RunSumi
from tests.threaded_server import ThreadedServer

NOW = 1_800_000_000.0


def site(url: str) -> Target:
    target = parse_target(url)
    assert target is not None
    return target


@pytest.mark.parametrize(
    ("columns", "url", "is_sent"),
    [
        (("a.test", "FALSE", "/", "FALSE", "0", "s"), "http://a.test/", True),
        (("a.test", "FALSE", "/", "TRUE", "0", "s"), "http://a.test/", False),
        (("a.test", "FALSE", "/", "TRUE", "0", "s"), "https://a.test:8443/x", True),
        (("a.test", "FALSE", "/", "FALSE", "0", "s"), "https://b.a.test/", False),
        ((".a.test", "TRUE", "/", "FALSE", "0", "s"), "https://b.a.test/", True),
        ((".a.test", "TRUE", "/", "FALSE", "0", "s"), "https://ba.test/", False),
        ((".test", "TRUE", "/", "FALSE", "0", "s"), "https://a.test/", False),
        (("#HttpOnly_a.test", "FALSE", "/", "FALSE", "0", "s"), "http://a.test/", True),
        (("a.test", "FALSE", "/docs", "FALSE", "0", "s"), "http://a.test/docs/x", True),
        (("a.test", "FALSE", "/docs", "FALSE", "0", "s"), "http://a.test/docs-old", False),
        (("a.test", "FALSE", "/", "TRUE", "0", "__Host-s"), "https://a.test/", True),
        ((".a.test", "TRUE", "/", "TRUE", "0", "__Host-s"), "https://a.test/", False),
        (("a.test", "FALSE", "/", "FALSE", "0", "__Secure-s"), "https://a.test/", False),
        (("a.test", "FALSE", "/", "FALSE", "1700000000", "s"), "http://a.test/", False),
        (("a.test", "FALSE", "/", "FALSE", "1900000000", "s"), "http://a.test/", True),
    ],
)
def test_where_a_cookie_belongs(columns: tuple[str, ...], url: str, is_sent: bool, tmp_path: Path) -> None:
    file = tmp_path / "cookies.txt"
    file.write_text("# Netscape HTTP Cookie File\n\n" + "\t".join((*columns, "hidden=value")) + "\n")

    def header() -> str:
        return cookie_header(read_cookie_file(file), site(url), NOW, "it")

    if is_sent:
        assert header() == f"{columns[-1]}=hidden=value"
    else:
        with pytest.raises(UsageError) as caught:
            header()
        assert "hidden" not in str(caught.value)


@given(st.binary(max_size=300) | st.text("a.test\tTRUE/0=;\r\n \x00", max_size=300).map(str.encode))
def test_no_file_makes_a_header_that_splits(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.mktemp("c") / "cookies.txt"
    file.write_bytes(b"a.test\tFALSE\t/\tFALSE\t0\tok\tok\n" + data)
    for cookie in read_cookie_file(file):
        assert re.fullmatch(r"[\x20-\x7e]*", cookie.value + cookie.name)
        assert ";" not in cookie.value + cookie.name


class _Members(BaseHTTPRequestHandler):
    """Pages for members; signing out ends the session for good."""

    asked: list[tuple[str, str]]
    over = False
    pages = 0  # how many more there are
    how = "refused"
    lasts = 5  # pages

    def do_GET(self) -> None:
        cookie = self.headers.get("Cookie", "")
        type(self).asked.append((self.path, cookie))
        if self.path.startswith("/logout"):
            type(self).over = True
        may = "session=open-sesame" in cookie and not self.over
        body = "<p>Welcome back. <a href='/more'>more</a> <a href='/logout'>Sign out</a> and other words.</p>"
        if self.path != "/robots.txt" and sum("/p" in path for path, _ in self.asked) > self.lasts:
            type(self).over = True
        if self.path.startswith("/login"):
            self._page("<p>Please sign in to go on reading what members may read.</p>")
            return
        if not may and self.how == "redirected" and self.path != "/robots.txt":
            self.send_response(302)
            self.send_header("Location", f"/login?next={self.path}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path == "/robots.txt" or not may:
            self.send_response(404 if self.path == "/robots.txt" else 403)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self._page(body + "".join(f"<a href='/p{number}'>{number}</a> " for number in range(self.pages)))

    def _page(self, body: str) -> None:
        body += f"<p>This is {self.path} of it.</p>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def members() -> Iterator[tuple[str, type[_Members]]]:
    handler = type("Members", (_Members,), {"asked": [], "over": False})
    with ThreadedServer(("127.0.0.1", 0), handler) as server:
        import threading

        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/", handler
        server.shutdown()


def test_a_session_of_a_browser_opens_a_site_and_is_not_ended(
    members: tuple[str, type[_Members]], run_sumi: RunSumi, tmp_path: Path
) -> None:
    url, handler = members
    (tmp_path / "cookies.txt").write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\topen-sesame\n")
    (tmp_path / "cookies.txt").chmod(0o600)
    words = ("mirror", url, "--rate-limit", "0", "--json", "--warc", "x.warc.gz", "--retries", "0")
    done = run_sumi(*words, "--cookie-file", "cookies.txt")
    assert done.returncode == 0, done.stderr
    assert done.events[-1]["outcomes"]["captured"] == 2
    assert not [path for path, _ in handler.asked if "logout" in path]
    import gzip

    for path in (path for path in tmp_path.rglob("*") if path.is_file() and path.name != "cookies.txt"):
        data = path.read_bytes()
        assert b"sesame" not in (gzip.decompress(data) if path.suffix == ".gz" else data), path
    assert "sesame" not in done.stdout + done.stderr


def test_a_file_without_cookies_for_the_site_is_refused(run_sumi: RunSumi, tmp_path: Path) -> None:
    (tmp_path / "cookies.txt").write_text("b.test\tFALSE\t/\tFALSE\t0\tsession\topen-sesame\n")
    done = run_sumi("mirror", "https://a.test/", "--cookie-file", "cookies.txt")
    assert done.returncode == 2
    assert "no cookie for a.test" in done.stderr


@pytest.mark.parametrize("how", ["refused", "redirected"])
def test_a_session_that_ends_is_noticed_and_no_sign_in_page_captured(
    how: str, members: tuple[str, type[_Members]], run_sumi: RunSumi, tmp_path: Path
) -> None:
    url, handler = members
    handler.pages, handler.how = 40, how
    (tmp_path / "cookies.txt").write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\topen-sesame\n")
    words = ("mirror", url, "--rate-limit", "0", "--concurrency", "1", "--json", "--retries", "0")
    done = run_sumi(*words, "--cookie-file", "cookies.txt")
    assert done.returncode == 3
    reasons = [event.get("why", "") for event in done.events if event["event"] == "state"]
    assert any("session seems to have ended" in why for why in reasons), done.stdout
    assert len(handler.asked) < 25
    kept = [path.read_text() for path in tmp_path.rglob("*.md") if not path.name.startswith("_")]
    assert kept
    assert not any("Please sign in" in text for text in kept)
    handler.over, handler.lasts = False, 1000  # logged in again
    assert run_sumi(*words, "--cookie-file", "cookies.txt", "--update").returncode == 0
    assert len(list(tmp_path.rglob("index.md"))) == 42
