"""Nobody but the person who started a window can ask it anything: tried over a bare socket."""

import asyncio
import json
import socket
from collections.abc import Awaitable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import apsw
import msgspec
import pytest
from starlette.types import Message, Receive, Scope, Send

from sumi.catalogue.find import Job, JobKind
from sumi.policy import Retune
from sumi.serve import control
from sumi.serve.guard import MOST_OPEN, Access, Guard
from sumi.serve.page_view import MOST_BYTES, shown_text
from sumi.serve.views import QueryTooLong, interrupted_after
from tests.commands import RunSumi, SpawnSumi
from tests.serve.conftest import Library
from tests.serve.windows import OpenWindow, opened

# Written out, so that a looser one does not pass for it.
PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
EVERY_KIND = ["/", "/api/jobs", "/static/app.js", "/raw/rendered", "/mcp", "/feed/all.atom", "/nowhere"]


@pytest.mark.parametrize("target", EVERY_KIND)
@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}", ""]
)
def test_another_name_is_refused_before_anything_else(window: OpenWindow, target: str, host: str) -> None:
    """A site that points its own name at this machine: it may even have the key and the cookie."""
    headers = {"Host": host.format(port=window.port), "Cookie": window.cookie()}
    assert window.ask(f"{target}?token={window.token}", headers=headers).status == 421


def test_its_own_names_are_answered(window: OpenWindow) -> None:
    for name in ("127.0.0.1", "localhost", "LocalHost", "[::1]"):
        headers = {"Host": f"{name}:{window.port}", "Cookie": window.cookie()}
        assert window.ask("/api/session", headers=headers).status == 200


@pytest.mark.parametrize("target", EVERY_KIND)
def test_nothing_is_answered_without_the_key(window: OpenWindow, target: str) -> None:
    for cookie in (
        "",
        f"sumi_{window.port}=",
        f"sumi_{window.port}={'0' * 64}",
        f"sumi_{window.port}={window.token}",
    ):
        answer = window.ask(target, headers={"Cookie": cookie})
        assert answer.status == 401
        assert b"library" not in answer.body


def test_the_key_is_traded_for_a_cookie_and_leaves_the_address(window: OpenWindow) -> None:
    answer = window.ask(f"/?token={window.token}")
    assert answer.status == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/", f"sumi_{window.port}="))
    assert window.token not in answer.headers["set-cookie"]
    assert window.ask("/?token=wrong").status == 401


def test_the_key_is_never_logged(window: OpenWindow) -> None:
    window.ask(f"/?token={window.token}")
    window.ask(f"/nowhere?token={window.token}", headers={"Cookie": window.cookie()})
    said = window.process.stderr.read_text() + window.process.stdout.read_text()
    assert said.count(window.token) == 1  # in the address at the start


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Origin", ""),
        ("Content-Type", "text/plain"),
        ("X-Sumi-CSRF", ""),
        ("X-Sumi-CSRF", "0" * 64),
        ("Cookie", ""),
    ],
)
def test_a_change_must_come_from_its_own_page(window: OpenWindow, header: str, value: str) -> None:
    job = window.jobs()[0]["id"]
    answer = window.post(f"/api/jobs/{job}/pause", **{header: value})
    assert answer.status in (401, 403, 415)
    assert window.get(f"/api/jobs/{job}").json["state"] != "paused"


def test_an_agent_of_another_site_is_refused_even_with_the_key(window: OpenWindow) -> None:
    given = {"Authorization": f"Bearer {window.token}", "Content-Type": "application/json"}
    for origin in ("https://evil.example", "null", f"http://127.0.0.1:{window.port + 1}"):
        assert window.ask("/mcp", "POST", given | {"Origin": origin}, b"{}").status == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(window: OpenWindow, method: str) -> None:
    assert window.ask("/api/jobs", method, {"Cookie": window.cookie()}).status == 405


