"""Exports are jobs: whole or not at all, of one moment, stoppable, and nobody's files are lost."""

import asyncio
import errno
import json
import os
import signal
from pathlib import Path

import pytest

import sumi
from sumi.engine.control import Control
from sumi.engine.disk_watch import disk_space
from sumi.errors import Interrupted, StateLocked, StorageFailed, TooLittleSpace
from sumi.events import Event, Progress, RunStarted
from sumi.exchange import export as exporting
from sumi.exchange.result import new_file, new_folder
from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.exchange.conftest import FAST
from tests.folder_site import FolderSite


def left_behind(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if "sumi-part" in name or "sumi-lock" in name]


def test_the_python_api_tells_progress_and_result(mirrored: Path, tmp_path: Path) -> None:
    told: list[Event] = []
    output = tmp_path / "pages.jsonl"
    done = sumi.sync.export("jsonl", mirrored, output=output, listeners=[told.append])
    assert (done.written, done.missing, done.notes) == (6, 0, ())
    assert isinstance(told[0], RunStarted)
    assert told[0].pending == 6
    assert told[-1] == done


@pytest.mark.parametrize("name", ["wacz", "jsonl", "epub", "mkdocs"])
def test_a_stopped_export_leaves_nothing(mirrored: Path, tmp_path: Path, name: str) -> None:
    async def stopped() -> None:
        control = Control()
        control.stop("by the test")
        await sumi.export(name, mirrored, output=tmp_path / "result", control=control)

    with pytest.raises(Interrupted, match="nothing was written"):
        asyncio.run(stopped())
    assert not (tmp_path / "result").exists()
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("name", ["jsonl", "obsidian"])
def test_what_a_killed_export_left_is_replaced(mirrored: Path, tmp_path: Path, name: str) -> None:
    child = os.fork()
    if child == 0:
        place = tmp_path / "result"
        with new_file(place) if name == "jsonl" else new_folder(place) as half:
            half.write(b"half") if name == "jsonl" else half.write("half.md", b"half")  # type: ignore[call-overload, call-arg, arg-type]
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert left_behind(tmp_path)
    sumi.sync.export(name, mirrored, output=tmp_path / "result")
    assert left_behind(tmp_path) == []
    if name == "jsonl":
        assert len((tmp_path / "result").read_text().splitlines()) == 6
    else:
        assert not (tmp_path / "result" / "half.md").exists()


def test_two_exports_to_one_place_do_not_mix(tmp_path: Path) -> None:
    with new_file(tmp_path / "a") as file:
        file.write(b"first")
        with pytest.raises(StateLocked, match="another export"), new_file(tmp_path / "a"):
            pass
    assert (tmp_path / "a").read_bytes() == b"first"
    with new_folder(tmp_path / "b") as tree:
        tree.write("x.md", b"first")
        with pytest.raises(StateLocked, match="another export"), new_folder(tmp_path / "b"):
            pass
    assert (tmp_path / "b" / "x.md").read_bytes() == b"first"


def test_a_folder_is_replaced_only_if_it_is_as_it_was_left(
    run_sumi: RunSumi, mirrored: Path, tmp_path: Path
) -> None:
    vault = tmp_path / "vault"

    def export() -> str:
        return run_sumi("export", "obsidian", "-o", "vault").stderr

    export()
    (vault / ".obsidian").mkdir()
    (vault / ".obsidian" / "app.json").write_text("{}")
    assert "6 written" in export()
    assert (vault / ".obsidian" / "app.json").read_text() == "{}"
    (vault / "mine.md").write_text("my own note")
    assert "mine.md was not made by sumi export" in export()
    (vault / "mine.md").unlink()
    (vault / "api.md").write_text("my own words")
    assert "api.md was changed since its export" in export()
    assert (vault / "api.md").read_text() == "my own words"
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "letter.txt").write_text("precious")
    done = run_sumi("export", "mkdocs", "-o", "foreign")
    assert (done.returncode, "was not made by sumi export" in done.stderr) == (2, True)


