"""Nobody but the person who started a window can ask it anything: tried over a bare socket."""

import socket
from pathlib import Path

import pytest

from tests.commands import RunSumi, SpawnSumi
from tests.serve.conftest import Library
from tests.serve.windows import OpenWindow, opened

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


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(window: OpenWindow, method: str) -> None:
    assert window.ask("/api/jobs", method, {"Cookie": window.cookie()}).status == 405


def test_every_answer_has_the_protecting_headers(window: OpenWindow) -> None:
    for target in ("/", "/api/jobs", "/static/app.js", "/nowhere"):
        for answer in (window.get(target), window.ask(target), window.ask(target, headers={"Host": "evil"})):
            assert answer.headers["content-security-policy"].startswith(
                "default-src 'none'; script-src 'self'"
            )
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
    assert window.post("/api/jobs", {"url": library.site.url}).status == 403


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