def test_every_answer_has_the_protecting_headers(window: OpenWindow) -> None:
    for target in ("/", "/api/jobs", "/static/app.js", "/nowhere"):
        for answer in (window.get(target), window.ask(target), window.ask(target, headers={"Host": "evil"})):
            assert answer.headers["content-security-policy"] == PAGE
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert answer.headers["cross-origin-opener-policy"] == "same-origin"
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"
            assert not any(name.startswith("access-control") for name in answer.headers)


def test_captured_pages_have_no_rights_even_when_opened_by_themselves(
    window: OpenWindow, library: Library
) -> None:
    job = window.jobs()[0]["id"]
    url = f"{library.site.url}hostile.html".replace(":", "%3A").replace("/", "%2F")
    for form in ("rendered", "original"):
        answer = window.get(f"/raw/{form}?job={job}&url={url}")
        assert answer.status == 200
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:")
        lower = answer.body.lower()
        assert b"<meta http-equiv" not in lower
        assert b"<link" not in lower
        assert b"<base" not in lower


@pytest.mark.parametrize("job", ["..%2f..", "%2fetc", "../../etc/passwd", "0" * 12, "'", "%00"])
def test_paths_never_come_from_a_request(window: OpenWindow, job: str) -> None:
    assert window.get(f"/api/jobs/{job}").status in (404, 405)
    assert window.get(f"/raw/original?job={job}&url=file:///etc/passwd").status == 404
    assert window.get(f"/static/..%2f{job}").status == 404


def test_large_requests_are_refused(window: OpenWindow) -> None:
    assert window.ask("/api/jobs", "POST", {"Content-Length": "65537"}).status == 413
    assert window.ask("/api/jobs", "POST", {"Content-Length": "-1"}).status in (400, 413)


def test_it_is_bound_to_this_machine_only(window: OpenWindow) -> None:
    """Every other address of this machine refuses the connection."""
    own = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in {*own, "127.0.0.2"} - {"127.0.0.1"}:
        with pytest.raises(OSError):
            socket.create_connection((str(address), window.port), timeout=5)


def test_read_only_windows_change_nothing(spawn_sumi: SpawnSumi, library: Library, tmp_path: Path) -> None:
    window = opened(
        spawn_sumi, str(library.folder), "--read-only", env={"XDG_CACHE_HOME": str(tmp_path / "cache")}
    )
    assert window.get("/api/session").json["read_only"]
    job = window.jobs()[0]["id"]
    before = sorted(library.folder.rglob("*"))
    steps = ("pause", "resume", "stop", "cancel", "retune", "continue", "update", "exports")
    for target in ("/api/jobs", "/api/plan", "/api/command", *(f"/api/jobs/{job}/{step}" for step in steps)):
        assert window.post(target, {"url": library.site.url}).status == 403, target
    assert sorted(library.folder.rglob("*")) == before