def test_a_full_disk_is_told_before_and_during(
    mirrored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = disk_space(tmp_path)
    assert room is not None
    with monkeypatch.context() as patched:
        patched.setattr(exporting, "disk_space", lambda _: room._replace(free_bytes=1024))
        with pytest.raises(TooLittleSpace, match="it may take 0 MiB, and 0 MiB are free"):
            sumi.sync.export("jsonl", mirrored, output=tmp_path / "pages.jsonl")

    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sumi.exchange.result.os.fsync", fail)
    with pytest.raises(StorageFailed, match="no space left"):
        sumi.sync.export("jsonl", mirrored, output=tmp_path / "pages.jsonl")
    assert left_behind(tmp_path) == []
    assert not (tmp_path / "pages.jsonl").exists()


def test_the_export_of_a_running_update_has_the_texts_of_its_moment(
    site: FolderSite, mirrored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_sumi: RunSumi
) -> None:
    """While the pages are read, another run replaces a file: the history has the text that was listed."""
    file = mirrored / site.home / "api" / "index.md"
    assert "A [call]" in file.read_text()

    def update(*_: object) -> None:
        site.write("api.html", "<p>Quite another text, of a later moment.</p>", "API: all")
        run_sumi("mirror", site.url, *FAST, "--assets", "--rewrite-links", "--update")

    monkeypatch.setattr(exporting, "_refuse_if_too_large", update)  # called once the pages are listed
    done = sumi.sync.export("jsonl", mirrored, output=tmp_path / "pages.jsonl")
    assert done.missing == 0
    assert "Quite another text" in file.read_text()
    rows = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    (api,) = (row for row in rows if row["url"].endswith("api.html"))
    assert "A [call]" in api["text"]


def test_a_page_that_is_lost_is_named(
    run_sumi: RunSumi, site: FolderSite, mirrored: Path, tmp_path: Path
) -> None:
    run_sumi("mirror", site.url, *FAST, "-o", "bare", "--no-history")
    (tmp_path / "bare" / site.home / "api" / "index.md").unlink()
    done = run_sumi("export", "jsonl", "bare", "-o", "pages.jsonl")
    assert done.returncode == 1
    assert f"{site.url}api.html" in done.stderr
    assert len((tmp_path / "pages.jsonl").read_text().splitlines()) == 5


def test_ctrl_c_ends_an_export_cleanly(spawn_sumi: SpawnSumi, mirrored: Path, tmp_path: Path) -> None:
    running = spawn_sumi("export", "wacz", "site.warc.gz", "-o", "out.wacz", "--json")
    wait_until(running, lambda: bool(running.events) or running.process.poll() is not None)
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(60) in (0, 3)
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("doc",), "there is no format 'doc'; there are wacz, jsonl"),
        (("jsonl", "nowhere"), "nowhere does not exist"),
        (("jsonl", "site"), "no mirror, capture or crawl is in site"),
        (("epub", "--sections"), "--sections means nothing to epub; it is for jsonl, parquet"),
        (("markdown", "--max-tokens", "10"), "at least 6,000 tokens"),
        (("jsonl", "site.warc.gz"), "only wacz is made of WARC files"),
        (("wacz", "site.warc.gz", "-o", "site.warc.gz"), "is one of the files to read"),
        (("jsonl", "-o", "output"), "output is a folder, but this format writes one file"),
        (("jsonl", "--since", "soon"), "'soon' is no time"),
    ],
)
def test_wrong_words_get_a_sentence(
    run_sumi: RunSumi, mirrored: Path, words: tuple[str, ...], said: str
) -> None:
    done = run_sumi("export", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_progress_is_told_while_it_works(
    mirrored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "_PROGRESS_SECONDS", 0.0)
    told: list[Event] = []
    sumi.sync.export("jsonl", mirrored, output=tmp_path / "pages.jsonl", listeners=[told.append])
    done = [event.done for event in told if isinstance(event, Progress)]
    assert done == [1, 2, 3, 4, 5, 6]
