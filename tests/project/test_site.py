"""The documentation as a site: every page is reached, no link is dead, nothing comes from another host."""

import importlib.util
import posixpath
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec
import pytest
import yaml

from sumi.cli.reference import PAGES
from tests.browsers import BROWSER, needs_browser
from tests.folder_site import FolderSite

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")
STYLE_ADDRESS = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)")
LOADED_BY_LINK = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect", "manifest"}

needs_generator = pytest.mark.skipif(
    importlib.util.find_spec("zensical") is None,
    reason="zensical is not installed; `make site` installs it",
)


def configuration() -> dict[str, object]:
    loaded = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def listed(nav: object) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    children = nav.values() if isinstance(nav, dict) else nav
    assert not isinstance(children, str | int)
    return [page for child in children for page in listed(child)]  # type: ignore[attr-defined]


def test_the_navigation_lists_every_page_once() -> None:
    """Except the decision records, which the page on the architecture lists."""
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert sorted(listed(configuration()["nav"])) == sorted(
        page for page in pages if not page.startswith("decisions/")
    )


def test_every_command_has_its_page_and_no_page_is_left_over() -> None:
    stored = {path.relative_to(DOCS).as_posix() for path in (DOCS / "reference" / "commands").iterdir()}
    assert stored == {name for name in PAGES if name.startswith("reference/commands/")}


def test_no_link_leaves_the_folder_that_becomes_the_site() -> None:
    for page in DOCS.rglob("*.md"):
        for target in LINK.findall(page.read_text(encoding="utf-8")):
            name = target.partition("#")[0]
            if name and not re.match(r"[a-z]+:", name):
                assert (page.parent / name).resolve().is_relative_to(DOCS), f"{page.name}: {target}"


# ── the built site ──────────────────────────────────────────────────────────────────────────────────────────


class BuiltPage(HTMLParser):
    """What one page loads, links to and can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self._is_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._is_style = tag == "style"
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if "src" in given:
            self.loads.append(given["src"])
        if tag == "link" and LOADED_BY_LINK & set(given.get("rel", "").split()):
            self.loads.append(given["href"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        self.loads += STYLE_ADDRESS.findall(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        if self._is_style:
            self.loads += STYLE_ADDRESS.findall(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    settings = {**configuration(), "docs_dir": "docs", "site_dir": "built"}
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    shutil.copytree(DOCS, folder / "docs")
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "built"


@pytest.fixture(scope="module")
def built(site: Path) -> dict[str, BuiltPage]:
    return {
        path.relative_to(site).as_posix(): BuiltPage(path.read_text(encoding="utf-8"))
        for path in site.rglob("*.html")
    }


@needs_generator
def test_every_page_is_built(built: dict[str, BuiltPage]) -> None:
    written = {path.relative_to(DOCS).with_suffix(".html").as_posix() for path in DOCS.rglob("*.md")}
    assert written <= set(built)


@needs_generator
def test_no_page_loads_anything_from_another_host(site: Path, built: dict[str, BuiltPage]) -> None:
    loaded = {address for page in built.values() for address in page.loads}
    assert any(address.endswith(".js") for address in loaded)
    assert {address for address in loaded if urlsplit(address).netloc} == set()
    for style in site.rglob("*.css"):
        assert STYLE_ADDRESS.findall(style.read_text(encoding="utf-8")) == [], style.name


@needs_generator
def test_links_and_anchors_of_the_built_pages_lead_somewhere(built: dict[str, BuiltPage], site: Path) -> None:
    dead = []
    for name, page in built.items():
        if name == "404.html":  # its links start at the root of a server
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), parts.path))
            path = path if parts.path else name
            there = path in built if path.endswith(".html") else (site / path).exists()
            if not there or (parts.fragment and unquote(parts.fragment) not in built[path].anchors):
                dead.append(f"{name}: {link}")
    assert dead == []


@needs_generator
def test_the_search_knows_every_page(site: Path) -> None:
    index = msgspec.json.decode((site / "search.json").read_bytes())
    found = {item["location"].partition("#")[0] for item in index["items"]}
    assert {path.relative_to(DOCS).with_suffix(".html").as_posix() for path in DOCS.rglob("*.md")} <= found


@needs_generator
@needs_browser
def test_a_browser_asks_no_other_host(site: Path) -> None:
    """Scripts could load more than the page names."""
    from playwright.sync_api import sync_playwright

    served = FolderSite(site)
    served.start()
    asked: list[str] = []
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=BROWSER)
            page = browser.new_page()
            page.on("request", lambda request: asked.append(request.url))
            page.goto(f"{served.url}/guides/mirror.html", wait_until="networkidle")
            browser.close()
    finally:
        served.stop()
    hosts = {parts.netloc for parts in map(urlsplit, asked) if parts.netloc}
    assert hosts == {urlsplit(served.url).netloc}