def _times(folder: Path) -> dict[Path, int]:
    """All but what SQLite shares between those who read."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith("-shm"))
    return {path: path.stat().st_mtime_ns for path in files}


def test_looking_changes_nothing(window: OpenWindow, library: Library) -> None:
    """A job that does not run is not written to by GET, whatever is asked."""
    job, url = window.jobs()[0]["id"], quote(library.site.url, safe="")
    before = _times(library.folder)
    looks = [
        "",
        "/overview",
        "/activity",
        "/hosts",
        "/failures",
        "/pages",
        "/tree",
        "/log",
        "/exports",
        "/again",
    ]
    for target in [f"/api/jobs/{job}{look}" for look in looks] + [
        f"/api/page?job={job}&url={url}",
        "/api/changes",
    ]:
        assert window.get(target).status == 200, target
    for action in ("pause", "stop", "update", "retune"):
        assert window.get(f"/api/jobs/{job}/{action}").status in (404, 405)
    after = _times(library.folder)
    assert after == before


def test_a_body_without_a_length_is_cut_off(window: OpenWindow) -> None:
    """Chunk by chunk it would go on for ever."""
    secret = window.get("/api/session").json["csrf"]
    chunk = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
    headers = {
        "Cookie": window.cookie(),
        "Origin": window.url,
        "Content-Type": "application/json",
        "X-Sumi-CSRF": secret,
        "Transfer-Encoding": "chunked",
    }
    assert window.ask("/api/command", "POST", headers, chunk * 5 + b"0\r\n\r\n").status == 413


def test_only_so_many_pages_follow_and_only_so_many_requests_are_open(window: OpenWindow) -> None:
    cookie = window.cookie()
    request = f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{window.port}\r\nCookie: {cookie}\r\n\r\n"
    followers = []
    try:
        for _ in range(16):
            followers.append(socket.create_connection(("127.0.0.1", window.port), timeout=30))
            followers[-1].sendall(request.encode())
            assert followers[-1].recv(64).startswith(b"HTTP/1.1 200")
        assert window.get("/api/events").status == 503
        assert window.get("/api/session").status == 200
    finally:
        for follower in followers:
            follower.close()


def test_a_flood_of_requests_is_refused() -> None:
    """The 201st that is open at once, told by the guard itself: a browser never opens so many."""

    async def flood() -> list[int]:
        release = asyncio.Event()
        statuses: list[int] = []

        async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
            await release.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})

        access = Access("t" * 32, 80)
        guard = Guard(app, access)
        cookie = f"{access.cookie_name}={access.derived('cookie')}".encode()

        async def receive() -> Message:
            return {"type": "http.request", "body": b""}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        def ask() -> Awaitable[None]:
            headers = [(b"host", b"localhost"), (b"cookie", cookie)]
            scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": headers}
            return guard(scope, receive, send)

        open_ones = [asyncio.ensure_future(ask()) for _ in range(MOST_OPEN)]
        await asyncio.sleep(0)
        await ask()
        release.set()
        await asyncio.gather(*open_ones)
        await ask()
        return statuses

    statuses = asyncio.run(flood())
    assert statuses == [503] + [200] * (MOST_OPEN + 1)


def test_a_question_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "view.sqlite"
    with closing(apsw.Connection(str(path))) as db:
        db.execute("CREATE TABLE one(x)")
    for_ever = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    with closing(apsw.Connection(str(path))) as db, pytest.raises(QueryTooLong), interrupted_after(db, 0.05):
        db.execute(for_ever).fetchall()


def test_at_most_eight_megabytes_of_a_page_are_shown() -> None:
    large = ("ä" * 5_000_000).encode()
    text = shown_text(large)
    assert text.cut
    assert len(text.text.encode("utf-8", "ignore")) <= MOST_BYTES + 3
    assert not shown_text(b"small").cut


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--listen", "0.0.0.0"], "needs --token-file"),
        (["--listen", "example", "--token-file", "good"], "must be an IP address"),
        (["--token-file", "open"], "can be read by others"),
        (["--token-file", "short"], "must hold 32 to"),
        (["--token-file", "nowhere"], "cannot be read"),
        (["--port", "70000"], "must be from 0 to 65535"),
        (["missing-folder"], "does not exist"),
    ],
)
def test_a_window_that_would_be_unsafe_does_not_open(
    run_sumi: RunSumi, tmp_path: Path, words: list[str], sentence: str
) -> None:
    for name, text, mode in (("good", "a" * 40, 0o600), ("open", "a" * 40, 0o644), ("short", "abc", 0o600)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(mode)
    done = run_sumi("serve", *words)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_limits_add_up_until_a_run_takes_them_and_wrong_ones_are_refused(tmp_path: Path) -> None:
    job = Job(kind=JobKind.MIRROR, name="a", home=tmp_path, state=tmp_path, root=tmp_path)
    control.retune(job, "mirror", Retune(rate_limit=0))
    control.retune(job, "mirror", Retune(concurrency=3))
    control.retune(job, "mirror", Retune(rate_limit=2))  # what was said last counts
    assert json.loads((tmp_path / "retune.mirror").read_text()) == {"rate_limit": 2.0, "concurrency": 3}
    for wrong in ({"concurrency": -5}, {"rate_limit": 1e9}, {"per_host": 0}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(wrong, Retune)
