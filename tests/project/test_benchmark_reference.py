"""The bare loop that Sumi is measured against does the whole job; outputs stay until all runs are over."""

import gzip
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from subprocess import PIPE
from threading import Thread

import pytest
import zstandard

from benchmarks.measuring import memory_of_tree
from benchmarks.outputs import kept_outputs
from benchmarks.peers.contenders import loop_pages
from tests.threaded_server import ThreadedServer

PAGES = {
    "index.html": "<a href=a.html>a</a><a href=deep/b.html#x>b</a><a href=gone.html>g</a><a href=a.txt>t</a>",
    "a.html": "<nav>about</nav><main><h1>Apples</h1></main><a href='http://[bad'>x</a>",
    "deep/b.html": "<h1>Pears</h1><a href=../index.html>up</a><a href=http://other.example/c.html>out</a>",
}
ALL = {"/index.html", "/a.html", "/deep/b.html"}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[str]:
    root = tmp_path / "site"
    with ThreadedServer(("127.0.0.1", 0), partial(Quiet, directory=str(root))) as server:
        origin = f"http://127.0.0.1:{server.server_port}"
        listed = "".join(f"<loc>{origin}{path}</loc>" for path in sorted(ALL))
        for name, html in {**PAGES, "list.xml": listed}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(gzip.compress(html.encode()))
        serving = Thread(target=server.serve_forever)
        serving.start()
        yield origin
        server.shutdown()
        serving.join()


def loop(origin: str, output: Path, *more: str) -> None:
    command = [sys.executable, "-m", "benchmarks.bare_loop", origin, str(output), *more]
    subprocess.run(command, check=True, timeout=60)


def test_one_process_finds_every_page_and_keeps_it_with_its_links(origin: str, tmp_path: Path) -> None:
    output = tmp_path / "output"
    loop(origin, output)
    assert loop_pages(output) == ALL
    with closing(sqlite3.connect(output / "part-0.db")) as db:
        query = "SELECT body, links FROM pages WHERE url = ?"
        body, links = db.execute(query, [f"{origin}/deep/b.html"]).fetchone()
    assert zstandard.ZstdDecompressor().decompress(body).decode() == PAGES["deep/b.html"]
    assert set(links.split()) == {f"{origin}/index.html", "http://other.example/c.html"}
    markdown = {file.parent.name: file.read_text() for file in output.rglob("index.md")}
    assert markdown.keys() == {"index", "a", "b"}
    assert "# Apples" in markdown["a"]
    assert "about" not in markdown["a"]


def test_two_processes_share_a_list(origin: str, tmp_path: Path) -> None:
    output = tmp_path / "output"
    loop(origin, output, "--raw", "--list", "/list.xml", "--processes", "2")
    assert loop_pages(output) == ALL
    assert len(list(output.glob("part-*.db"))) == 2
    assert not list(output.rglob("*.md"))


def test_outputs_stay_until_all_runs_are_over(tmp_path: Path) -> None:
    with kept_outputs(tmp_path) as outputs:
        first, second = outputs.fresh(), outputs.fresh()
        (first / "page").touch()
        (second / "page").touch()
        assert first != second
        assert (first / "page").exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_memory_of_a_process_is_seen() -> None:
    code = "held = bytearray(b'x') * 50_000_000; print('held', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        assert memory_of_tree(child.pid) > 50
        child.communicate("\n")
