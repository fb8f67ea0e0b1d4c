"""What screens show when there is nothing, not yet anything, or too much: in a real Chromium."""

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Route, expect, sync_playwright

from tests.browsers import BROWSER, needs_browser
from tests.commands import SpawnSumi, wait_until
from tests.made_maps import Page, make_map
from tests.serve.browsing import looking_at
from tests.serve.conftest import Library
from tests.serve.made_jobs import make_mirror, url
from tests.serve.windows import OpenWindow, opened

pytestmark = needs_browser
expect.set_options(timeout=40_000)  # of a machine that does other things, too


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=str(BROWSER), args=["--no-sandbox"])
        yield found
        found.close()


def test_a_window_on_nothing_says_what_to_do(browser: Browser, spawn_sumi: SpawnSumi, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    window = opened(spawn_sumi, "empty", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    steps = {
        "/": "sumi mirror https://docs.example.org",
        "/changes": "sumi mirror URL --update",
        "/explain": "No jobs yet",
        "/search?q=anything": "or make one first: sumi mirror URL",
        "/job/000000000000": "This job is gone",
        "/page/000000000000?url=https%3A%2F%2Fa.example%2F": "There is no such job",
    }
    with looking_at(browser, window, theme="dark", width=360) as sight:
        for path, step in steps.items():
            sight.go(path)
            expect(sight.page.get_by_text(step).first).to_be_visible()
            assert sight.faults() == [], path
        assert sight.troubles == []


def test_a_job_without_pages_says_so_on_every_tab(
    browser: Browser, spawn_sumi: SpawnSumi, tmp_path: Path
) -> None:
    make_mirror(tmp_path / "library", 0)
    make_map(tmp_path / "library" / "web.db", [Page("https://a.example/")])
    window = opened(spawn_sumi, "library", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    jobs = {job["kind"]: job["id"] for job in window.jobs()}
    tabs = {
        "pages": "No pages yet",
        "pages?flat=1": "No page matches",
        "failures": "Nothing failed",
        "hosts": "No host has work left",
        "changes": "Nothing changed in this time",
        "log": "No events here",
        "": "Nothing was recorded in this time",
    }
    with looking_at(browser, window) as sight:
        for tab, words in tabs.items():
            sight.go(f"/job/{jobs['mirror']}/{tab}")
            expect(sight.page.get_by_text(words).first).to_be_visible()
            assert sight.faults() == [], tab
        sight.go(f"/job/{jobs['map']}/map")
        expect(sight.page.get_by_text("1 page, 0 links")).to_be_visible()
        assert sight.troubles == []


def _screens(window: OpenWindow, library: Library) -> list[str]:
    job, page = window.jobs()[0]["id"], quote(library.site.url, safe="")
    tabs = ("", "/pages", "/pages?flat=1", "/failures", "/hosts", "/changes", "/export", "/log")
    others = ("/", "/due", "/changes", f"/explain?url={page}", "/search?q=words", f"/page/{job}?url={page}")
    return [*(f"/job/{job}{tab}" for tab in tabs), *others]


def test_every_screen_says_that_it_waits_and_that_it_failed(
    browser: Browser, window: OpenWindow, library: Library
) -> None:
    """First no answer comes, then an error. Both are told, and what failed can be tried again."""
    works, waiting = False, True
    held: list[Route] = []

    def answered(route: Route) -> None:
        if works or "/api/session" in route.request.url:
            route.continue_()
        elif waiting:
            held.append(route)
        else:
            route.fulfill(status=500, json={"error": "The disk is on fire."})

    with looking_at(browser, window, theme="dark") as sight:
        sight.page.route("**/api/**", answered)
        for path in _screens(window, library):
            works, waiting = False, True
            sight.go(path)
            expect(sight.page.get_by_role("status").first).to_be_visible()
            waiting = False
            while held:
                held.pop().fulfill(status=500, json={"error": "The disk is on fire."})
            alert = sight.page.get_by_role("alert").first
            expect(alert).to_contain_text("The disk is on fire.")
            assert sight.faults() == [], path
            works = True
            again = alert.get_by_role("button", name="Try again")
            if again.count():
                again.click()
                expect(sight.page.get_by_text("The disk is on fire.")).to_have_count(0)


def test_a_hundred_thousand_rows_scroll_by_key(
    browser: Browser, spawn_sumi: SpawnSumi, tmp_path: Path
) -> None:
    make_mirror(tmp_path / "library", 100_000, "<i>Page</i> {}")
    window = opened(spawn_sumi, "library", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    job = window.jobs()[0]["id"]
    wait_until(window.process, lambda: bool(window.get(f"/api/jobs/{job}").json["discovered"] == 100_000))
    with looking_at(browser, window) as sight:
        asked: list[str] = []
        sight.page.on("request", lambda request: asked.append(request.url))
        sight.go(f"/job/{job}/pages?flat=1")
        page = sight.page
        expect(page.get_by_text("<i>Page</i> 0", exact=True)).to_be_visible()
        # As if the list had been scrolled for long: what is asked for begins after a key, however far it is.
        rows = page.get_by_role("region", name="pages")
        for _ in range(5):
            before = rows.evaluate("element => element.scrollHeight")
            rows.evaluate("element => element.scrollTo(0, element.scrollHeight)")
            page.wait_for_function(
                "before => document.querySelector('.rows').scrollHeight > before", arg=before
            )
        assert rows.locator(".row").count() < 120  # those in sight, of the thousand that were read
        assert len([each for each in asked if "after=" in each]) >= 5
        assert not any("offset" in each for each in asked)
        expect(page.get_by_text("<i>Page</i> 900", exact=True)).to_have_count(0)
        rows.evaluate("element => element.scrollTo(0, 900 * 44)")
        expect(page.get_by_text("<i>Page</i> 900", exact=True)).to_be_visible()
        assert page.locator("main i i").count() == 0
        page.get_by_label("Filter pages").fill("page-099999")
        expect(page.get_by_text("<i>Page</i> 99999", exact=True)).to_be_visible()
        assert sight.troubles == []
    last = window.get(f"/api/jobs/{job}/pages?after={quote(url(99_998), safe='')}").json
    assert [row["title"] for row in last["rows"]] == ["<i>Page</i> 99999"]
    assert last["next"] is None


def test_a_mistyped_address_leads_back(browser: Browser, window: OpenWindow) -> None:
    assert window.get("/nowhere/at/all").status == 404
    assert window.get("/api/nowhere").json == {"error": "There is no such address."}
    with looking_at(browser, window) as sight:
        sight.go("/nowhere/at/all")
        expect(sight.page.get_by_role("heading", name="There is no such page", level=1)).to_be_visible()
        assert sight.faults() == []
        sight.page.get_by_role("link", name="All jobs").last.click()
        expect(sight.page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()


def test_a_page_that_nobody_sees_follows_nothing(browser: Browser, window: OpenWindow) -> None:
    """A browser has six connections to one host: as many tabs in the background would stop the seventh."""
    hide = """hidden => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    with looking_at(browser, window) as sight:
        page = sight.page
        expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()
        expect(page.locator(".job")).to_have_count(1)
        with page.expect_event("requestfailed", lambda request: "/api/events" in request.url):
            page.evaluate(hide, True)
        with page.expect_response(lambda response: "/api/events" in response.url):
            page.evaluate(hide, False)


def test_a_window_that_is_opened_again_with_its_key_is_at_once_whole(
    browser: Browser, spawn_sumi: SpawnSumi, tmp_path: Path
) -> None:
    make_mirror(tmp_path / "library", 3)
    (tmp_path / "key").write_text("k" * 40)
    (tmp_path / "key").chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ("serve", "library", "--port", str(port), "--token-file", "key")
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache")}

    def start() -> OpenWindow:
        process = spawn_sumi(*words, env=env)
        wait_until(process, lambda: "Ctrl-C" in process.stderr.read_text())
        return OpenWindow(process, port, "k" * 40)

    window = start()
    with looking_at(browser, window) as sight:
        expect(sight.page.get_by_text("3 URLs")).to_be_visible()
        window.process.process.kill()
        window.process.process.wait()
        expect(sight.page.get_by_role("alert")).to_contain_text("Is sumi serve still running?")
        expect(sight.page.get_by_text("3 URLs")).to_be_visible()  # what was known stays
        start()
        expect(sight.page.get_by_role("alert")).to_have_count(0)
        assert sight.troubles == []
