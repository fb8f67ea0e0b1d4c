"""A person logs in to a site in a real browser window; runs go on with that session, and nothing else."""

import os
import pty
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import msgspec
import pytest

from sumi.errors import UsageError
from sumi.fetch.cookie_file import BrowserCookie
from sumi.fetch.kept_session import KeptSession, load_session, save_session, session_name
from tests.browsers import needs_browser
from tests.commands import RunSumi, sumi_command, sumi_environment
from tests.screen import needs_screen, screen
from tests.threaded_server import ThreadedServer

HIDDEN = "open-sesame"
_WELCOME = """<p>Welcome, member. These are the pages that only members may read. <a href='/more'>more</a>
<a href='/logout'>sign out</a></p><div id=script></div><script>
const token = localStorage.getItem('token');
if (token) document.getElementById('script').innerHTML =
  '<p>And this is what a script shows to whoever has the token: ' + token.length + '</p>';
</script>"""
_FORM = """<form method=post action=/login></form>
<script>localStorage.setItem('token', 'stored-sesame'); document.forms[0].submit()</script>"""


class _Members(BaseHTTPRequestHandler):
    """Its sign-in form submits itself, as a person would. The session of a browser is refused once over."""

    welcomed: threading.Event
    asked: list[tuple[str, bool]]
    over = False
    pages = 20

    def do_GET(self) -> None:
        may = f"session={HIDDEN}" in self.headers.get("Cookie", "") and not self.over
        type(self).asked.append((self.path, may))
        if self.path == "/login":
            self._answer(200, _FORM)
        elif self.path == "/robots.txt" or not may:
            self._answer(404 if self.path == "/robots.txt" else 403, "")
        else:
            more = "".join(f"<a href='/p{number}'>{number}</a> " for number in range(self.pages))
            self._answer(200, f"{_WELCOME}<p>This is {self.path} of it. {more}</p>")
            self.welcomed.set()

    def do_POST(self) -> None:
        self.send_response(303)
        self.send_header("Location", "/")
        self.send_header("Set-Cookie", f"session={HIDDEN}; HttpOnly; Path=/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _answer(self, status: int, body: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def members() -> Iterator[tuple[str, type[_Members]]]:
    handler = type("Members", (_Members,), {"asked": [], "welcomed": threading.Event()})
    with ThreadedServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/", handler
        server.shutdown()


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def _kept(home: Path, url: str) -> Path:
    return home / "sumi" / "sessions" / f"{session_name(url)}.json"


def _keep(home: Path, url: str, **values: object) -> Path:
    now = time.time()
    session = KeptSession(
        url=f"{url}login",
        created=now,
        expires=now + 60,
        hosts=("127.0.0.1",),
        cookies=(BrowserCookie("127.0.0.1", False, "/", False, 0.0, "session", HIDDEN),),
    )
    file = _kept(home, url)
    save_session(file, msgspec.structs.replace(session, **values))
    return file


def _nothing_hidden_in(folder: Path) -> None:
    import gzip

    for path in (path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        assert b"sesame" not in (gzip.decompress(data) if path.suffix == ".gz" else data), path


@needs_screen
@needs_browser
def test_a_person_logs_in_and_a_run_goes_on_with_that_session(
    members: tuple[str, type[_Members]], run_sumi: RunSumi, home: Path, tmp_path: Path
) -> None:
    url, handler = members
    with screen() as shown:
        environment = sumi_environment({"XDG_STATE_HOME": str(home), **shown})
        opening = subprocess.Popen(
            sumi_command(("session", "open", f"{url}login")),
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
        )
        assert handler.welcomed.wait(60)
        _, told = opening.communicate("\n", timeout=60)
    assert opening.returncode == 0, told
    assert "kept: 1 cookie for 127.0.0.1" in told
    file = _kept(home, url)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "sesame" not in told

    words = ("mirror", url, "--login", f"{url}login", "--rate-limit", "0", "--json", "--max-pages", "2")
    done = run_sumi(
        *words, "--render", "fast", "--warc", "x.warc.gz", env={"XDG_STATE_HOME": str(home), "DISPLAY": ""}
    )
    assert done.events[-1]["outcomes"]["captured"] == 2, done.stderr
    assert "whoever has the token: 13" in next(tmp_path.rglob("index.md")).read_text()
    assert not [path for path, _ in handler.asked if "logout" in path]
    assert "sesame" not in done.stdout + done.stderr
    _nothing_hidden_in(tmp_path)


@needs_screen
@needs_browser
def test_at_a_terminal_the_run_itself_opens_the_window(
    members: tuple[str, type[_Members]], home: Path, tmp_path: Path
) -> None:
    url, handler = members
    ours, theirs = pty.openpty()
    with screen() as shown:
        words = ("mirror", url, "--login", f"{url}login", "--rate-limit", "0", "--json", "--max-pages", "1")
        running = subprocess.Popen(
            sumi_command(words),
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=sumi_environment({"XDG_STATE_HOME": str(home), **shown}),
            cwd=tmp_path,
        )
        assert handler.welcomed.wait(60)
        os.write(ours, b"\n")
        out, _ = running.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    last = msgspec.json.decode(out.splitlines()[-1])
    assert last.get("outcomes", last)["captured"] == 1, last


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"expires": 1.0}, "the session has expired"),
        ({"ended": True}, "the session has ended"),
        ({"hosts": ("a.test",)}, "the session is not for 127.0.0.1"),
        ({"cookies": ()}, "no cookie for 127.0.0.1"),
    ],
)
def test_a_session_that_does_not_fit_is_refused_before_anything_is_asked(
    values: dict[str, object], why: str, members: tuple[str, type[_Members]], run_sumi: RunSumi, home: Path
) -> None:
    url, handler = members
    _keep(home, url, **values)
    done = run_sumi("mirror", url, "--login", f"{url}login", env={"XDG_STATE_HOME": str(home)})
    assert done.returncode == 2
    assert why in done.stderr
    assert not handler.asked


