"""What was captured is found and read again: mirrors, captures, archives and maps, with any index or none."""

import asyncio
import os
import shutil
from pathlib import Path
from random import Random

import pytest

import sumi
from sumi.corpus.index_store import SearchIndex
from sumi.corpus.library import Library
from sumi.errors import UsageError
from tests.commands import FinishedSumi, RunSumi
from tests.e2e.capture.captures import FAST
from tests.e2e.pipeline.workspaces import make_workspace
from tests.folder_site import FolderSite, folder_site
from tests.made_maps import small_map
from tests.site import MakeSite

INDEX = Path(".sumi-search/index.sqlite")


def write_manual(site: FolderSite) -> None:
    names = {"sort.html": "Sorting", "tasks.html": "Tasks", "news.html": "News"}
    links = "".join(f'<a href="{name}">{title}</a>' for name, title in names.items())
    site.write("index.html", links, "Manual")
    site.write(
        "sort.html", "<p>Sorts a list.</p><h2>By key</h2><p>The key function of a list.</p>", "Sorting"
    )
    site.write("tasks.html", "<p>Run.</p><h2>Timeouts</h2><p>Cancels the task after a timeout.</p>", "Tasks")
    site.write("news.html", "<p>Timeouts are new.</p>", "News")


def search(run_sumi: RunSumi, *words: str) -> FinishedSumi:
    return run_sumi("search", *words, "--json")


def urls(done: FinishedSumi) -> list[str]:
    return [event["url"].rpartition("/")[2] for event in done.events]


def dumped(root: Path) -> list[tuple[object, ...]]:
    """Everything that a search can see, without the numbers of rows."""
    store = SearchIndex(root, readonly=True)
    pages = store.rows("SELECT url, title, sha256, text_sha256, tokens, mark FROM page ORDER BY url")
    parts = store.rows(
        "SELECT p.url, s.ord, s.anchor, s.trail, s.start, s.length, s.tokens FROM section s "
        "JOIN page p ON p.id = s.page ORDER BY p.url, s.ord"
    )
    words = store.rows("SELECT term, doc, cnt FROM page_terms WHERE term NOT GLOB 's[0-9]*' ORDER BY term")
    found = [
        store.rows(
            "SELECT p.url, s.ord FROM section_fts f JOIN section s ON s.id = f.rowid "
            "JOIN page p ON p.id = s.page WHERE section_fts MATCH ? ORDER BY 1, 2",
            (f'"{term}"',),
        )
        for term, _, _ in words
    ]
    store.close()
    return [*pages, *parts, *words, *map(tuple, found)]


def test_a_run_makes_a_search_possible_and_a_page_readable(tmp_path: Path, run_sumi: RunSumi) -> None:
    with folder_site(tmp_path / "site") as site:
        write_manual(site)
        assert run_sumi("mirror", site.url, *FAST).returncode == 0
        assert (tmp_path / "output" / INDEX).is_file()
        done = search(run_sumi, "cancel", "tasks", "after", "timeouts")
        assert urls(done)[0] == "tasks.html"
        assert done.stderr == ""
        (best, *_) = done.events[0]["sections"]
        assert (best["anchor"], best["trail"]) == ("timeouts", "Tasks › Timeouts")
        assert "Cancels the task after a timeout." in best["snippet"]
        part = run_sumi("read", f"{site.url}tasks.html#timeouts")
        assert part.stdout == "## Timeouts\n\nCancels the task after a timeout.\n"
        outline = run_sumi("read", f"{site.url}tasks.html".removeprefix("http://"), "--outline")
        assert "Timeouts  #timeouts" in outline.stdout
        shown = run_sumi("search", "cancel", "a", "task", "--limit", "1").stdout.splitlines()
        assert shown[0] == " 1. Tasks"
        assert shown[2].strip() == f"{site.url}tasks.html#timeouts"


