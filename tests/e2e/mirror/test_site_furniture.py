"""What a hand-made layout repeats on every page is taken off a mirror's pages, told, and stays off."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.commands import RunSumi
from tests.threaded_server import ThreadedServer

PAGES = 12


def page(n: int) -> str:
    links = " ".join(f"<a href=/p{at}.html>Part {at}</a>" for at in range(PAGES))
    return (
        f"<title>Part {n}</title><div class=top>Inkpot, the manual</div><div><h1>Part {n}</h1>"
        f"<p>Only part {n} tells about vessel {n}, and about the {n * 7} drops in it.</p>{links}</div>"
        "<div class=x>Was this page helpful? Tell us.</div><div class=y>Printed by hand in Turku.</div>"
    )


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    folder = tmp_path / "site"
    folder.mkdir()
    for n in range(PAGES):
        (folder / f"p{n}.html").write_text(page(n))
    with ThreadedServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/p0.html"
        server.shutdown()


def files(tmp_path: Path) -> dict[str, str]:
    return {path.parent.name: path.read_text() for path in tmp_path.glob("output/*/p*/index.md")}


def entries(tmp_path: Path) -> list[dict[str, Any]]:
    (manifest,) = tmp_path.glob("output/*/_manifest.json")
    pages: list[dict[str, Any]] = msgspec.json.decode(manifest.read_bytes())["pages"]
    return pages


def test_it_is_taken_off_and_told_and_stays_off(run_sumi: RunSumi, site: str, tmp_path: Path) -> None:
    command = ("mirror", site, "--rate-limit", "0", "--json")
    run = run_sumi(*command)
    assert run.returncode == 0, run.stderr
    first = files(tmp_path)
    assert len(first) == PAGES
    assert all("vessel" in text and "# Part" in text for text in first.values())
    assert not any("Turku" in text or "helpful" in text or "Inkpot" in text for text in first.values())
    assert all(entry["left_out"]["repeated"] > 10 and entry["junk"] < 0.7 for entry in entries(tmp_path))
    assert any(note.startswith("junk: median ") for note in run.events[-1]["notes"])

    assert run_sumi("rebuild").stderr.endswith(f"rebuilt {PAGES} pages: 0 changed, {PAGES} the same\n")
    assert run_sumi(*command, "--update").returncode == 0
    assert files(tmp_path) == first

    # As after a kill between the record of a page and its file; and a file that somebody edited.
    (killed,) = tmp_path.glob("output/*/p3*/index.md")
    (edited,) = tmp_path.glob("output/*/p4*/index.md")
    killed.write_text(first[killed.parent.name].replace("# Part 3", "Inkpot, the manual\n\n# Part 3"))
    edited.write_text("mine\n")
    assert run_sumi(*command).returncode == 0
    assert files(tmp_path) == first | {edited.parent.name: "mine\n"}


def test_it_can_be_kept_and_then_counts_as_junk(run_sumi: RunSumi, site: str, tmp_path: Path) -> None:
    command = ("mirror", site, "--rate-limit", "0", "--json", "--keep-furniture")
    run = run_sumi(*command, "--max-junk", "0.2")
    summary = run.events[-1]
    assert (run.returncode, summary["status"], summary["above_junk"]) == (9, "partial", PAGES)
    assert all("Turku" in text for text in files(tmp_path).values())
    assert all("repeated" not in entry.get("left_out", {}) for entry in entries(tmp_path))
    assert run_sumi("status", "--json").events[-1]["state"] == "partial"
    assert run_sumi(*command).returncode == 0
