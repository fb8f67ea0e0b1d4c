"""The command answers at once, and every mistake is one sentence with exit code 2 and no traceback."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from sumi import __version__
from sumi.cli.demo import serving, tree_lines

ROOT = Path(__file__).parents[3]
# The first is what settings are made of, so commands that have some load it.
HEAVY = ("msgspec", "pycurl", "turbohtml", "uvloop", "asyncio", "ada_url", "re2")


def sumi(*arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SUMI_")}
    return subprocess.run(
        [sys.executable, "-m", "sumi", *arguments],
        env={**inherited, "PYTHONPATH": str(ROOT / "src"), **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def refused(*arguments: str, **environ: str) -> str:
    """What a bad command line says: one line on stderr, nothing on stdout."""
    done = sumi(*arguments, **environ)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    return done.stderr.rstrip("\n")


def test_help_lists_the_commands() -> None:
    done = sumi("--help")
    assert done.returncode == 0
    for command in ("mirror", "demo", "version"):
        assert f"\n  {command} " in done.stdout


@pytest.mark.parametrize(("words", "heavy"), [(["--help"], HEAVY), (["mirror", "--help"], HEAVY[1:])])
def test_help_does_not_load_the_engine(words: list[str], heavy: tuple[str, ...]) -> None:
    code = (
        f"import sys; from sumi.cli.main import main; main({words!r}); "
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr.strip() == "[]"


def test_the_version_is_the_packages() -> None:
    assert sumi("--version").stdout == f"sumi {__version__}\n"
    assert sumi("version").stdout.startswith(f"sumi {__version__}\npython 3.")


def test_help_of_a_command_groups_its_options_and_ends_with_examples() -> None:
    done = sumi("mirror", "--help", "all", COLUMNS="100")
    assert done.returncode == 0
    for title in ("what to take", "politeness", "network", "output and state", "reporting"):
        assert f"\n{title}:\n" in done.stdout
    assert done.stdout.index("examples:") > done.stdout.index("--processes")


@pytest.mark.parametrize("arguments", [["--help"], ["version"], ["mirror", "--help"]])
def test_a_reader_that_has_gone_is_no_fault(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        done = subprocess.run(
            [sys.executable, "-m", "sumi", *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stdout=nobody,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["mirror", "--ouput", "x", "example.org"],
            "sumi mirror: unknown option --ouput; did you mean --output?",
        ),
        (
            ["mirror", "--ouput=x", "example.org"],
            "sumi mirror: unknown option --ouput; did you mean --output?",
        ),
        (
            ["mirror", "example.org", "--out", "x"],
            "sumi mirror: unknown option --out; did you mean --output?",
        ),
        (["sitemap", "a.example", "b.example"], "sumi sitemap: unexpected argument 'b.example'"),
        (["mirror", "example.org", "--output"], "sumi mirror: -o/--output: expected one argument"),
        (
            ["mirror", "example.org", "-q", "-v"],
            "sumi mirror: -v/--verbose: not allowed with argument -q/--quiet",
        ),
        (["miror"], "sumi: unknown command 'miror'; did you mean mirror?"),
        (["\x1b[2J"], "sumi: unknown command '\\x1b[2J'; see sumi --help"),
        (["--frobnicate"], "sumi: unknown option --frobnicate"),
        (
            ["mirror", "example.org", "--retries", "x"],
            "sumi: error: --retries is 'x', but must be a whole number of attempts from 0 to 20",
        ),
        (
            ["mirror", "ftp://x"],
            "sumi: error: URL is 'ftp://x', but must be an http or https address, such as https://docs.example.org/",
        ),
        (
            ["mirror"],
            "sumi: error: no URL given; for example: sumi mirror https://docs.example.org",
        ),
    ],
)
def test_a_mistake_is_one_sentence(arguments: list[str], sentence: str) -> None:
    assert refused(*arguments) == sentence


def test_options_may_stand_between_arguments() -> None:
    said = refused("mirror", "a.example", "--assets", "b.example", "--retries", "x", "ftp://c")
    assert "URL is 'ftp://c'" in said
    assert refused("status", "--", "--nowhere").startswith("sumi: error: --nowhere holds no job")


def test_a_bad_variable_is_named() -> None:
    assert refused("mirror", "example.org", SUMI_RETRIES="x").startswith("sumi: error: SUMI_RETRIES is 'x'")


def test_an_unknown_variable_is_refused_with_the_nearest_one() -> None:
    """Also by a command that has no settings: what is set for tonight's job is wrong now."""
    sentence = (
        "sumi: error: SUMI_RATE_LIMITS is not a variable that Sumi reads; did you mean SUMI_RATE_LIMIT?"
    )
    assert refused("mirror", "example.org", SUMI_RATE_LIMITS="2") == sentence
    assert refused("status", SUMI_RATE_LIMITS="2") == sentence


def test_every_variable_of_every_job_is_known(tmp_path: Path) -> None:
    done = sumi("capture", "list", SUMI_STORE=str(tmp_path), SUMI_MIN_FREE="0", SUMI_URL="example.org")
    assert "SUMI_" not in done.stderr