def test_links_of_the_site_lead_to_places_that_can_be_read(tmp_path: Path, run_sumi: RunSumi) -> None:
    places = "".join(f"<dt id='calls.{n}'>{n}()</dt><dd>Calls {n}.</dd>" for n in ("run", "wait&see", "end"))
    ids = ("named-so", "calls.run", "calls.wait&amp;see", "calls.end")
    with folder_site(tmp_path / "site") as site:
        site.write("index.html", '<a href="calls.html">Calls</a>', "Manual")
        links = "".join(f'<p><a href="#{name}">{name}</a>' for name in ids)
        body = f"{links}<h2 id='named-so'>4.1 Calls</h2><dl>{places}</dl><h2>After</h2><p>Other.</p>"
        site.write("calls.html", body, "Calls")
        assert run_sumi("mirror", site.url, *FAST).returncode == 0
        page = f"{site.url}calls.html"
        whole = run_sumi("read", f"{page}#named-so").stdout
        assert "## 4.1 Calls" in whole
        assert "[calls.run]" not in whole
        assert "Calls run." in whole
        assert "Other." not in whole
        part = run_sumi("read", f"{page}#calls.wait%26see").stdout
        assert "Calls wait&see." in part
        assert "Calls end." in part
        assert "Calls run." not in part
        assert run_sumi("read", f"{page}#calls.none").returncode == 2


def test_an_update_leaves_the_index_that_a_new_build_makes(tmp_path: Path, run_sumi: RunSumi) -> None:
    random = Random(7)
    with folder_site(tmp_path / "site") as site:
        write_manual(site)
        names = [f"p{n}.html" for n in range(8)]
        for turn in range(3):
            for name in names:
                if random.random() < 0.6:
                    site.write(name, f"<p>turn {turn} {name}</p>" * random.randint(1, 3), f"{name} - Manual")
                elif (site.folder / name).is_file() and random.random() < 0.5:
                    site.remove(name)
            site.write("index.html", "".join(f'<a href="{n}">{n}</a>' for n in names), "Manual")
            run_sumi("mirror", site.url, *FAST, *(["--update"] if turn else []))
            kept = dumped(tmp_path / "output")
            assert run_sumi("index", "--rebuild").returncode == 0
            assert dumped(tmp_path / "output") == kept


@pytest.mark.parametrize("harm", ["missing", "damaged", "another version", "no index made", "damaged within"])
def test_an_index_is_made_again_when_it_has_to_be(tmp_path: Path, run_sumi: RunSumi, harm: str) -> None:
    with folder_site(tmp_path / "site") as site:
        write_manual(site)
        no_index = ["--no-index"] if harm == "no index made" else []
        assert run_sumi("mirror", site.url, *FAST, *no_index).returncode == 0
    index = tmp_path / "output" / INDEX
    assert index.is_file() != bool(no_index)
    if harm == "missing":
        index.unlink()
    elif harm == "damaged":
        index.write_bytes(b"no database at all" * 100)
    elif harm == "damaged within":
        data = bytearray(index.read_bytes())
        data[4096 * 2 :] = b"\x55" * (len(data) - 4096 * 2)
        index.write_bytes(data)
    elif harm == "another version":
        store = SearchIndex(tmp_path / "output")
        store.db.execute("PRAGMA user_version=999")
        store.close()
    done = search(run_sumi, "cancel task")
    assert urls(done)[0] == "tasks.html"
    assert ("another version" in done.stderr) == (harm == "another version")
    assert ("damaged" in done.stderr) == harm.startswith("damaged")
    assert search(run_sumi, "cancel task").stderr == ""


def test_a_failing_index_fails_no_run(tmp_path: Path, run_sumi: RunSumi) -> None:
    (tmp_path / "output").mkdir()
    (tmp_path / "elsewhere").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "output" / INDEX.parent)
    with folder_site(tmp_path / "site") as site:
        write_manual(site)
        done = run_sumi("mirror", site.url, *FAST)
    assert done.returncode == 0
    assert "the search index was not updated" in done.stdout + done.stderr
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_page_that_vanished_is_not_quoted(tmp_path: Path, run_sumi: RunSumi) -> None:
    with folder_site(tmp_path / "site") as site:
        write_manual(site)
        assert run_sumi("mirror", site.url, *FAST).returncode == 0
        file = tmp_path / "output" / site.home / "tasks" / "index.md"
        file.write_text(file.read_text() + "planted\n")
        done = search(run_sumi, "cancel task")
        assert (done.events[0]["text_missing"], done.events[0]["sections"][0]["snippet"]) == (True, [])
        read = run_sumi("read", f"{site.url}tasks.html")
        assert read.returncode == 2
        assert "is not what was captured" in read.stderr


