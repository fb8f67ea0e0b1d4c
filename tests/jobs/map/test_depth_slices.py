"""A late shortcut lowers the depth of many pages, in slices; a kill between them loses nothing."""

from pathlib import Path

import pytest

from sumi.jobs.map.store.depths import DepthBounds
from tests.engine.world import Answer, Web, World, in_free_time
from tests.jobs.map.map_world import (
    MapWorld,
    recorded_depths,
    recorded_links,
    searched_depths,
    states,
    tables,
)

HOME, DETOUR, SHORTCUT = "https://q.test/", "https://a.test/", "https://q.test/shortcut"
LARGE_SITE = [f"https://b.test/{number}" for number in range(120)]
AFTERWARDS = [f"https://q.test/{number}" for number in range(20)]
SLICES = DepthBounds(links_at_once=5, vector_bytes=2_000)


def chain(pages: list[str]) -> dict[str, tuple[str, ...]]:
    return dict(zip(pages, [(page,) for page in pages[1:]] + [()], strict=True))


def tree(pages: list[str]) -> dict[str, tuple[str, ...]]:
    return {page: tuple(pages[4 * at + 1 : 4 * at + 5]) for at, page in enumerate(pages)}


def made() -> MapWorld:
    """A large site is reached by a detour. Its last page links to a page of a quality domain, which links to
    the start of the site, and to a few more pages, so that the crawl continues."""
    detour = [DETOUR, *(f"{DETOUR}{number}" for number in range(5)), LARGE_SITE[0]]
    links = chain(detour) | tree(LARGE_SITE) | chain(AFTERWARDS)
    links |= {HOME: (DETOUR,), LARGE_SITE[-1]: (SHORTCUT,), SHORTCUT: (LARGE_SITE[0], AFTERWARDS[0])}
    return MapWorld(links, quality=("q.test",), max_depth=20)


def work_left(database: Path) -> int:
    [(count,)] = tables(database, "SELECT count(*) FROM depth_work")
    return int(count)


class Killed(Exception):
    """Ends a crawl as a kill does: only what was committed stays."""


async def one_life(database: Path, web: Web, whole: MapWorld) -> None:
    world = World(
        web, whole.recipe(), open_store=lambda policy, now: whole.open(database, policy, now, SLICES)
    )
    try:
        await world.crawl()
    except Killed:
        await world.store.aclose()
        raise


def test_the_next_run_continues_the_stored_work(tmp_path: Path) -> None:
    whole, database = made(), tmp_path / "map.db"

    def dying_web(url: str, now: float) -> Answer:
        if url == AFTERWARDS[0]:
            raise Killed
        return whole.web(url, now)

    with pytest.raises(Killed):
        in_free_time(one_life(database, dying_web, whole))
    assert work_left(database)
    assert recorded_depths(database)[LARGE_SITE[-1]] == {"q.test": 11}, "the farthest page is not updated yet"
    in_free_time(one_life(database, whole.web, whole))
    assert work_left(database) == 0
    assert recorded_depths(database)[LARGE_SITE[-1]] == {"q.test": 5}
    found = states(database)
    assert set(found) == set(whole.links)
    assert recorded_depths(database) == searched_depths(found, recorded_links(database), whole.classes)
    nearest = "SELECT min(depth) FROM page_depths WHERE page_id = urls.id + 1"
    assert tables(database, f"SELECT url FROM urls WHERE depth <> ({nearest})") == []
