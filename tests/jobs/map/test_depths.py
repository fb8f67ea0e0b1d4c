"""Depths on a map are those of a breadth-first search over its links, whatever the order of fetching."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sumi.jobs.map.store.depths import DepthBounds
from tests.engine.world import Answer, Web, World, crawled, in_free_time
from tests.jobs.map.map_world import (
    MapWorld,
    recorded_depths,
    recorded_links,
    searched_depths,
    states,
    tables,
)

HOSTS = ("q1.test", "q2.test", "a.test", "b.test", "c.test")


@st.composite
def made_worlds(draw: st.DrawFn) -> MapWorld:
    pages = [f"https://{host}/{path}" for host in HOSTS for path in ("", "x", "y", "z")]
    links = {page: tuple(draw(st.lists(st.sampled_from(pages), max_size=4, unique=True))) for page in pages}
    redirected = draw(st.lists(st.sampled_from(pages[8:]), max_size=2, unique=True))
    return MapWorld(
        links,
        quality=("q1.test", "q2.test"),
        max_depth=draw(st.integers(0, 4)),
        latencies={page: draw(st.sampled_from((0.01, 0.5, 5.0, 30.0))) for page in pages},
        redirects={page: draw(st.sampled_from(pages)) for page in redirected},
    )


def check_depths(path: Path, made: MapWorld) -> None:
    found = states(path)
    depths = recorded_depths(path)
    assert depths == searched_depths(found, recorded_links(path), made.classes)
    for url, state in found.items():
        within = min(depths[url].values()) <= made.max_depth
        assert (state != "DepthExceeded") == within, (url, state, depths[url])
        assert state not in ("Queued", "Fetching", "Discovered")


@given(made_worlds())
@settings(max_examples=25)
def test_depths_do_not_depend_on_the_order_of_fetching(made: MapWorld) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "map.db"
        crawled(
            made.web,
            made.recipe(),
            open_store=lambda policy, now: made.open(path, policy, now),
        )
        check_depths(path, made)


@given(made_worlds())
@settings(max_examples=15)
def test_nor_on_how_much_is_done_at_once_and_kept_in_memory(made: MapWorld) -> None:
    bounds = DepthBounds(links_at_once=1, vector_bytes=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "map.db"
        crawled(
            made.web,
            made.recipe(),
            open_store=lambda policy, now: made.open(path, policy, now, bounds),
        )
        check_depths(path, made)
        assert tables(path, "SELECT count(*) FROM depth_work") == [(0,)]


class Killed(Exception):
    """Ends a crawl as a kill does: only what was committed stays."""


@given(made_worlds(), st.lists(st.integers(1, 12), min_size=1, max_size=3))
@settings(max_examples=10)
def test_nor_on_kills(made: MapWorld, lives: list[int]) -> None:
    def dying_web(requests: int) -> Web:
        left = iter(range(requests))

        def web(url: str, now: float) -> Answer:
            if next(left, None) is None:
                raise Killed
            return made.web(url, now)

        return web

    async def one_life(path: Path, requests: int) -> None:
        world = World(
            dying_web(requests),
            made.recipe(),
            open_store=lambda policy, now: made.open(path, policy, now),
        )
        try:
            await world.crawl()
        except Killed:
            await world.store.aclose()

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "map.db"
        for requests in lives:
            in_free_time(one_life(path, requests))
        in_free_time(one_life(path, 1000))
        check_depths(path, made)
        assert tables(path, "SELECT count(*) FROM runs") == [(1,)]
