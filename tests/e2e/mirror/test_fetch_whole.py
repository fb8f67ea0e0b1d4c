"""The network side of a whole mirror: redirects, cookies, credentials, proxies and forbidden addresses."""

import itertools
import signal
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import trustme

from tests.commands import FinishedSumi, RunSumi, SpawnedSumi, SpawnSumi
from tests.threaded_server import ThreadedServer

UNLIMITED = ("--rate-limit", "0", "--json", "--retries", "1")
# An answer: status, header fields, body.
Answer: TypeAlias = tuple[int, list[tuple[str, str]], str]
Pages: TypeAlias = dict[str, Answer | Callable[[dict[str, str]], Answer]]
NOT_FOUND: Answer = (404, [], "no")


class Site:
    """Pages by path, and the requests for them."""

    def __init__(self, pages: Pages, tls: ssl.SSLContext | None) -> None:
        self.pages = pages
        self.asked: list[tuple[str, dict[str, str]]] = []  # path, headers with names in lower case
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                site.asked.append((self.path, headers))
                found = site.pages.get(self.path, NOT_FOUND)
                status, fields, body = found(headers) if callable(found) else found
                lines = [
                    f"HTTP/1.1 {status} Such",
                    f"Content-Length: {len(body.encode())}",
                    "Content-Type: text/html",
                ]
                lines += [f"{name}: {value}" for name, value in fields]
                self.wfile.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body.encode())

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class calls it so
                pass

        self.server = ThreadedServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.scheme = "http"
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
            self.scheme = "https"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]


