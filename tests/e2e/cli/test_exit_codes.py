"""Each kind of trouble has an exit code of its own, the same in every command, so that cron can act on it."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sumi.errors import BAD_USAGE, BELOW, COMPLETE, DISK, EXIT_CODES, HOST, IN_USE, NETWORK, WITH_FAILURES
from sumi.state.folder import STATE_FOLDER
from sumi.state.lock import FolderLock
from tests.commands import RunSumi
from tests.e2e.map.map_site import Page, running_web
from tests.folder_site import FolderSite, folder_site

FAST = ("--rate-limit", "0", "--allow-private")


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that nobody listens on: bound, so that nobody else takes it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture
def broken_site(tmp_path: Path) -> Iterator[FolderSite]:
    """Two pages, a dead link and a dead image."""
    links = '<a href="second.html">Second</a> <a href="gone.html">Gone</a><img src="none.png" alt="x">'
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", f"<p>Words that make this a page of its own, and more of them.</p>{links}")
        site.write("second.html", "<p>Other words, in a second page.</p>")
        yield site


COMMANDS = ("mirror", "capture", "plan", "sitemap", "convert")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_server_that_is_down_is_the_network(run_sumi: RunSumi, closed_port: int, command: str) -> None:
    done = run_sumi(command, f"http://127.0.0.1:{closed_port}/", "--allow-private")
    assert done.returncode == NETWORK, done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_name_is_the_host(run_sumi: RunSumi, command: str) -> None:
    done = run_sumi(command, "http://nowhere.invalid/")
    assert done.returncode == HOST, done.stderr


def test_a_map_of_nowhere_is_the_host(run_sumi: RunSumi, tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text(
        '[user-agent]\ncrawler-name = "Mapper"\ncontact-email = "me@example.org"\n'
        "[crawler]\nminimum-time-on-page = 100\n"
        '[[quality]]\ndomain = "nowhere.invalid"\nseeds = ["https://nowhere.invalid/"]\n'
    )
    assert run_sumi("map", "map.toml").returncode == HOST


def test_a_typing_error_is_bad_usage(run_sumi: RunSumi) -> None:
    for words in (("mirror", "--nonsense"), ("plan",), ("map", "none.toml"), ("capture",), ("nonsense",)):
        assert run_sumi(*words).returncode == BAD_USAGE


def test_a_folder_in_use(run_sumi: RunSumi, broken_site: FolderSite, tmp_path: Path) -> None:
    where = ("mirror", broken_site.url, *FAST)
    assert run_sumi(*where).returncode == WITH_FAILURES
    (state,) = (tmp_path / "output").glob(f"*/{STATE_FOLDER}")
    lock = FolderLock(state, command="sumi mirror")
    try:
        assert run_sumi(*where).returncode == IN_USE
        assert run_sumi("state", "check", "output", "--repair").returncode == IN_USE
    finally:
        lock.release()


def test_a_disk_without_enough_space(run_sumi: RunSumi, broken_site: FolderSite) -> None:
    for command in ("mirror", "capture"):
        done = run_sumi(command, broken_site.url, *FAST, "--min-free", "1024GiB")
        assert done.returncode == DISK, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("mirror", "example.org", "-o", "in/the/way"),
        ("mirror", "example.org", "--log-file", "in/the/way.log"),
        ("capture", "example.org", "--store", "in/the/way"),
        ("map", "example.org", "-o", "in/the/way"),
        ("run", "https://example.org/", "--workspace", "in/the/way"),
        ("convert", "page.html", "-o", "in/the/way.md"),
        ("init", "mirror", "https://example.org", "-o", "in/the/way.toml"),
        ("man", "--output", "in/the/way"),
        ("identity", "create", "https://example.org", "--identity", "in/the/way"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_written_is_the_disk(
    run_sumi: RunSumi, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "page.html").write_text("<p>A page.</p>")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "the").write_text("a file where a folder is wanted")
    done = run_sumi(*words)
    assert (done.returncode, len(done.stderr.splitlines())) == (DISK, 1), done.stderr


@pytest.mark.parametrize("words", ["version", "--help", "mirror --help all"])
def test_a_full_disk_under_what_is_printed_is_the_disk(words: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "sumi", *words.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr.count("\n")) == (DISK, 1), done.stderr


def test_poor_markdown_is_below_a_threshold(run_sumi: RunSumi, broken_site: FolderSite) -> None:
    allowed = ("--allow-failed", "not_found", "--min-fidelity", "1")
    done = run_sumi("mirror", broken_site.url, *FAST, *allowed, "--json")
    below = done.events[-1]["below_fidelity"]
    assert done.returncode == (BELOW if below else COMPLETE)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), WITH_FAILURES),
        (("--allow-failed", "forbidden"), WITH_FAILURES),
        (("--allow-failed", "forbidden,not_found"), COMPLETE),
        (("--max-failed", "10%"), WITH_FAILURES),
        (("--max-failed", "34%"), COMPLETE),
        (("--max-failed", "1"), COMPLETE),
        (("--max-failed", "0"), WITH_FAILURES),
    ],
)
def test_failures_count_unless_they_are_allowed(
    run_sumi: RunSumi, broken_site: FolderSite, options: tuple[str, ...], code: int
) -> None:
    for command in ("mirror", "capture"):
        done = run_sumi(command, broken_site.url, *FAST, *options, "--json")
        assert (command, done.returncode) == (command, code), done.stderr
        assert done.events[-1]["status"] == ("limited" if code == COMPLETE else "partial")
        assert done.events[-1]["outcomes"]["not_found"] == 1


def test_the_summary_and_the_status_say_that_failures_were_allowed(
    run_sumi: RunSumi, broken_site: FolderSite
) -> None:
    done = run_sumi("mirror", broken_site.url, *FAST, "--allow-failed", "not_found")
    words = "one page failed, which is allowed (--allow-failed, --max-failed)"
    assert f"limited: {words}" in done.stderr
    assert words in run_sumi("status", "output").stdout


def test_an_image_that_fails_does_not_make_a_mirror_partial(
    run_sumi: RunSumi, broken_site: FolderSite
) -> None:
    broken_site.write("gone.html", "<p>Here after all, a third page.</p>")
    done = run_sumi("mirror", broken_site.url, *FAST, "--assets", "--json")
    assert (done.returncode, done.events[-1]["excused"]) == (COMPLETE, {"assets": 1})


def test_dead_links_of_a_map_to_other_sites_are_no_failure(run_sumi: RunSumi, tmp_path: Path) -> None:
    pages = {"good.test/": Page(("/a", "far.test/x", "dead.test/")), "good.test/a": Page(("/",))}
    pages |= {"far.test/": Page()}
    with running_web(pages, tmp_path, tls=False) as web:
        done = run_sumi("map", str(web.config(tmp_path, {"good.test": "good.test/"})), "--json")
        assert done.returncode == COMPLETE, done.stderr
        assert done.events[-1]["excused"] == {"foreign": 2}
        pages["good.test/"] = Page(("/a", "/gone"))
        again = run_sumi("map", str(web.config(tmp_path, {"good.test": "good.test/"})), "--fresh")
        assert again.returncode == WITH_FAILURES


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--allow-failed", "not_fuond"), "--allow-failed: 'not_fuond' is not the outcome of a failed page"),
        (("--allow-failed", "captured"), "'captured' is not the outcome of a failed page"),
        (("--max-failed", "101%"), "--max-failed is '101%', but must be a number of pages, or a share"),
        (("--max-failed", "-1"), "--max-failed is '-1', but must be a number of pages"),
    ],
)
def test_what_is_no_outcome_or_number_is_refused(
    run_sumi: RunSumi, option: tuple[str, str], said: str
) -> None:
    done = run_sumi("mirror", "docs.example.org", *option)
    assert done.returncode == BAD_USAGE
    assert said in done.stderr


def test_the_reference_lists_every_code() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "cli.md").read_text()
    table = page.partition("## Exit codes")[2].partition("\n## ")[0]
    assert [f"| {code} |" in table for code in EXIT_CODES] == [True] * len(EXIT_CODES)
