"""A map as a picture: every page has a place, ways are shortest, and thousands of points stay usable."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import expect, sync_playwright

from sumi.serve.map_layout import packed
from tests.browsers import BROWSER, needs_browser
from tests.commands import SpawnSumi
from tests.made_maps import Page, make_map
from tests.serve.browsing import looking_at
from tests.serve.windows import OpenWindow, opened


@given(st.lists(st.integers(1, 400), min_size=1, max_size=60))
def test_discs_do_not_overlap(sizes: list[int]) -> None:
    radii = sorted((math.sqrt(size) + 2 for size in sizes), reverse=True)
    discs = packed(radii)
    for number, one in enumerate(discs):
        for other in discs[:number]:
            assert math.hypot(one.x - other.x, one.y - other.y) >= one.r + other.r - 1e-6


def _made(folder: Path, pages: int) -> Path:
    """A ring of pages on a few domains, with a title that is markup."""
    made = [
        Page(f"https://d{number % 7}.example/{number}", title=f"<b>Page {number}</b>", depth=number % 4)
        for number in range(pages)
    ]
    ring = [(number, (number + 1) % pages) for number in range(pages)]
    folder.mkdir()
    return make_map(folder / "web.db", made, ring)


@pytest.fixture
def window(spawn_sumi: SpawnSumi, tmp_path: Path) -> OpenWindow:
    _made(tmp_path / "maps", 3000)
    return opened(spawn_sumi, "maps", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})


def test_positions_links_and_ways(window: OpenWindow, tmp_path: Path) -> None:
    job = window.jobs()[0]["id"]
    about = window.get(f"/api/map/{job}").json
    assert (about["nodes"], about["edges"], len(about["domains"])) == (3000, 3000, 7)
    assert len(window.get(f"/api/map/{job}/positions").body) == 8 * 3000
    assert len(window.get(f"/api/map/{job}/marks").body) == 4 * 3000
    assert len(window.get(f"/api/map/{job}/edges").body) == 8 * 3000
    near = window.get(f"/api/map/{job}/near?node=5").json
    assert (near["to"], near["from"], near["url"]) == ([6], [4], "https://d5.example/5")
    way = window.get(f"/api/map/{job}/path?from=2&to=5").json["path"]
    assert [step["id"] for step in way] == [2, 3, 4, 5]
    assert [page["id"] for page in window.get(f"/api/map/{job}/find?q=example/2999").json] == [2999]
    assert window.get(f"/api/map/{job}/near?node=3000").status == 404
    assert window.get(f"/api/map/{job}/nothing").status == 404


@needs_browser
def test_the_picture_is_drawn_and_finds_pages_and_ways(window: OpenWindow) -> None:
    job = window.jobs()[0]["id"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(BROWSER), args=["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader"]
        )
        with looking_at(browser, window) as sight:
            page = sight.page
            sight.go(f"/job/{job}/map")
            expect(page.get_by_text("3,000 pages, 3,000 links")).to_be_visible()
            expect(page.get_by_role("button", name="PNG")).to_be_enabled()
            inked = """() => {
              const canvas = document.querySelector("canvas"), copy = document.createElement("canvas");
              [copy.width, copy.height] = [canvas.width, canvas.height];
              const context = copy.getContext("2d");
              context.drawImage(canvas, 0, 0);
              return context.getImageData(0, 0, copy.width, copy.height).data.some((value) => value > 0);
            }"""
            page.wait_for_function(inked)
            for name, button in (("example/12", "Way from here"), ("example/14", "Way to here")):
                page.get_by_label("Find a page on the map").fill(name)
                page.locator(".found button", has_text=name).first.click()
                page.get_by_role("button", name=button).click()
            expect(page.get_by_text("2 links", exact=True)).to_be_visible()
            assert page.locator("main b b, main img").count() == 0  # titles are text
            with page.expect_download() as saved:
                page.get_by_role("button", name="PNG").click()
            assert Path(saved.value.path()).read_bytes().startswith(b"\x89PNG")
            assert sight.troubles == []
            assert sight.faults() == []
        browser.close()