def test_several_folders_of_several_kinds_are_one_library(
    tmp_path: Path, run_sumi: RunSumi, make_site: MakeSite
) -> None:
    with folder_site(tmp_path / "site") as site:
        write_manual(site)
        assert run_sumi("mirror", site.url, *FAST, "-o", "mirrors").returncode == 0
        assert run_sumi("capture", site.url, *FAST).returncode == 0
        assert run_sumi("capture", site.url, *FAST).returncode == 0  # the same pages: found once
        done = search(run_sumi, "cancel task", "--in", "captures")
        assert urls(done).count("tasks.html") == 1
        assert run_sumi("read", f"{site.url}tasks.html#timeouts", "--in", "captures").stdout.startswith(
            "## Timeouts"
        )
    workspace = make_workspace(tmp_path, make_site(pages=2, github=1), 1)
    assert run_sumi("run", "--config", "crawl.yaml", "--unified").returncode == 0
    found = asyncio.run(sumi.search("page", workspace.folder, limit=3))
    assert found
    part = asyncio.run(sumi.read(found[0].url, workspace.folder))
    assert part.text.strip()
    everything = search(
        run_sumi, "cancel task", "--in", "mirrors", "--in", "captures", "--in", str(workspace.folder)
    )
    assert urls(everything).count("tasks.html") == 1


def test_of_two_captures_of_a_page_the_newer_one_is_read(tmp_path: Path, run_sumi: RunSumi) -> None:
    with folder_site(tmp_path / "site") as site:
        for folder, words in (("b", "Of old."), ("a", "Of now.")):
            site.write("index.html", f"<p>{words}", "Page")
            assert run_sumi("mirror", site.url, *FAST, "-o", folder).returncode == 0
    for folders in (("a", "b"), ("b", "a")):
        places = [word for folder in folders for word in ("--in", folder)]
        assert "Of now." in run_sumi("read", site.url, *places).stdout


def test_a_folder_that_is_removed_is_no_longer_searched(tmp_path: Path, run_sumi: RunSumi) -> None:
    with folder_site(tmp_path / "site") as site:
        write_manual(site)
        for folder in ("one", "two"):
            assert run_sumi("mirror", site.url, *FAST, "-o", folder).returncode == 0

    async def sites() -> tuple[int, int]:
        library = await Library.open(tmp_path)
        try:
            before = len(library.sites())
            shutil.rmtree(tmp_path / "two")
            await library.refresh()
            return before, len(library.sites())
        finally:
            library.close()

    assert asyncio.run(sites()) == (2, 1)


def test_pages_of_a_map_are_found_by_title(tmp_path: Path) -> None:
    small_map(tmp_path)
    store_titles = asyncio.run(_titles(tmp_path))
    assert store_titles
    found = asyncio.run(sumi.search(f'"{store_titles[0]}"', tmp_path))
    assert store_titles[0] in {page.title for page in found}
    with pytest.raises(UsageError, match="keeps titles only"):
        asyncio.run(sumi.read(found[0].url, tmp_path))


async def _titles(folder: Path) -> list[str]:
    await sumi.index(folder)
    store = SearchIndex(folder, readonly=True)
    titles = [title for (title,) in store.rows("SELECT title FROM page WHERE title <> '' ORDER BY id")]
    store.close()
    return titles


def test_bad_questions_get_one_sentence_each(tmp_path: Path, run_sumi: RunSumi) -> None:
    (tmp_path / "empty").mkdir()
    done = run_sumi("search", "anything", "--in", "empty")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "holds nothing that was captured" in done.stderr
    assert "nearly every page" in run_sumi("search", "how", "do", "I").stderr
    with folder_site(tmp_path / "site") as site:
        write_manual(site)
        assert run_sumi("mirror", site.url, *FAST).returncode == 0
        nothing = run_sumi("search", "zyxwv")
        assert (nothing.returncode, nothing.stdout) == (1, "")
        assert "nothing found" in nothing.stderr
        assert "no captured site is called" in run_sumi("search", "task", "--site", "elsewhere").stderr
        assert "did you mean" in run_sumi("read", f"{site.url}x/tasks.html").stderr
        assert "nearest are timeouts" in run_sumi("read", f"{site.url}tasks.html#timeoust").stderr
        assert urls(search(run_sumi, "timeout", "-cancels")) == ["news.html"]
        assert urls(search(run_sumi, '"key function"')) == ["sort.html"]
