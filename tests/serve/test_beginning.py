"""Crawls and maps from the form for a new job, decisions about a map, and what is due: in a real Chromium,
and each the same as by the command line that the page shows."""

import json
import os
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browsers import BROWSER, needs_browser
from tests.commands import RunSumi, SpawnSumi, wait_until
from tests.folder_site import FolderSite
from tests.serve.browsing import looking_at
from tests.serve.windows import OpenWindow, opened

pytestmark = needs_browser
expect.set_options(timeout=40_000)  # of a machine that does other things, too


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(BROWSER), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FolderSite]:
    """Its pages link to another domain, whose title is hostile."""
    (tmp_path / "site").mkdir()
    (tmp_path / "library").mkdir()
    made = FolderSite(tmp_path / "site")
    made.start()
    try:
        elsewhere = made.url.replace("127.0.0.1", "localhost")
        made.write("index.html", f'<p>Start. <a href="a.html">a</a> <a href="{elsewhere}b.html">b</a>')
        made.write("a.html", f'<p>Also <a href="{elsewhere}b.html">there</a>', title="<b>Page A</b>")
        yield made
    finally:
        made.stop()


def _window(spawn: SpawnSumi, folder: Path, *more: str) -> OpenWindow:
    return opened(spawn, "library", *more, env={"XDG_CACHE_HOME": str(folder / "cache")})


def _line(page: Page) -> list[str]:
    """The words of the command that is shown first, without ``sumi``."""
    return shlex.split(page.locator(".command code").first.inner_text())[1:]


def test_a_crawl_is_begun_stopped_continued_and_repeated(
    browser: Browser, spawn_sumi: SpawnSumi, run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    window = _window(spawn_sumi, tmp_path)
    workspace = tmp_path / "library" / f"crawl-{site.home}"
    for number in range(30):
        site.write(f"p{number}.html", "<p>Words.")
    site.write("index.html", "".join(f'<a href="p{number}.html">{number}</a>' for number in range(30)))
    with looking_at(browser, window) as sight:
        page = sight.page
        sight.go("/new")
        page.get_by_label("Kind").select_option("crawl")
        page.locator("[name=url]").fill("ftp://example.org")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("alert")).to_contain_text("but must be an http")  # the command's own words
        page.locator("[name=url]").fill(site.url)
        page.get_by_label("Requests a second, per host").fill("50")
        page.get_by_label("No URLs that match").fill(".*p7.*")
        page.get_by_role("button", name="Plan first").click()
        expect(page.get_by_text(f"Plan for {site.url}")).to_be_visible()
        page.get_by_label("Requests a second, per host").fill("0.5")
        given = ["--rate-limit=0.5", "--deny-pattern=.*p7.*", "--workspace", str(workspace), "--", site.url]
        expect(page.get_by_text(shlex.join(["sumi", "run", "--unified", *given]))).to_be_visible()
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("heading", name=f"crawl-{site.home}/frontier", level=1)).to_be_visible()
        page.get_by_role("button", name="Stop", exact=True).click()
        expect(page.get_by_text("interrupted", exact=True)).to_be_visible()
        page.get_by_role("button", name="Continue").click()
        assert _line(page) == ["run", "--unified", "--config", str(workspace / "crawl.yaml")]
        page.get_by_role("dialog").get_by_role("button", name="Continue").click()
        page.get_by_label("Requests a second, per host").fill("1000")
        page.get_by_role("button", name="Apply").click()
        expect(page.get_by_text("complete", exact=True)).to_be_visible()
        page.get_by_role("link", name="Log", exact=True).click()
        expect(page.get_by_text("retuned").first).to_be_visible()  # of both runs: one log
        site.answers.clear()
        page.get_by_role("button", name="Update").click()
        assert _line(page) == ["run", "--unified", "--again", "--config", str(workspace / "crawl.yaml")]
        page.get_by_role("dialog").get_by_role("button", name="Update").click()
        wait_until(window.process, lambda: any(each.path == "/p3.html" for each in site.answers))
        page.get_by_role("button", name="Stop at once").click()
        expect(page.get_by_role("button", name="Update")).to_be_visible()
        assert sight.troubles == []
    told = json.loads(run_sumi("status", str(workspace), "--json").stdout)
    counts = {name: count for name, count in told["outcomes"].items() if count}
    # What is shown may be of a moment before the process ended, until the job has been read again.
    wait_until(window.process, lambda: window.jobs()[0]["outcomes"] == counts)
    (job,) = window.jobs()
    assert job["outcomes"]["excluded"] == 1  # p7
    assert (job["state"], job["discovered"]) == (told["state"], told["discovered"])


