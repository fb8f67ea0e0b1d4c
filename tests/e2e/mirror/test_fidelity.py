"""`sumi mirror --min-fidelity` keeps every page, names those that lost something, and then exits with 1."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.commands import FinishedSumi, RunSumi
from tests.threaded_server import ThreadedServer

WHOLE = "<title>Whole</title><main><h1>Whole</h1><p>Text.</p><a href=/deep.html>deep</a></main>"
# Nested deeper than the limit: kept as plain text.
DEEP = f"<title>Deep</title><h1>Deep</h1>{'<div>' * 600}Words."


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text(WHOLE)
    (folder / "deep.html").write_text(DEEP)
    with ThreadedServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def mirror(run_sumi: RunSumi, site: str, bar: str) -> FinishedSumi:
    return run_sumi("mirror", site, "--rate-limit", "0", "--json", "--min-fidelity", bar)


def pages_of(tmp_path: Path) -> dict[str, dict[str, Any]]:
    (manifest,) = tmp_path.glob("output/*/_manifest.json")
    return {page["title"]: page for page in msgspec.json.decode(manifest.read_bytes())["pages"]}


def test_pages_below_the_minimum_are_kept_and_named(run_sumi: RunSumi, site: str, tmp_path: Path) -> None:
    run = mirror(run_sumi, site, "0.5")
    summary = run.events[-1]
    assert (run.returncode, summary["status"], summary["below_fidelity"]) == (9, "partial", 1)
    assert summary["outcomes"]["captured"] == 2
    assert any(note.endswith("1 below 0.9, 1 below --min-fidelity 0.5") for note in summary["notes"])
    assert f"fidelity 0.000: {site}deep.html (structure: kept as plain text)" in summary["notes"]
    pages = pages_of(tmp_path)
    assert (pages["Whole"]["fidelity"], pages["Deep"]["fidelity"]) == (1.0, 0.0)
    assert pages["Deep"]["shortfalls"] == ["structure: kept as plain text"]
    assert "Words." in next(tmp_path.glob("output/*/deep*/index.md")).read_text()


def test_without_a_minimum_the_worst_pages_are_still_named(run_sumi: RunSumi, site: str) -> None:
    run = mirror(run_sumi, site, "0")
    summary = run.events[-1]
    assert (run.returncode, summary["status"], summary["below_fidelity"]) == (0, "complete", 0)
    assert any("deep.html" in note for note in summary["notes"])


def test_another_minimum_needs_no_new_fetch(run_sumi: RunSumi, site: str) -> None:
    assert mirror(run_sumi, site, "0").returncode == 0
    assert mirror(run_sumi, site, "0.5").returncode == 9


def test_status_applies_the_same_minimum(run_sumi: RunSumi, site: str) -> None:
    mirror(run_sumi, site, "0.5")
    assert run_sumi("status", "--json").events[-1]["state"] == "partial"
    mirror(run_sumi, site, "0")
    assert run_sumi("status", "--json").events[-1]["state"] == "complete"


@pytest.mark.parametrize("bar", ["1.01", "-0.1", "nan", "high"])
def test_a_minimum_that_is_no_share_is_refused(run_sumi: RunSumi, bar: str) -> None:
    run = run_sumi("mirror", "https://example.org/", f"--min-fidelity={bar}")
    assert run.returncode == 2
    assert "min-fidelity" in run.stderr
    assert "a number from 0 to 1" in run.stderr
