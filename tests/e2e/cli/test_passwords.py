"""A password that was typed with a URL is shown by no command, and is in no file that one writes."""

import base64
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sumi.errors import UsageError, without_passwords
from tests.commands import RunSumi
from tests.e2e.mirror.test_fetch_whole import Answer, Site, site

USER, PASSWORD = "me", "hunter!swordfish"
# As it was typed, as it was meant, and as it goes over the wire.
SHAPES = tuple(
    re.compile(re.escape(shape.encode()))
    for shape in (
        PASSWORD,
        quote(PASSWORD, safe=""),
        base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode(),
    )
)
GIVEN = frozenset(
    {"seeds.txt", "crawl.yaml", "map.toml", "mirror.toml", "bad.toml", "bad_map.toml"}
)  # by the user
FAST = ("--rate-limit", "0", "--processes", "0", "--allow-private", "--retries", "0")
NOWHERE = "127.0.0.1:9"  # discard: nobody listens


def page(headers: dict[str, str]) -> Answer:
    if not headers.get("authorization"):
        return 401, [], "Who are you?"
    return 200, [], '<html lang=en><title>T</title><main><p>Some words</p><a href="/gone">on</a></main>'


@pytest.fixture
def closed() -> Iterator[Site]:
    """A site that shows itself to whoever has a password."""
    with site({"/": page, "/robots.txt": (404, [], "no")}) as running:
        yield running


def typed(running: Site, path: str = "/") -> str:
    return running.url.replace("://", f"://{USER}:{quote(PASSWORD, safe='')}@") + path


def leaks(text: str) -> list[str]:
    return [shape.pattern.decode() for shape in SHAPES if shape.search(text.encode())]


def leaking_files(folder: Path) -> list[str]:
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in GIVEN:
            stored = path.read_bytes()
            content = gzip.decompress(stored) if path.suffix == ".gz" else stored
            content += str(path.relative_to(folder)).encode()
            found += [f"{path.name}: {shape.pattern!r}" for shape in SHAPES if shape.search(content)]
    return found


def write_configurations(folder: Path, running: Site) -> None:
    (folder / "workspace").mkdir()
    (folder / "workspace" / "seeds.txt").write_text(typed(running) + "\n")
    crawl = {
        "user_agent": "testbot/1.0 (+https://example.org/bot)",
        "profile": "generic",
        "scope": {"allowed_hosts": [f"127.0.0.1:{running.port}"]},
        "limits": {"req_per_sec": 100, "max_retries": 0},
        "network": {"allow_private": True},
    }
    (folder / "crawl.yaml").write_text(yaml.safe_dump(crawl))
    (folder / "mirror.toml").write_text(f'[mirror]\nurl = "{typed(running)}"\n')
    (folder / "bad.toml").write_text(f'[mirror]\nurl = "{typed(running)}"\nrate-limit = "{typed(running)}"\n')
    map_file = (
        "[crawler]\nmax-depth = 1\nminimum-time-on-page = 100\n"
        '[user-agent]\ncrawler-name = "M"\ncontact-email = "me@example.org"\n'
        f'[http]\nallow-http = true\n[webhooks]\non-complete = "{typed(running, "/hook")}"\n'
        '[[quality]]\ndomain = "127.0.0.1"\nseeds = ["{seed}"]\n'
    )
    (folder / "map.toml").write_text(map_file.format(seed=f"{running.url}/"))
    (folder / "bad_map.toml").write_text(map_file.format(seed=typed(running)))


WORKING = {
    "mirror": (
        ("mirror", "URL", "-vv", *FAST),
        ("mirror", "URL", "--update", "--json", *FAST),
        ("status",),
        ("status", "--json"),
        ("explain", "URL"),
        ("explain", "URL", "--json"),
        ("explain", "URL/gone"),
        ("explain", "URL/never-met"),
        ("state", "check", "output"),
        ("state", "migrate", "output", "copy", "--to", "sqlite"),
        ("rebuild", "output"),
        ("mirror", "URL", "--state", "sqlite", "--output", "other", *FAST),
    ),
    "file": (("mirror", "--config", "mirror.toml", "--json", *FAST),),
    "looks": (
        ("plan", "URL", "--sample", "1", *FAST),
        ("plan", "URL", "--json", *FAST),
        ("sitemap", "URL", *FAST),
        ("sitemap", "URL", "--format", "json", *FAST),
        ("mirror", "URL", "--auth", f"{USER}:{PASSWORD}", "--proxy", f"http://PAIR@{NOWHERE}", *FAST),
    ),
    "capture": (
        ("capture", "URL", "-vv", *FAST),
        ("capture", "URL", "--json", "--skip-cache", *FAST),
        ("capture", "list"),
        ("capture", "list", "--json"),
        ("capture", "show"),
        ("capture", "show", "--json"),
        ("capture", "export", "--format", "jsonl", "-o", "out.jsonl"),
    ),
    "crawl": (
        ("crawl", "run", "--config", "crawl.yaml", "--json"),
        ("crawl", "status", "--config", "crawl.yaml"),
        ("scrape", "run", "--config", "crawl.yaml", "--warc", "scraped.warc.gz"),
        ("scrape", "status", "--config", "crawl.yaml"),
        ("scrape", "status", "--config", "crawl.yaml", "--json"),
        ("status", "workspace"),
        ("explain", "URL", "--in", "workspace"),
        ("crawl", "validate-policy", "--config", "crawl.yaml", "URL", "ftp://PAIR@host/"),
        ("crawl", "validate-policy", "--config", "crawl.yaml", "URL", "--json"),
    ),
    "run": (("run", "--config", "crawl.yaml", "--json"),),
    "unified": (
        ("run", "--config", "crawl.yaml", "--unified", "--warc", "all.warc.gz", "-vv"),
        ("explain", "URL", "--in", "workspace"),
    ),
    "map": (
        ("map", "map.toml", "--json"),
        ("map", "map.toml", "-vv"),
        ("map", "map.toml", "--stats"),
        ("map", "export", "--format", "graphml", "map.db"),
        ("map", "export", "--format", "html", "map.toml"),
    ),
}