def test_a_map_is_begun_reviewed_and_obeys(
    browser: Browser, spawn_sumi: SpawnSumi, run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    window = _window(spawn_sumi, tmp_path)
    folder = tmp_path / "library" / f"map-{site.home}"
    with looking_at(browser, window) as sight:
        page = sight.page
        sight.go("/new")
        page.get_by_label("Kind").select_option("map")
        expect(page.get_by_role("button", name="Plan first")).to_have_count(0)
        page.locator("[name=url]").fill("nowhere")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("alert")).to_contain_text("is no domain such as example.org")
        assert list((tmp_path / "library").iterdir()) == []
        page.locator("[name=url]").fill(site.url)
        page.get_by_label("Milliseconds between requests").fill("100")
        page.get_by_label("How the site's owner can reach you").fill("me@example.org")
        expect(page.get_by_text("--contact-email=me@example.org")).to_be_visible()
        words = _line(page)
        page.locator("[name=url]").press("Enter")
        expect(page.get_by_role("heading", name=f"map-{site.home}/map.db", level=1)).to_be_visible()
        expect(page.get_by_text("limited", exact=True)).to_be_visible()
        assert words == [
            *("map", "--minimum-time-on-page=100", "--contact-email=me@example.org"),
            *("--output", str(folder), "--", site.url),
        ]
        page.get_by_role("link", name="Review").click()
        expect(page.get_by_text("linked from 1 domain, 2 pages")).to_be_visible()
        expect(page.get_by_role("link", name="<b>Page A</b>")).to_be_visible()
        assert sight.faults() == []
        config = str(folder / "map.toml")
        (undecided,) = run_sumi("map", "review", "--json", *_line(page)[2:]).stdout.splitlines()
        assert json.loads(undecided)["domain"] == "localhost"
        page.get_by_role("button", name="In: localhost").press("Enter")
        page.get_by_label("Why").fill("it's near")
        shown = page.get_by_text("sumi map review --in=localhost")
        expect(shown).to_contain_text("near")
        assert shlex.split(shown.inner_text())[1:] == [
            *("map", "review", "--in=localhost", "--why=it's near", "--", config),
        ]
        page.get_by_role("button", name="Decide", exact=True).click()
        expect(page.get_by_text("Nothing is undecided")).to_be_visible()
        expect(page.get_by_text("it's near")).to_be_visible()
        assert run_sumi("map", "review", config, "--json").stdout == ""
        (made,) = map(json.loads, (folder / "map.decisions.jsonl").read_text().splitlines())
        assert (made["domain"], made["choice"], made["why"]) == ("localhost", "in", "it's near")
        assert "quality      localhost" in run_sumi("map", config, "--dry-run").stdout
        page.get_by_role("button", name="Update").click()
        expect(page.get_by_role("dialog").get_by_text(f"sumi map --update -- {config}")).to_be_visible()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Take back: localhost").click()
        page.get_by_role("button", name="Decide", exact=True).click()
        expect(page.get_by_text("linked from 1 domain, 2 pages")).to_be_visible()
        assert sight.troubles == []
        assert sight.strangers() == []


def test_a_domain_of_the_configuration_is_not_decided_here(
    window_on_map: OpenWindow,
) -> None:
    """The command refuses it in its own words, and records nothing."""
    (job,) = window_on_map.jobs()
    address = f"/api/map/{job['id']}/review"
    for choices, status in (({"127.0.0.1": "in"}, 422), ({"a.org": "perhaps"}, 400), ({}, 422)):
        answer = window_on_map.post(address, {"choices": choices})
        assert answer.status == status, answer.body
    assert (
        b"decided in the configuration file"
        in window_on_map.post(address, {"choices": {"127.0.0.1": "in"}}).body
    )
    assert window_on_map.get(address).json["decisions"] == []


