"""The window in a real Chromium: every screen reads well, and nothing that was captured can act in it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from playwright.sync_api import Page as PlaywrightPage

from tests.browsers import BROWSER, needs_browser
from tests.commands import SpawnSumi
from tests.folder_site import FolderSite
from tests.serve.browsing import looking_at
from tests.serve.conftest import EVIL_TITLE, Library, write_site
from tests.serve.windows import OpenWindow, opened

pytestmark = needs_browser
expect.set_options(timeout=40_000)  # of a machine that does other things, too


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # Two names for this machine, as a site that rebinds its own would have.
    rules = "--host-resolver-rules=MAP rebound.test 127.0.0.1"
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(BROWSER), args=["--no-sandbox", rules])
        yield found
        found.close()


def _screens(window: OpenWindow, library: Library) -> dict[str, str]:
    """Each with a text that is on it only once it is complete."""
    job = window.jobs()[0]["id"]
    hostile = quote(f"{library.site.url}hostile.html", safe="")
    endless = quote(f"{library.site.url}endless.html", safe="")
    return {
        "/": library.site.home,
        f"/job/{job}": "each in exactly one outcome",
        f"/job/{job}/pages": "part/",
        f"/job/{job}/pages?flat=1": "Page 7",
        f"/job/{job}/failures": "missing.html",
        f"/job/{job}/hosts": "No host has work left",
        f"/job/{job}/changes?kind=added": EVIL_TITLE,
        f"/job/{job}/export": "a web archive that ReplayWeb.page replays in a browser",
        f"/job/{job}/log": "No events here",
        f"/page/{job}?url={hostile}&show=Markdown": EVIL_TITLE,
        f"/page/{job}?url={hostile}&show=Source": EVIL_TITLE,
        f"/page/{job}?url={hostile}&show=Facts": "SHA-256",
        f"/page/{job}?url={endless}&show=Facts": "A title without an end",
        "/changes?kind=added": EVIL_TITLE,
        f"/explain?url={hostile}": "How it was found",
        "/search?q=paragraph+hostile": "A paragraph of the hostile page",
        "/new": "Before you start",
        "/due": "Nothing is watched",
    }


@pytest.mark.parametrize(("theme", "width"), [("light", 360), ("dark", 1440), ("dark", 360), ("light", 2560)])
def test_every_screen_is_whole_in_both_themes_and_at_every_width(
    browser: Browser, window: OpenWindow, library: Library, theme: str, width: int
) -> None:
    with looking_at(browser, window, theme=theme, width=width) as sight:
        for path, text in _screens(window, library).items():
            sight.go(path)
            expect(sight.page.get_by_text(text).first).to_be_visible()
            assert sight.page.get_by_role("heading", level=1).count() == 1, path
            assert sight.faults() == [], path
            # Titles of hostile sites are text: they have made no element.
            assert sight.page.locator("main img, main script").count() == 0
        assert sight.troubles == []
        assert sight.strangers() == []


@pytest.mark.parametrize("form", ["Rendered", "Original", "Split"])
def test_a_captured_page_can_do_nothing(
    browser: Browser, window: OpenWindow, library: Library, form: str
) -> None:
    job = window.jobs()[0]["id"]
    url = quote(f"{library.site.url}hostile.html", safe="")
    with looking_at(browser, window) as sight:
        sight.go(f"/page/{job}?url={url}&show={form}")
        frame = sight.page.frame_locator("iframe")
        expect(frame.get_by_text("A paragraph of the hostile page")).to_be_visible()
        frame.get_by_role("link", name="a way out").click()
        for name in ("a script as a link", "send"):
            found = frame.get_by_text(name, exact=True)
            if found.count():
                found.first.click()
        sight.page.wait_for_timeout(300)  # in which nothing must happen
        assert sight.page.title() == f"{EVIL_TITLE} · Sumi"
        assert sight.troubles == []
        assert sight.strangers() == []
        assert len(sight.page.context.pages) == 1
    assert [answer for answer in library.site.answers if "leak" in answer.path] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_rendered_page_is_readable(
    browser: Browser, window: OpenWindow, library: Library, theme: str
) -> None:
    """Its ink is that of the theme, and so is its paper."""
    job = window.jobs()[0]["id"]
    with looking_at(browser, window, theme=theme) as sight:
        sight.go(f"/page/{job}?url={quote(library.site.url, safe='')}&show=Rendered")
        paragraph = sight.page.frame_locator("iframe").get_by_text("Start.").first
        expect(paragraph).to_be_visible()
        ink = paragraph.evaluate("element => getComputedStyle(element).color")
        paper = paragraph.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
        bright, dark = "rgb(255, 255, 255)", "rgb(0, 0, 0)"
        assert ink == (dark if theme == "light" else bright)
        assert paper == (bright if theme == "light" else "rgb(18, 18, 18)")


def test_a_captured_page_that_is_opened_by_itself_can_do_nothing(
    browser: Browser, window: OpenWindow, library: Library
) -> None:
    job = window.jobs()[0]["id"]
    url = quote(f"{library.site.url}hostile.html", safe="")
    with looking_at(browser, window) as sight:
        sight.go(f"/raw/original?job={job}&url={url}")
        expect(sight.page.get_by_text("A paragraph of the hostile page")).to_be_visible()
        assert sight.page.evaluate("self.origin") == "null"
        sight.page.wait_for_timeout(300)
        assert sight.troubles == []
        assert sight.strangers() == []


def test_another_site_can_neither_read_nor_change_nor_frame_it(
    browser: Browser, window: OpenWindow, library: Library
) -> None:
    job = window.jobs()[0]["id"]
    attack = """async ([base, job]) => {
      const tried = [];
      for (const [path, options] of [
        ["/api/jobs", {credentials: "include"}],
        [`/api/jobs/${job}/pause`, {method: "POST", credentials: "include", body: "{}"}],
        [`/api/jobs/${job}/pause`, {method: "POST", credentials: "include", mode: "no-cors", body: "{}"}],
      ]) {
        try { tried.push((await fetch(base + path, options)).type); } catch (error) { tried.push("refused"); }
      }
      const frame = document.createElement("iframe");
      frame.src = base + "/";
      document.body.append(frame);
      await new Promise((resolve) => (frame.onload = resolve));
      try { tried.push(frame.contentDocument === null ? "closed" : "open"); } catch { tried.push("closed"); }
      return tried;
    }"""
    with looking_at(browser, window) as sight:  # it has the cookie
        sight.page.goto(library.site.url)
        tried = sight.page.evaluate(attack, [window.url, job])
        assert tried == ["refused", "refused", "refused", "closed"]
        # The same server under a name that its owner pointed here: the same origin to itself.
        answer = sight.page.goto(f"http://rebound.test:{window.port}/?token={window.token}")
        assert answer is not None
        assert answer.status == 421
        status = "async () => (await fetch('/api/jobs')).status"
        assert sight.page.evaluate(status) == 421
    assert not (library.home / "pause.mirror").exists()


def test_it_works_by_keyboard(browser: Browser, window: OpenWindow, library: Library) -> None:
    with looking_at(browser, window) as sight:
        expect(sight.page.get_by_role("link", name=library.site.home)).to_be_visible()
        sight.page.keyboard.press("j")
        sight.page.keyboard.press("Enter")
        expect(sight.page.get_by_role("heading", name="Outcomes")).to_be_visible()
        sight.page.get_by_role("link", name="Pages").focus()
        sight.page.keyboard.press("Enter")
        sight.page.keyboard.press("/")
        sight.page.keyboard.type("Page 17")
        expect(sight.page.get_by_text("Page 17")).to_be_visible()
        expect(sight.page.get_by_text("Page 18")).to_have_count(0)
        sight.page.keyboard.press("Escape")
        sight.page.keyboard.press("g")
        expect(sight.page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()


def test_a_job_from_its_plan_to_its_changes(browser: Browser, spawn_sumi: SpawnSumi, tmp_path: Path) -> None:
    """Planned, started, paused, retuned, resumed, stopped, continued after the window was killed, updated."""
    (tmp_path / "site").mkdir()
    (tmp_path / "library").mkdir()
    site = FolderSite(tmp_path / "site")
    write_site(site)
    site.start()
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    home = tmp_path / "library" / site.home
    window = opened(spawn_sumi, "library", env=cache)
    with looking_at(browser, window) as sight:
        page = sight.page
        expect(page.get_by_text("No jobs yet")).to_be_visible()
        page.get_by_role("link", name="New job").click()
        page.locator("[name=url]").fill("ftp://example.org")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("alert")).to_contain_text("but must be")  # the command's own words
        page.locator("[name=url]").fill(site.url)
        page.get_by_label("Requests a second, per host").fill("4")
        expect(
            page.get_by_text(f"sumi mirror --rate-limit=4 --output {tmp_path}/library -- {site.url}")
        ).to_be_visible()
        page.get_by_role("button", name="Plan first").click()
        expect(page.get_by_text(f"Plan for {site.url}")).to_be_visible()
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("heading", name=site.home, level=1)).to_be_visible()
        expect(page.get_by_text("running", exact=True)).to_be_visible()
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_text("paused", exact=True)).to_be_visible()
        page.get_by_label("Requests at once").fill("3")
        page.get_by_label("Requests a second, per host").fill("0.5")  # it must not end meanwhile
        page.get_by_role("button", name="Apply").click()
        expect(page.get_by_text("now 3; over all hosts")).to_be_visible()
        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_text("running", exact=True)).to_be_visible()
        page.get_by_role("link", name="Log", exact=True).click()
        expect(page.get_by_text("retuned").first).to_be_visible()
    window.process.process.kill()
    window.process.process.wait()
    assert not (home / "_index.md").exists()  # the job goes on
    window = opened(spawn_sumi, "library", env=cache)
    with looking_at(browser, window) as sight:
        page = sight.page
        expect(page.get_by_text("running", exact=True)).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_text("interrupted", exact=True)).to_be_visible()
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("dialog").get_by_role("button", name="Continue").click()
        page.get_by_role("link", name=site.home).click()
        page.get_by_label("Requests a second, per host").fill("0")
        page.get_by_role("button", name="Apply").click()
        expect(page.get_by_text("partial", exact=True)).to_be_visible()
        job = window.jobs()[0]
        assert job["discovered"] == sum(job["outcomes"].values())
        site.write("part/page-3.html", "<p>Other words, on page 3.", title="Page 3")
        page.get_by_role("button", name="Update").click()
        page.get_by_role("dialog").get_by_role("button", name="Update").click()
        page.get_by_role("link", name="Changes").last.click()
        expect(page.get_by_text("changed", exact=True)).to_be_visible()
        page.get_by_role("link", name="Page 3", exact=True).first.click()
        expect(page.locator("ins").first).to_have_text("Other")
        _read_search_and_export(page, site)
        assert sight.troubles == []
        assert sight.strangers() == []
    site.stop()


def _read_search_and_export(page: PlaywrightPage, site: FolderSite) -> None:
    """The end of the story: a failure and its reason, a page, something that was said somewhere, a file."""
    page.goto(f"{page.url.partition('/page')[0]}/")
    page.get_by_role("link", name=re.compile(r"^\d+ failed$")).click()
    expect(page.get_by_text("404 or 410: the page does not exist.").first).to_be_visible()
    page.get_by_role("link", name=f"Explain {site.url}missing.html").click()
    expect(page.get_by_role("heading", name="How it was found")).to_be_visible()
    expect(page.get_by_role("link", name=site.url, exact=True)).to_be_visible()
    page.keyboard.press("/")  # the form of this screen
    page.keyboard.press("Escape")
    page.get_by_label("Search everything").fill('"words of page 7"')
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Page 7").click()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_text("Words of page 7.")).to_be_visible()
    page.get_by_role("link", name="Pages").click()
    page.get_by_role("link", name="Export", exact=True).click()
    page.get_by_role("button", name="Export jsonl").click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download").click()
    rows = [json.loads(line) for line in Path(saved.value.path()).read_text().splitlines()]
    assert {row["title"] for row in rows} >= {EVIL_TITLE, "Page 3", "Page 7"}
