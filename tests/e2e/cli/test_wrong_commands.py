"""Whatever is wrong with a command, one sentence says what it is; exit code 2, and nothing is left behind."""

import json
import os
from pathlib import Path

import pytest

from tests.commands import FinishedSumi, RunSumi
from tests.site import RunningSite

BESIDES = (6, 8)  # a port that is refused; too little space
NOWHERE = "http://127.0.0.1:9/"  # never dialled: the mistake is found before


def sentence_of(done: FinishedSumi) -> str:
    lines = done.stderr.splitlines()
    assert done.returncode in (2, *BESIDES)
    assert "Traceback" not in done.stderr
    assert lines[-1].startswith("sumi")
    assert sum(line.startswith("sumi") for line in lines) == 1
    return lines[-1]


WRONG_VALUES = {
    "a rate below nothing": (["--rate-limit", "-1"], "--rate-limit is '-1', but must be a number"),
    "pages below nothing": (["--max-pages", "-5"], "--max-pages is '-5', but must be a whole number"),
    "no requests at all": (["--concurrency", "0"], "--concurrency is '0', but must be a whole number"),
    "no number": (["--timeout", "nan"], "--timeout is 'nan', but must be a number of seconds"),
    "a size beyond all limits": (["--max-body", "1TB"], "--max-body is '1TB', but must be a size"),
    "an unknown kind of state": (
        ["--state", "redis"],
        "--state is 'redis', but must be files, sqlite, lmdb or the address of a database",
    ),
    "an unknown word": (
        ["--on-error", "explode"],
        "--on-error is 'explode', but must be skip, retry or abort",
    ),
    "an expression that does not compile": (["--include", "re:("], "--include: Regular expression '('"),
    "an empty pattern": (["--exclude", ""], "--exclude: A pattern must not be empty"),
    "no host name": (["--hosts", "a b"], "--hosts: Host pattern 'a b' is not a name"),
    "no address": (["--resolve", "x"], "--resolve is 'x', but must be HOST:PORT:ADDRESS"),
    "a proxy without a port": (
        ["--proxy", "http://proxy"],
        "--proxy: must be http://, https:// or socks5h://",
    ),
    "a contact that is none": (
        ["--contact", "x"],
        "--contact is 'x', but must be a web address or an e-mail",
    ),
    "a header of the client's own": (["--header", "Host: x"], "--header: must not set Host"),
    "no file": (["--ca-file", "none.pem"], "--ca-file is 'none.pem', but must be an existing file"),
    "no configuration": (["--config", "none.toml"], "--config 'none.toml' cannot be read: No such file"),
    "a folder as the configuration": (["--config", "."], "--config '.' cannot be read: Is a directory"),
    "a file as the output": (["--output", "file"], "cannot make the folder file/127.0.0.1_9/.sumi"),
    "more space than there is": (["--min-free", "1024GiB"], "not enough space in "),
    "a port of another protocol": ([], "port 9 belongs to another protocol; give another port"),
}


@pytest.mark.parametrize("case", WRONG_VALUES)
def test_a_wrong_value_is_named_with_what_it_must_be(run_sumi: RunSumi, tmp_path: Path, case: str) -> None:
    (tmp_path / "file").write_text("mine")
    options, said = WRONG_VALUES[case]
    assert said in sentence_of(run_sumi("mirror", NOWHERE, *options))
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mirror", ""], "URL is '', but must be an http or https address"),
        (["mirror", "mailto:me@example.org"], "must be an http or https address"),
        (["plan"], "no URL given; give one such as https://docs.example.org"),
        (["sitemap", "ftp://example.org"], "must be an http or https address"),
        (["sitemap", "example.org", "--format", "pdf"], "--format: invalid choice: 'pdf'"),
        (["status", "nowhere"], "nowhere holds no job of Sumi; give the --output folder of one"),
        (["status", "file"], "file holds no job of Sumi"),
        (["explain", "https://example.org/"], "output holds no job of Sumi"),
        (["explain"], "the following arguments are required: URL"),
        (["rebuild", "nowhere"], "nowhere holds no job of Sumi"),
        (["state", "check", "nowhere"], "nowhere holds no job of Sumi"),
        (["state", "migrate", "one"], "migrate takes two folders, or a folder and a database: FROM and TO"),
        (["state", "mend"], "invalid choice: 'mend'"),
        (["doctor", "nowhere"], "'nowhere' is not a folder"),
        (["map"], "give the configuration of a map, the domains to explore, or --urls FILE"),
        (["crawl"], "give one of its commands"),
    ],
)
def test_every_command_says_what_it_lacks(
    run_sumi: RunSumi, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "file").write_text("mine")
    assert said in sentence_of(run_sumi(*arguments))
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_an_empty_list_of_sites_is_no_list(run_sumi: RunSumi, tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text("[mirror]\nurls = []\n")
    assert "no URL given" in sentence_of(run_sumi("mirror", "--config", "site.toml"))


def test_a_folder_that_may_not_be_written_is_said_before_anybody_is_asked(
    run_sumi: RunSumi, tmp_path: Path
) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    (tmp_path / "locked").mkdir(mode=0o500)
    assert "choose another" in sentence_of(run_sumi("mirror", NOWHERE, "-o", "locked"))


def test_who_asks_for_the_status_of_captures_is_sent_to_their_list(
    run_sumi: RunSumi, small_site: RunningSite, tmp_path: Path
) -> None:
    run_sumi("capture", small_site.url, "--store", "docs", "--limit", "1", "--rate-limit", "0")
    said = sentence_of(run_sumi("status", "docs"))
    assert said == "sumi: error: docs holds captures; see sumi capture list --captures docs"
    assert run_sumi("capture", "list", "--store", "docs").returncode == 0


def test_state_that_a_newer_version_wrote_is_left_alone(
    run_sumi: RunSumi, small_site: RunningSite, tmp_path: Path
) -> None:
    run_sumi("mirror", small_site.url, "--rate-limit", "0", "--max-pages", "2")
    home = tmp_path / "output" / f"127.0.0.1_{small_site.port}"
    marker = home / ".sumi" / "format.json"
    marker.write_text(json.dumps(json.loads(marker.read_text()) | {"format": 99}))
    pages = sorted(home.rglob("index.md"))
    for command in (["mirror", small_site.url], ["status"], ["rebuild"], ["state", "check"]):
        said = sentence_of(run_sumi(*command))
        assert "says format 99, this version of sumi reads format" in said
        assert "--fresh" in said
    assert sorted(home.rglob("index.md")) == pages