@pytest.fixture
def window_on_map(spawn_sumi: SpawnSumi, run_sumi: RunSumi, site: FolderSite, tmp_path: Path) -> OpenWindow:
    run_sumi("map", site.url, "-o", "library/map", "--minimum-time-on-page", "100", "--quiet")
    return _window(spawn_sumi, tmp_path)


def test_a_map_whose_configuration_is_gone_says_so(
    browser: Browser, window_on_map: OpenWindow, tmp_path: Path
) -> None:
    (job,) = window_on_map.jobs()
    (tmp_path / "library" / "map" / "map.toml").unlink()
    with looking_at(browser, window_on_map, theme="dark", width=360) as sight:
        sight.go(f"/job/{job['id']}/review")
        expect(sight.page.get_by_role("alert")).to_contain_text("run its command again in a terminal")
        sight.page.get_by_role("button", name="Update").click()
        expect(sight.page.get_by_role("dialog")).to_contain_text("run its command again in a terminal")
        sight.page.keyboard.press("Escape")
        assert sight.faults() == []


_NIGHTLY = """\
[[job]]
name = "manual"
command = "mirror {url} -o library --rate-limit 0"
every = "1d"

[[job]]
name = "broken"
command = "mirror ftp://example.org -o library"
cron = "0 4 * * *"
"""


def test_what_is_due_is_what_sumi_watch_says(
    browser: Browser, spawn_sumi: SpawnSumi, run_sumi: RunSumi, site: FolderSite, tmp_path: Path
) -> None:
    (tmp_path / "library" / "nightly.toml").write_text(_NIGHTLY.format(url=site.url))
    window = _window(spawn_sumi, tmp_path)
    with looking_at(browser, window, theme="dark", width=360) as sight:
        page = sight.page
        sight.go("/due")
        expect(page.get_by_text("Nothing is watched")).to_be_visible()  # it never ran
        assert sight.faults() == []
        # Its broken job was due at four in the night before.
        assert run_sumi("watch", "library/nightly.toml", "--once").returncode == 0
        record = tmp_path / "library" / "nightly.watch" / "record.json"
        runs = json.loads(record.read_text())
        runs["broken"]["due"] -= 86_400 * 2
        record.write_text(json.dumps(runs))
        assert run_sumi("watch", "library/nightly.toml", "--once").returncode == 2
        expect(page.get_by_text("nobody watches")).to_be_visible()
        words = shlex.split(page.get_by_text("sumi watch status").inner_text())[1:]
        told = {one["name"]: one for one in map(json.loads, run_sumi(*words, "--json").stdout.splitlines())}
        shown = {
            one["status"]["name"]: one["status"]
            for file in window.get("/api/due").json["files"]
            for one in file["jobs"]
        }
        assert shown == told
        assert (told["manual"]["code"], told["broken"]["code"]) == (0, 2)
        expect(page.get_by_text("exit code 2")).to_be_visible()
        page.get_by_text("What it said last").last.click()
        expect(page.get_by_text("but must be an http")).to_be_visible()
        expect(page.get_by_text("due in ").first).to_be_visible()
        assert sight.faults() == []
        watcher = spawn_sumi("watch", "library/nightly.toml")
        expect(page.get_by_text("watched by process")).to_be_visible()
        page.get_by_role("link", name="manual").click()
        expect(page.get_by_role("heading", name=site.home, level=1)).to_be_visible()
        sight.go("/")
        expect(page.get_by_text("Due next")).to_be_visible()
        assert sight.faults() == []
        os.kill(watcher.process.pid, signal.SIGTERM)
        watcher.process.wait()
        (tmp_path / "library" / "nightly.toml").write_text("[[job]]\nname = 3\n")
        sight.go("/due")
        expect(page.get_by_role("alert")).to_contain_text("nightly.toml")
        assert sight.troubles == []
