"""Going about in the window: back to where one was, changes among what is new, half the width by zoom."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browsers import BROWSER, needs_browser
from tests.commands import RunSumi, SpawnSumi
from tests.folder_site import FolderSite
from tests.serve.browsing import looking_at
from tests.serve.conftest import Library
from tests.serve.made_jobs import make_mirror
from tests.serve.windows import OpenWindow, opened

pytestmark = needs_browser
expect.set_options(timeout=40_000)  # of a machine that does other things, too


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(BROWSER), args=["--no-sandbox"])
        yield found
        found.close()


def test_back_leads_to_where_one_was(browser: Browser, spawn_sumi: SpawnSumi, tmp_path: Path) -> None:
    make_mirror(tmp_path / "library", 1000)
    window = opened(spawn_sumi, "library", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    job = window.jobs()[0]["id"]
    with looking_at(browser, window) as sight:
        page = sight.page
        sight.go(f"/job/{job}/pages?flat=1")
        rows = page.get_by_role("region", name="pages")
        expect(page.get_by_role("link", name="Page 0", exact=True)).to_be_visible()
        for last in (199, 399, 599):
            rows.evaluate("(element, top) => element.scrollTo(0, top)", last * 44)
            expect(page.get_by_role("link", name=f"Page {last}", exact=True)).to_be_visible()
        page.get_by_role("link", name="Page 599", exact=True).click()
        expect(page.get_by_role("heading", name="Page 599", level=1)).to_be_visible()
        page.go_back()
        expect(page.get_by_role("link", name="Page 599", exact=True)).to_be_in_viewport()
        page.get_by_role("link", name="Jobs", exact=True).first.click()
        page.get_by_role("link", name="long.example").click()
        page.get_by_role("link", name="Pages").click()
        page.get_by_role("button", name="List").click()
        expect(page.get_by_role("link", name="Page 0", exact=True)).to_be_in_viewport()  # a new visit
        assert sight.troubles == []


def test_the_form_keeps_what_was_typed(browser: Browser, window: OpenWindow) -> None:
    with looking_at(browser, window) as sight:
        page = sight.page
        page.get_by_role("link", name="New job").click()
        page.locator("[name=url]").fill("https://a.example/")
        page.get_by_role("link", name="Changes").click()
        page.go_back()
        expect(page.locator("[name=url]")).to_have_value("https://a.example/")


def test_changes_are_found_among_new_pages(
    browser: Browser, spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    (tmp_path / "site").mkdir()
    site = FolderSite(tmp_path / "site")
    links = "".join(f'<a href="p{number}.html">{number}</a> ' for number in range(25))
    site.write("index.html", f"<p>Start. {links}")
    for number in range(25):
        site.write(f"p{number}.html", f"<p>Words of page {number}.", title=f"Page {number}")
    site.start()
    words = ("mirror", site.url, "-o", "library", "--rate-limit", "0", "--quiet")
    assert run_sumi(*words).returncode == 0
    site.write("p3.html", "<p>Other words.", title="Page 3")
    site.remove("p4.html")
    run_sumi(*words, "--update")
    site.stop()
    window = opened(spawn_sumi, "library", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    with looking_at(browser, window) as sight:
        page = sight.page
        sight.go("/changes")
        expect(page.get_by_role("link", name="Page 3", exact=True).first).to_be_visible()
        new = page.get_by_role("link", name="Page 17", exact=True)
        expect(new).to_be_hidden()
        page.get_by_text("26 pages added").click()
        expect(new).to_be_visible()
        assert sight.faults() == []
        page.get_by_role("button", name="Gone").click()
        expect(page.locator(".changes li")).to_have_count(1)
        page.locator(".changes a").click()
        page.go_back()
        expect(page.get_by_role("button", name="Gone")).to_have_attribute("aria-pressed", "true")
        page.get_by_role("button", name="Changed").click()
        expect(page.locator(".changes li")).to_have_count(1)
        expect(page.locator(".changes .kind")).to_have_text("changed")
        page.locator(".changes a").click()
        page.get_by_role("button", name="Side by side").click()
        old, new = page.locator(".line.minus"), page.locator(".line.plus")
        expect(old.filter(has_text="Words of page 3.").locator("mark").first).to_have_text("Words")
        expect(new.filter(has_text="Other words.").locator("mark").first).to_have_text("Other")
        beside = [each.bounding_box() for each in (old.last, new.last)]
        assert beside[0] is not None
        assert beside[1] is not None
        assert beside[0]["y"] == beside[1]["y"]
        page.go_back()
        page.get_by_role("button", name="Added").click()
        expect(page.locator(".changes li")).to_have_count(26)
        assert sight.troubles == []


def test_every_site_can_be_asked_also_without_a_hit(
    browser: Browser, window: OpenWindow, library: Library
) -> None:
    with looking_at(browser, window) as sight:
        sight.go("/search?q=hostile")
        host = library.site.url.split("/")[2]
        sites = sight.page.locator(".groups a", has_text=host)
        expect(sites).to_have_count(1)
        sites.click()
        expect(sight.page.get_by_role("link", name="All", exact=True)).to_be_visible()


@pytest.mark.parametrize("width", [400, 720, 900])
def test_words_of_the_frame_are_never_broken(
    browser: Browser, window: OpenWindow, library: Library, width: int
) -> None:
    """720 is a usual screen at 200 %."""
    job = window.jobs()[0]["id"]
    broken = """() => [...document.querySelectorAll("header nav a, .switch button, th")]
      .filter(each => each.checkVisibility() && each.textContent.trim())
      .filter(each => { const range = document.createRange(); range.selectNodeContents(each);
        return new Set([...range.getClientRects()].map(box => Math.round(box.bottom / 9))).size > 1; })
      .map(each => each.textContent)"""
    with looking_at(browser, window, width=width) as sight:
        for path in ("/", f"/job/{job}/hosts", f"/job/{job}/log", "/changes", f"/search?q={quote('words')}"):
            sight.go(path)
            expect(sight.page.get_by_role("heading", level=1)).to_be_visible()
            assert sight.page.evaluate(broken) == [], path
            assert sight.faults() == [], path


def test_what_a_search_finds_opens_whatever_job_has_it(
    spawn_sumi: SpawnSumi, run_sumi: RunSumi, tmp_path: Path
) -> None:
    """A crawl's folder is named after no host, and a page outside of a capture's bases is on another."""
    (tmp_path / "site").mkdir()
    site = FolderSite(tmp_path / "site")
    site.start()
    elsewhere = site.url.replace("127.0.0.1", "localhost")
    site.write("index.html", f'<p>Apricots begin here. <a href="{elsewhere}out.html">out</a>')
    site.write("out.html", "<p>Quinces are outside.")
    common = ("--allow-private", "--rate-limit", "100", "--quiet")
    assert run_sumi("run", site.url, "--unified", "--workspace", "library/work", *common).returncode == 0
    capture = ("capture", f"{site.url}index.html", "--external-hops", "1", "--captures", "library/captures")
    assert run_sumi(*capture, *common).returncode == 0
    site.stop()
    window = opened(spawn_sumi, "library", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    kinds = {job["id"]: job["kind"] for job in window.jobs()}
    told = window.get("/api/search?q=quinces").json
    assert [(page["url"], kinds[page["job"]]) for page in told["found"]] == [
        (f"{elsewhere}out.html", "capture")
    ]
    assert all(page["job"] in kinds for page in window.get("/api/search?q=apricots").json["found"])
    assert told["sites"] == [site.url.split("/")[2]]