def test_every_mistake_in_a_file_is_a_line(tmp_path: Path) -> None:
    config = tmp_path / "site.toml"
    config.write_text("[mirror]\nouput = 'x'\nretries = 'x'\n")
    done = sumi("mirror", "example.org", "--config", str(config))
    assert done.returncode == 2
    where = f"sumi: error: {config}, line"
    assert done.stderr.splitlines() == [
        f"{where} 2: [mirror] ouput is not a setting; did you mean output?",
        f"{where} 3: [mirror] retries is 'x', but must be a whole number of attempts from 0 to 20",
    ]


def test_with_json_an_error_is_an_event_too() -> None:
    done = sumi("mirror", "example.org", "--json", "--retries", "x")
    assert done.returncode == 2
    event = json.loads(done.stdout)
    assert event["event"] == "error"
    assert event["time"].endswith("Z")
    assert event["message"].startswith("--retries is 'x'")
    assert done.stderr.startswith("sumi: error: --retries")


def test_the_demo_never_touches_a_folder_that_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    assert "is not the output of a demo" in refused("demo", "--output", str(tmp_path))
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_the_demo_does_not_follow_a_link_to_a_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert "is not the output of a demo" in refused("demo", "--output", str(tmp_path / "link"))


@pytest.fixture
def small_site(tmp_path: Path) -> Iterator[str]:
    """Three pages, a redirect and a dead link."""
    site = tmp_path / "site"
    (site / "guide").mkdir(parents=True)
    links = "".join(f'<a href="{path}">{path}</a> ' for path in ("/guide/", "/about.html", "/old", "/dead"))
    (site / "index.html").write_text(f"<title>Home</title><main><h1>Home</h1><p>{links}</p></main>")
    (site / "guide" / "index.html").write_text("<title>Guide</title><main><h1>Guide</h1><p>One.</p></main>")
    (site / "about.html").write_text("<title>About</title><main><h1>About</h1><p>Two.</p></main>")
    (site / "_redirects").write_text("# from to\n/old /guide/\n")
    (site / "robots.txt").write_text("User-agent: *\nAllow: /\n")
    with serving(site) as origin:
        yield origin


def test_a_mirror_for_people(small_site: str, tmp_path: Path) -> None:
    output = tmp_path / "out"
    done = sumi("mirror", small_site, "--rate-limit", "0", "--processes", "0", "-o", str(output))
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"mirror {small_site}/ into {output}: starting" in done.stderr
    assert f"failed: {small_site}/dead: not_found" in done.stderr
    assert "partial: one page failed" in done.stderr
    assert "\x1b" not in done.stderr
    drawn = tree_lines(output)
    assert drawn[0] == "out (3 pages)"
    assert [line for line in drawn if line.endswith("guide/index.md")]


def test_the_start_says_the_pace_and_what_may_not_fit(small_site: str, tmp_path: Path) -> None:
    flags = (
        "--rate-limit",
        "8",
        "--processes",
        "0",
        "--min-free",
        "1KiB",
        "--json",
        "-o",
        str(tmp_path / "out"),
    )
    done = sumi("mirror", small_site, *flags, "--max-pages", "1000000000")
    started = json.loads(done.stdout.splitlines()[0])
    room, *_, pace = started["notes"]
    assert room.startswith("1,000,000,000 pages may take ")
    assert room.endswith(": the run stops cleanly when the disk runs low")
    assert pace == "8 requests a second per host: 28,800 pages an hour at most"


def test_a_mirror_for_programs(small_site: str, tmp_path: Path) -> None:
    flags = (
        "--rate-limit",
        "0",
        "--processes",
        "0",
        "--exclude",
        "/dead",
        "--json",
        "-o",
        str(tmp_path / "out"),
    )
    done = sumi("mirror", small_site, *flags)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert done.stderr == ""
    assert events[0]["event"] == "started"
    assert [event["event"] for event in events].count("summary") == 1
    assert events[-1]["status"] == "complete"
    assert events[-1]["outcomes"]["captured"] == 3
    assert sum(events[-1]["outcomes"].values()) == events[-1]["discovered"]


def test_a_second_run_has_nothing_left_to_do_and_says_so_quietly(small_site: str, tmp_path: Path) -> None:
    flags = ("--rate-limit", "0", "--processes", "0", "--exclude", "/dead", "-q", "-o", str(tmp_path / "out"))
    first, second = sumi("mirror", small_site, *flags), sumi("mirror", small_site, *flags)
    assert (first.returncode, first.stdout, first.stderr) == (0, "", "")
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")


def test_the_demo_needs_nothing_and_may_be_repeated(tmp_path: Path) -> None:
    output = tmp_path / "demo"
    for _ in range(2):
        done = sumi("demo", "--output", str(output))
        assert done.returncode == 0, done.stderr
        assert "discovered" in done.stderr
        assert done.stdout.startswith("\ndemo (")
        assert "└── " in done.stdout
        assert " begins:\n" in done.stdout
    assert len([path for path in output.glob("[!.]*") if path.is_dir()]) == 1


def test_the_demo_site_is_served_as_a_site_is(small_site: str) -> None:
    with urlopen(f"{small_site}/old") as answer:
        assert answer.url == f"{small_site}/guide/"
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    with urlopen(f"{small_site}/guide") as answer:
        assert answer.url == f"{small_site}/guide/"
    with pytest.raises(HTTPError, match="404") as caught:
        urlopen(f"{small_site}/../index.html")
    caught.value.close()
