"""One page becomes Markdown without a crawl: from a file, from memory, standard input or the web."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sumi
from tests.commands import RunSumi
from tests.folder_site import FolderSite, folder_site

PAGE = """<!doctype html><html lang="en"><head><title>Ink</title><meta name="description" content="On ink.">
</head><body><nav><a href="/">Home</a></nav><main><h1>Ink</h1><p>Made of soot, as <a href="soot.html">soot</a>
is everywhere.</p><p><img src="stone.png" alt="A stone"></p></main>
<footer>Printed in 1890</footer></body></html>"""
FAST = ("--rate-limit", "0", "--allow-private")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    file = tmp_path / "ink page.html"
    file.write_text(PAGE, encoding="utf-8")
    return file


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    with folder_site(tmp_path / "site") as site:
        site.write("ink.html", PAGE)
        site.write("secret.html", PAGE)
        site.write("robots.txt", "User-agent: *\nDisallow: /secret.html\n")
        yield site


def test_a_file_with_links_to_where_it_was(run_sumi: RunSumi, page: Path) -> None:
    ended = run_sumi("convert", str(page), "--base-url", "https://ink.example/guide/ink.html")
    assert ended.returncode == 0
    assert ended.stdout.startswith("# Ink\n\nMade of soot, as [soot](https://ink.example/guide/soot.html)")
    assert "![A stone](https://ink.example/guide/stone.png)" in ended.stdout
    assert "Home" not in ended.stdout


def test_links_of_a_file_alone_lead_to_files(run_sumi: RunSumi, page: Path) -> None:
    markdown = run_sumi("convert", str(page)).stdout
    assert f"(file://{page.parent}/soot.html)" in markdown
    assert ".invalid" not in markdown


def test_a_saved_page_says_itself_where_it_was() -> None:
    made = sumi.convert(PAGE.replace("<head>", '<head><link rel="canonical" href="https://ink.example/a/b">'))
    assert "https://ink.example/a/soot.html" in made.markdown
    assert made.url == "https://ink.example/a/b"


def test_metadata_comes_first_where_it_is_asked_for(run_sumi: RunSumi, page: Path) -> None:
    lines = run_sumi("convert", str(page), "--metadata").stdout.splitlines()
    assert lines[:6] == [
        "---",
        'title: "Ink"',
        'description: "On ink."',
        'language: "en"',
        'fidelity: "1"',
        "---",
    ]


def test_what_is_left_out_is_told_in_order(run_sumi: RunSumi, page: Path) -> None:
    told = run_sumi("convert", str(page), "--explain").stdout
    assert told.index("landmark, 1 words, nav") < told.index("landmark, 3 words, footer")
    assert "Printed in 1890" in told
    pieces = sumi.convert(page, explain=True).pieces
    assert [piece.text for piece in pieces] == ["Home", "Printed in 1890"]


def test_standard_input_and_json(page: Path) -> None:
    command = [sys.executable, "-m", "sumi", "convert", "-", "--json"]
    ended = subprocess.run(command, input=page.read_bytes(), capture_output=True, check=True)
    made = json.loads(ended.stdout)
    assert (made["title"], made["fidelity"]) == ("Ink", 1.0)
    assert made["markdown"].startswith("# Ink\n")


def test_a_url_is_fetched_politely(run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> None:
    ended = run_sumi("convert", f"{site.url}ink.html", *FAST, "-o", str(tmp_path / "ink.md"))
    assert ended.returncode == 0
    assert f"({site.url}soot.html)" in (tmp_path / "ink.md").read_text(encoding="utf-8")
    assert [answer.path for answer in site.answers] == ["/robots.txt", "/ink.html"]
    refused = run_sumi("convert", f"{site.url}secret.html", *FAST)
    assert refused.returncode == 1
    assert "robots_denied" in refused.stderr
    missing = run_sumi("convert", f"{site.url}none.html", *FAST)
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "not_found" in missing.stderr


def test_a_page_that_scripts_fill_says_so(run_sumi: RunSumi, tmp_path: Path) -> None:
    shell = tmp_path / "shell.html"
    shell.write_text('<!doctype html><body><div id="app"></div><script src="app.js"></script></body>')
    ended = run_sumi("convert", str(shell))
    assert ended.returncode == 0
    assert "--render auto" in ended.stderr


@pytest.mark.parametrize("arguments", [("none.html",), ("x\0y",), ("page.html", "--base-url", "guide/")])
def test_bad_input_is_a_sentence(run_sumi: RunSumi, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    if "\0" in arguments[0]:
        with pytest.raises(sumi.SumiError, match="not the name of a file"):
            sumi.convert(arguments[0])
        return
    ended = run_sumi("convert", *arguments)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr


def test_what_is_no_page_is_refused(run_sumi: RunSumi, tmp_path: Path) -> None:
    (tmp_path / "book.html").write_bytes(b"%PDF-1.7 and more")
    ended = run_sumi("convert", str(tmp_path / "book.html"))
    assert ended.returncode == 1
    assert "PDF" in ended.stderr


def test_nothing_of_the_engine_is_loaded_for_a_file(page: Path) -> None:
    code = (
        "import sys, sumi; from sumi.cli.main import main; main(['convert', sys.argv[1]]);"
        "loaded = [name for name in sys.modules if name.startswith(('sumi.engine', 'sumi.fetch', "
        "'sumi.state', 'sumi.workers', 'sumi.assembly', 'pycurl', 'uvloop'))];"
        "sys.exit(repr(loaded) if loaded else 0)"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(page)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_a_url_within_an_event_loop_is_refused_with_advice() -> None:
    async def main() -> None:
        sumi.convert("https://ink.example/")

    with pytest.raises(sumi.SumiError, match="to_thread"):
        asyncio.run(main())


@given(st.binary(max_size=400))
def test_any_bytes_are_a_page_or_a_sentence(body: bytes) -> None:
    try:
        made = sumi.convert(body, explain=True)
    except sumi.SumiError:
        return
    assert isinstance(made.markdown, str)