@contextmanager
def site(pages: Pages, tls: ssl.SSLContext | None = None) -> Iterator[Site]:
    running = Site(pages, tls)
    thread = threading.Thread(target=running.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield running
    finally:
        running.server.shutdown()
        thread.join()
        running.server.server_close()


NUMBERS = itertools.count(1)


def page(*hrefs: str, head: str = "") -> Answer:
    """Each different, so that none counts as a duplicate."""
    title = f"Page {next(NUMBERS)}"
    links = "".join(f'<a href="{href}">{number}</a> ' for number, href in enumerate(hrefs))
    return (
        200,
        [],
        f"<html><head><title>{title}</title>{head}</head><body><h1>{title}</h1>{links}</body></html>",
    )


def to(location: str, status: int = 302, *fields: tuple[str, str]) -> Answer:
    return status, [("Location", location), *fields], ""


def endings(run: FinishedSumi) -> dict[str, str]:
    return {event["url"]: event["outcome"] for event in run.events if event["event"] == "page"}


LOCATIONS = {
    "/r/plain": (to("/end"), "redirected"),
    "/r/space": (to("/end?a b"), "redirected"),
    "/r/backslash": (to("\\end"), "redirected"),
    "/r/utf8": (to("/end?caf\u00e9".encode().decode("latin-1")), "redirected"),
    "/r/tab": (to("/e\tnd"), "redirected"),
    "/r/split": (to("/end\r\nX-More: 1"), "redirected"),
    "/r/300": (to("/end", 300), "redirected"),
    "/r/301": (to("/end", 301), "redirected"),
    "/r/303": (to("/end", 303), "redirected"),
    "/r/307": (to("/end", 307), "redirected"),
    "/r/308": (to("/end", 308), "redirected"),
    "/r/300-choices": ((300, [], "<p>choose</p>"), "bad_http"),
    "/r/304": (to("/end", 304), "bad_http"),
    "/r/305": (to("http://127.0.0.1:9/proxy", 305), "bad_http"),
    "/r/206": ((206, [("Content-Range", "bytes 0-1/9")], "ab"), "bad_http"),
    "/r/none": ((302, [], ""), "bad_http"),
    "/r/file": (to("file:///etc/passwd"), "bad_http"),
    "/r/javascript": (to("javascript:alert(1)"), "bad_http"),
    "/r/gopher": (to("gopher://127.0.0.1:9/_x"), "bad_http"),
    "/r/nonsense": (to("http://[::"), "bad_http"),
    "/r/self": (to("/r/self"), "redirect_loop"),
    "/r/two": (to("/end", 302, ("Location", "https://elsewhere.example/")), "bad_http"),
    "/r/outside": (to("https://elsewhere.example/"), "redirected"),
}


def test_redirects_of_every_kind(run_sumi: RunSumi) -> None:
    pages: Pages = {path: answer for path, (answer, _) in LOCATIONS.items()}
    with site({"/": page(*LOCATIONS), "/end": page(), **pages}) as running:
        running.pages |= {"/end?a%20b": page(), "/end?caf%C3%A9": page()}
        run = run_sumi("mirror", f"{running.url}/", *UNLIMITED)
    found = endings(run)
    for path, (_, outcome) in LOCATIONS.items():
        assert found[running.url + path] == outcome, path
    assert found[f"{running.url}/end"] == "captured"
    assert found[f"{running.url}/end?a%20b"] == "captured"
    assert found[f"{running.url}/end?caf%C3%A9"] == "captured"
    assert all("x-more" not in headers for _, headers in running.asked)
    assert all("referer" not in headers for _, headers in running.asked)


def test_a_cookie_wall_opens_for_a_client_with_cookies(run_sumi: RunSumi) -> None:
    def wall(headers: dict[str, str]) -> Answer:
        return page() if "pass=1" in headers.get("cookie", "") else to("/wall", 302, ("Set-Cookie", "pass=1"))

    with site({"/": page("/wall"), "/wall": wall}) as running:
        kept = endings(run_sumi("mirror", f"{running.url}/", *UNLIMITED, "--retries", "3"))
        assert kept[f"{running.url}/wall"] == "captured"
        running.asked.clear()
        without = run_sumi(
            "mirror", f"{running.url}/", *UNLIMITED, "--retries", "3", "--no-cookies", "-o", "b"
        )
        assert endings(without)[f"{running.url}/wall"] == "redirect_loop"
        assert running.paths().count("/wall") <= 3
        assert all("cookie" not in headers for _, headers in running.asked)


def tls_by(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


def test_a_redirect_loop_over_two_schemes_ends(run_sumi: RunSumi) -> None:
    authority = trustme.CA()
    with (
        authority.cert_pem.tempfile() as ca_file,
        site({}) as plain,
        site({}, tls_by(authority)) as secure,
    ):
        plain.pages["/"] = page("/flip")
        plain.pages["/flip"] = to(f"{secure.url}/flop")
        secure.pages["/flop"] = to(f"{plain.url}/flip")
        run = run_sumi(
            "mirror",
            f"{plain.url}/",
            *UNLIMITED,
            "--allow-private",
            "--ca-file",
            ca_file,
            "--hosts",
            f"127.0.0.1:{secure.port}",
        )
        assert plain.paths().count("/flip") == 1
        assert secure.paths().count("/flop") == 1
    outcomes = endings(run)
    assert outcomes[f"{plain.url}/flip"] == "redirected"
    assert outcomes[f"{secure.url}/flop"] == "redirect_loop"


def test_a_private_certificate_authority_is_trusted_besides_the_systems(
    run_sumi: RunSumi, tmp_path: Path
) -> None:
    systems, own, nobodys = trustme.CA(), trustme.CA(), trustme.CA()
    systems.cert_pem.write_to_path(str(tmp_path / "system.pem"))
    own.cert_pem.write_to_path(str(tmp_path / "own.pem"))
    with ExitStack() as stack:
        public, internal, forged = (
            stack.enter_context(site({}, tls_by(authority))) for authority in (systems, own, nobodys)
        )
        public.pages["/"] = page(f"{internal.url}/", f"{forged.url}/")
        internal.pages["/"] = page()
        hosts = [word for other in (internal, forged) for word in ("--hosts", f"127.0.0.1:{other.port}")]
        run = run_sumi(
            *("mirror", f"{public.url}/", *UNLIMITED, "--retries", "0", "--allow-private", *hosts),
            *("--ca-file", "own.pem"),
            env={"SSL_CERT_FILE": str(tmp_path / "system.pem"), "TMPDIR": str(tmp_path)},
        )
    outcomes = endings(run)
    assert outcomes[f"{public.url}/"] == outcomes[f"{internal.url}/"] == "captured"
    assert forged.asked == []
    assert list(tmp_path.glob("sumi-ca-*")) == []


def test_a_kill_leaves_no_certificates_behind(spawn_sumi: SpawnSumi, tmp_path: Path) -> None:
    own, temporary, killable = trustme.CA(), tmp_path / "temporary", threading.Event()
    own.cert_pem.write_to_path(str(tmp_path / "own.pem"))
    temporary.mkdir()
    running: list[SpawnedSumi] = []

    def die(_headers: dict[str, str]) -> Answer:
        assert killable.wait(60)
        running[0].process.kill()
        return page()

    with site({"/": die}, tls_by(own)) as internal:
        words = ("mirror", f"{internal.url}/", *UNLIMITED, "--allow-private", "--ca-file", "own.pem")
        environment = {"SSL_CERT_FILE": str(tmp_path / "own.pem"), "TMPDIR": str(temporary)}
        running.append(spawn_sumi(*words, env=environment))
        killable.set()
        assert running[0].process.wait(60) == -signal.SIGKILL
    assert list(temporary.glob("*.pem")) == []


def test_a_file_without_certificates_is_refused_before_any_request(run_sumi: RunSumi, tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("this is no certificate\n")
    run = run_sumi("mirror", "https://127.0.0.1:9/", "--ca-file", "empty.pem")
    assert run.returncode == 2
    assert run.stderr == (
        "sumi: error: empty.pem holds no certificates in PEM form; give another one as the CA file\n"
    )
    assert not (tmp_path / "output").exists()


METADATA = "http://169.254.169.254"


def entry_points(victim: str) -> Pages:
    """A site that tries to lead the crawler to ``victim`` in every way."""
    return {
        "/": page(f"{victim}/link", "/hop/1", "/canonical", "/base", "/refresh", "/control"),
        "/robots.txt": (
            200,
            [],
            f"User-agent: *\nAllow: /\nSitemap: {victim}/robots-sitemap.xml\nSitemap: /map.xml\n",
        ),
        "/map.xml": (
            200,
            [("Content-Type", "application/xml")],
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{victim}/listed</loc></url></urlset>',
        ),
        **{f"/hop/{n}": to(f"/hop/{n + 1}") for n in range(1, 9)},
        "/hop/9": to(f"{victim}/hop"),
        "/canonical": page(head=f'<link rel="canonical" href="{victim}/canonical">'),
        "/base": page("based", head=f'<base href="{victim}/">'),
        "/refresh": page(head=f'<meta http-equiv="refresh" content="0; url={victim}/refreshed">'),
        "/control": page(),
    }


def test_nothing_leads_to_a_forbidden_address(run_sumi: RunSumi) -> None:
    """The other server is up and counts requests: if its address is allowed, there are some."""
    with site({}) as victim, site({}) as attacker:
        for path in ("/link", "/hop", "/canonical", "/based", "/refreshed", "/listed"):
            victim.pages[path] = page()
        attacker.pages |= entry_points(victim.url)
        host = f"127.0.0.1:{victim.port}"
        common = ("mirror", f"{attacker.url}/", *UNLIMITED, "--follow-links", "--hosts", host)
        refused = run_sumi(*common)
        assert victim.asked == []
        outcomes = endings(refused)
        assert outcomes[f"{attacker.url}/control"] == "captured"
        led_astray = {url: ending for url, ending in outcomes.items() if url.startswith(victim.url)}
        assert len(led_astray) >= 6
        assert set(led_astray.values()) == {"address_refused"}
        run_sumi(*common, "--allow-private", "-o", "opened")
        assert {"/link", "/hop", "/canonical", "/based", "/refreshed", "/listed"} <= set(victim.paths())


def test_cloud_metadata_is_unreachable_whatever_is_allowed(run_sumi: RunSumi) -> None:
    with site(entry_points(METADATA)) as attacker:
        run = run_sumi(
            "mirror",
            f"{attacker.url}/",
            *UNLIMITED,
            "--follow-links",
            "--allow-private",
            "--hosts",
            "169.254.169.254",
        )
    outcomes = endings(run)
    led_astray = {ending for url, ending in outcomes.items() if url.startswith(METADATA)}
    assert led_astray
    assert led_astray == {"address_refused"}
    assert outcomes[f"{attacker.url}/control"] == "captured"


USER, PASSWORD, TOKEN, PROXY_PASSWORD = "hunter1", "hunter2-auth", "hunter2-token", "hunter2-proxy"


def everything_below(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        yield str(path), b""
        if path.is_file():
            yield str(path), path.read_bytes()


def test_credentials_reach_their_origin_and_nothing_else(run_sumi: RunSumi, tmp_path: Path) -> None:
    with site({}) as other, site({}) as home:
        other.pages["/there"] = page(f"{home.url}/back")
        home.pages |= {
            "/": page("/away", "/login"),
            "/away": to(f"{other.url}/there"),
            "/login": (401, [], "no"),
        }
        home.pages["/back"] = page()
        host = f"127.0.0.1:{home.port}"
        run = run_sumi(
            "mirror",
            f"http://{USER}:{PASSWORD}@{host}/",
            *UNLIMITED,
            "-vv",
            "--allow-private",
            "--hosts",
            f"127.0.0.1:{other.port}",
            "--header",
            f"X-Token: {TOKEN}",
        )
        assert endings(run)[f"{other.url}/there"] == "captured"
        assert endings(run)[f"{home.url}/back"] == "captured"
        assert home.asked
        assert all(headers["x-token"] == TOKEN for _, headers in home.asked)
        assert all(headers["authorization"].startswith("Basic ") for _, headers in home.asked)
        assert other.asked
        assert all("x-token" not in headers and "authorization" not in headers for _, headers in other.asked)
        basic = home.asked[0][1]["authorization"].removeprefix("Basic ")
    shown = [("stdout", run.stdout.encode()), ("stderr", run.stderr.encode()), *everything_below(tmp_path)]
    for secret in (USER, PASSWORD, TOKEN, basic):
        assert [name for name, data in shown if secret.encode() in data or secret in name] == []


def test_a_proxys_password_is_shown_nowhere_even_when_the_proxy_is_dead(
    run_sumi: RunSumi, tmp_path: Path
) -> None:
    with site({"/": page()}) as home:
        pass
    run = run_sumi("mirror", f"{home.url}/", "--proxy", f"http://me:{PROXY_PASSWORD}@{home.url[7:]}", "-vv")
    assert run.returncode == 5
    assert "the proxy cannot be reached" in run.stderr
    assert PROXY_PASSWORD not in run.stderr + run.stdout
    assert all(PROXY_PASSWORD.encode() not in data for _, data in everything_below(tmp_path))


@pytest.mark.parametrize(
    ("flags", "path", "default", "changed"),
    [
        (("--max-body", "1KiB"), "/large", "captured", "too_large"),
        (("--max-redirects", "1"), "/hop/7", "redirected", "redirected"),
        (("--max-url-length", "64"), "/" + "long" * 20, "captured", None),
        (("--max-links", "2"), "/small", "captured", None),
    ],
)
def test_changed_limits_take_effect(
    run_sumi: RunSumi, flags: tuple[str, str], path: str, default: str, changed: str | None
) -> None:
    pages: Pages = {
        "/large": (200, [], "<p>text</p>" * 500),
        "/" + "long" * 20: page(),
        "/small": page(),
        "/end": page(),
    }
    pages |= {"/hop/7": to("/hop/8"), "/hop/8": to("/end")}
    with site({"/": page("/1", "/hop/7", "/large", "/" + "long" * 20, "/small"), **pages}) as running:
        before = run_sumi("mirror", f"{running.url}/", *UNLIMITED)
        after = run_sumi("mirror", f"{running.url}/", *UNLIMITED, *flags, "-o", "changed")
    assert endings(before)[running.url + path] == default
    assert endings(after).get(running.url + path) == changed
    if "--max-redirects" in flags:
        assert endings(before)[f"{running.url}/end"] == "captured"
        assert endings(after)[f"{running.url}/hop/8"] == "too_many_redirects"