@pytest.mark.parametrize("job", WORKING)
def test_no_job_shows_or_stores_a_password(job: str, run_sumi: RunSumi, closed: Site, tmp_path: Path) -> None:
    write_configurations(tmp_path, closed)
    pair = f"{USER}:{quote(PASSWORD, safe='')}"
    for words in WORKING[job]:
        command = [word.replace("URL", typed(closed, "")).replace("PAIR", pair) for word in words]
        done = run_sumi(*command)
        assert not leaks(done.stdout + done.stderr), (words, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        # A command that was refused would show nothing either.
        assert done.returncode != 2 or "the proxy cannot be reached" in done.stderr, done.stderr
    assert leaking_files(tmp_path) == []


def test_a_page_is_known_by_the_url_that_it_was_typed_with(run_sumi: RunSumi, closed: Site) -> None:
    assert run_sumi("mirror", typed(closed), *FAST).returncode == 1  # /gone
    done = run_sumi("explain", typed(closed))
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith(f"{closed.url}/\n  captured (HTTP 200): ")


WRONG = (
    ("URL",),
    ("mirror", "URL:99999/"),
    ("mirror", "ftp://PAIR@127.0.0.1/"),
    ("mirror", "PAIR@127.0.0.1"),
    ("mirror", "http://PAIR@/"),
    ("mirror", "http://127.0.0.1/", "--exclude", "re:(URL"),
    ("mirror", "http://127.0.0.1/", "--proxy", "ftp://PAIR@127.0.0.1:1"),
    ("mirror", "http://127.0.0.1/", "--hosts", "URL"),
    ("mirror", "http://127.0.0.1/", "--rate-limit", "URL"),
    ("mirror", "http://127.0.0.1/", "--config", "URL"),
    ("mirror", "--config", "bad.toml"),
    ("capture", "ftp://PAIR@127.0.0.1/"),
    ("capture", "show", "URL"),
    ("capture", "export", "URL"),
    ("explain", "ftp://PAIR@127.0.0.1/"),
    ("explain", "URL"),
    ("status", "URL"),
    ("state", "check", "URL"),
    ("rebuild", "URL"),
    ("crawl", "run", "URL"),
    ("crawl", "run", "--config", "URL"),
    ("crawl", "validate-policy", "--config", "crawl.yaml", "--from", "URL"),
    ("scrape", "run", "--config", "URL"),
    ("run", "URL"),
    ("map", "URL"),
    ("map", "bad_map.toml"),
    ("map", "export", "URL"),
    ("map", "diff", "URL", "URL"),
    ("workspace", "reset", "URL"),
    ("doctor", "URL"),
    ("plan", "ftp://PAIR@127.0.0.1/"),
    ("sitemap", "ftp://PAIR@127.0.0.1/"),
)


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_no_complaint_repeats_a_password(
    words: tuple[str, ...], run_sumi: RunSumi, closed: Site, tmp_path: Path
) -> None:
    write_configurations(tmp_path, closed)
    pair = f"{USER}:{quote(PASSWORD, safe='')}"
    done = run_sumi(*(word.replace("URL", typed(closed, "")).replace("PAIR", pair) for word in words))
    assert not leaks(done.stdout + done.stderr), (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert closed.asked == []


def test_bad_seeds_are_told_by_line_without_the_password(
    run_sumi: RunSumi, closed: Site, tmp_path: Path
) -> None:
    write_configurations(tmp_path, closed)
    long_name = "u" * 70  # the @ is beyond what a complaint repeats
    (tmp_path / "workspace" / "seeds.txt").write_text(f"ftp://{long_name}:{PASSWORD}@127.0.0.1/\n")
    done = run_sumi("crawl", "run", "--config", "crawl.yaml")
    assert done.returncode == 2
    assert "line 1" in done.stderr
    assert not leaks(done.stderr)


# ── the rule ───────────────────────────────────────────────────────────────────────────────────────────────

SECRETS = st.from_regex(r"[A-Za-z0-9!$&*,;=.~_%-]{8,20}", fullmatch=True)


@given(
    st.sampled_from(
        ["http://", "https://", "ftp://", "HTTP:/", "socks5h://", "postgresql://", "https:\\\\", ""]
    ),
    st.from_regex(r"[a-z]{1,8}", fullmatch=True),
    SECRETS,
    st.sampled_from(["host/", "host:80/a@b", "[::1]:80/?q=a@b", "10.0.0.1"]),
    st.sampled_from(["{}", "'{}' cannot be read", "URL is {!r}, but", "--config={} is", "a b {}, and (c)"]),
)
def test_an_error_holds_nothing_of_a_password(
    scheme: str, user: str, secret: str, place: str, sentence: str
) -> None:
    text = sentence.format(f"{scheme}{user}:{secret}@{place}")
    assert secret not in str(UsageError(text))


@pytest.mark.parametrize(
    "text",
    [
        "https://host:8080/@user is refused",
        "https://example.org/a@b.html cannot be read",
        "write to me@example.org",
        "host:80/@user",
        "mirror: no URL given; for example: sumi mirror https://docs.example.org",
        "run sumi mirror https://a.test/ --state 'postgresql://crawl@db.test:5432/sumi' --job docs",
    ],
)
def test_what_is_no_password_stays(text: str) -> None:
    assert without_passwords(text) == text
