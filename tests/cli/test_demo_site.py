"""The demo site is complete: every link works except the one that is dead on purpose."""

from collections.abc import Iterator
from importlib.resources.abc import Traversable
from urllib.parse import urljoin
from xml.etree import ElementTree as ET

from sumi.demo_site import files
from tests.site.asking import Hrefs

DEAD = "/guide/themes.html"
DENIED = "/drafts/roadmap.html"


def _walk(folder: Traversable, prefix: str = "/") -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".html"):
            yield f"{prefix}{entry.name}".removesuffix("index.html"), entry.read_bytes()


PAGES = dict(_walk(files()))
REDIRECTS = dict(line.split() for line in files().joinpath("_redirects").read_text().splitlines())


def _targets(path: str) -> set[str]:
    joined = (urljoin(f"http://demo{path}", href) for href in Hrefs(PAGES[path]).found)
    return {url.partition("#")[0].removeprefix("http://demo") for url in joined}


def test_there_is_one_dead_link() -> None:
    linked = set().union(*map(_targets, PAGES))
    assert linked - PAGES.keys() - REDIRECTS.keys() == {DEAD}


def test_every_page_is_reached_from_the_front_page() -> None:
    reached, queue = {"/"}, ["/"]
    while queue:
        fresh = {REDIRECTS.get(target, target) for target in _targets(queue.pop())} - reached - {DEAD}
        reached |= fresh
        queue.extend(fresh)
    assert reached == PAGES.keys()


def test_the_moved_page_is_linked_and_its_target_exists() -> None:
    assert REDIRECTS.keys().isdisjoint(PAGES)
    assert set(REDIRECTS.values()) <= PAGES.keys()
    assert any(REDIRECTS.keys() & _targets(path) for path in PAGES)


def test_the_sitemap_lists_every_page_and_the_moved_one() -> None:
    tree = ET.fromstring(files().joinpath("sitemap.xml").read_text())
    listed = [element.text or "" for element in tree.iter() if element.tag.endswith("loc")]
    assert all(url.startswith("{origin}/") for url in listed)
    assert sorted(url.removeprefix("{origin}") for url in listed) == sorted([*PAGES, *REDIRECTS])


def test_robots_names_the_sitemap_and_keeps_one_page_off_limits() -> None:
    lines = files().joinpath("robots.txt").read_text().splitlines()
    assert "Sitemap: {origin}/sitemap.xml" in lines
    denied = tuple(line.removeprefix("Disallow: ") for line in lines if line.startswith("Disallow: "))
    assert [path for path in PAGES if path.startswith(denied)] == [DENIED]