def test_without_a_session_the_run_says_how_to_make_one(run_sumi: RunSumi, home: Path) -> None:
    words = ("mirror", "https://a.test/", "--login", "https://sso.b.test/")
    done = run_sumi(*words, env={"XDG_STATE_HOME": str(home)})
    assert done.returncode == 2
    assert "sumi session open https://sso.b.test/ https://a.test/" in done.stderr


def test_a_session_that_ends_stops_the_run_and_is_not_tried_again(
    members: tuple[str, type[_Members]], run_sumi: RunSumi, home: Path
) -> None:
    url, handler = members
    _keep(home, url)
    handler.over = True
    environment = {"XDG_STATE_HOME": str(home)}
    words = ("capture", url, *(f"{url}p{number}" for number in range(8)), "--login", f"{url}login")
    done = run_sumi(*words, "--rate-limit", "0", "--retries", "0", "--json", env=environment)
    assert any("session seems to have ended" in event.get("why", "") for event in done.events), done.stdout
    asked = len(handler.asked)
    again = run_sumi(*words, env=environment)
    assert again.returncode == 2
    assert "the session has ended" in again.stderr
    assert len(handler.asked) == asked


def test_sessions_are_listed_and_forgotten(
    members: tuple[str, type[_Members]], run_sumi: RunSumi, home: Path
) -> None:
    url, _ = members
    file, environment = _keep(home, url), {"XDG_STATE_HOME": str(home)}
    listed = run_sumi("session", "list", env=environment)
    assert session_name(url) in listed.stdout
    assert "sesame" not in listed.stdout
    assert run_sumi("session", "forget", session_name(url), env=environment).returncode == 0
    assert not file.exists()
    assert run_sumi("session", "forget", session_name(url), env=environment).returncode == 2
    assert run_sumi("session", "forget", "../../x", env=environment).returncode == 2


def test_a_session_that_others_can_read_or_wrote_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.test.json"
    session = KeptSession(url="https://a.test/", created=1.0, expires=2.0, hosts=("a.test",))
    save_session(file, session)
    assert load_session(file) == session
    file.chmod(0o640)
    with pytest.raises(UsageError, match="other users"):
        load_session(file)
    file.chmod(0o600)
    for bad in (b"", b"{}", b"[1]", msgspec.json.encode(session)[:-1] + b',"cookies":[["a",1]]}'):
        file.write_bytes(bad)
        with pytest.raises(UsageError, match="not a session"):
            load_session(file)
    split = BrowserCookie("a.test", False, "/", False, 0.0, "x", "1\r\nHost: b")
    file.write_bytes(msgspec.json.encode(msgspec.structs.replace(session, cookies=(split,))))
    with pytest.raises(UsageError, match="not a session"):
        load_session(file)
    link = tmp_path / "link.json"
    link.symlink_to(file)
    with pytest.raises(UsageError, match="cannot read"):
        load_session(link)


@pytest.mark.parametrize("job", ["crawl", "map"])
def test_crawls_and_maps_go_on_with_a_session_or_a_cookie_file(
    job: str, members: tuple[str, type[_Members]], run_sumi: RunSumi, home: Path, tmp_path: Path
) -> None:
    url, handler = members
    handler.pages = 4
    _keep(home, url)
    (tmp_path / "cookies.txt").write_text(f"127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\t{HIDDEN}\n")
    for number, how in enumerate(("login", "cookie_file")):
        value = f"{url}login" if how == "login" else "cookies.txt"
        handler.asked.clear()
        if job == "crawl":
            (tmp_path / "c.yaml").write_text(
                "user_agent: t/1 (+https://a.test/)\nprofile: generic\n"
                f"workspace: w{number}\nlimits:\n  req_per_sec: 1000\nnetwork:\n  {how}: {value}\n"
            )
            (tmp_path / f"w{number}").mkdir()
            (tmp_path / f"w{number}" / "seeds.txt").write_text(url)
            words: tuple[str, ...] = ("run", "--unified", "--config", "c.yaml")
        else:
            (tmp_path / "m.toml").write_text(
                '[user-agent]\ncrawler-name="t"\ncrawler-version="1"\n'
                f'[output]\ndatabase-path="{number}.db"\nsummary-path="{number}.md"\n'
                f'[http]\nallow-http=true\n{how.replace("_", "-")}="{value}"\n'
                "[crawler]\nminimum-time-on-page=100\nmax-depth=1\n"
                f'[[quality]]\ndomain="127.0.0.1"\nseeds=["{url}"]\n'
            )
            words = ("map", "m.toml")
        done = run_sumi(*words, "--json", env={"XDG_STATE_HOME": str(home)})
        assert done.returncode == 0, done.stderr
        pages = [path for path, may in handler.asked if may and path.startswith("/p")]
        assert len(set(pages)) == 4, (how, handler.asked)
        assert not [path for path, _ in handler.asked if "logout" in path]
