"""Killed while the many findings of one page are being written, a crawl ends as if it had not been."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from sumi.engine import settler
from sumi.policy import FrontierPolicy
from sumi.ports import Judged
from tests.contract.backends import DURABLE
from tests.engine.world import UNPACED, AnyStore, OpenStore, World, crawled
from tests.jobs.map.map_world import MapWorld, recorded_depths, recorded_links, searched_depths, states

SEED = "https://q.test/"
SLICE = 20
SLICES = 4
FOUND = tuple(f"https://{'a' if n % 3 else 'q'}.test/{n}" for n in range(SLICES * SLICE - 7))
WORLD = MapWorld(
    {SEED: FOUND, **dict.fromkeys(FOUND, (SEED, FOUND[0]))},
    quality=("q.test",),
    max_depth=2,
    pacing=UNPACED,
)
MAP = "map.db"


def opener(name: str, folder: Path) -> OpenStore:
    def opened(policy: FrontierPolicy, now: float) -> AnyStore:
        if name == "map":
            return WORLD.open(folder / MAP, policy, now)
        store = DURABLE[name](folder, policy, now)
        assert isinstance(store, AnyStore)
        return store

    return opened


def photographing(name: str, folder: Path, images: list[Path]) -> OpenStore:
    """After each slice a copy is made of what a kill would leave behind in that moment."""

    def opened(policy: FrontierPolicy, now: float) -> AnyStore:
        store = opener(name, folder)(policy, now)
        written = store.add

        async def add(judged: Sequence[Judged]) -> list[bool]:
            answers = await written(judged)
            images.append(folder.with_name(f"image-{len(images)}"))
            shutil.copytree(folder, images[-1])
            return answers

        setattr(store, "add", add)  # noqa: B010 - a method of this one store
        return store

    return opened


def crawl(open_store: OpenStore) -> World:
    return crawled(WORLD.web, WORLD.recipe(), open_store=open_store)


@pytest.mark.parametrize("name", DURABLE)
def test_no_finding_is_lost_or_counted_twice(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settler, "SLICE", SLICE)
    folder, images = tmp_path / "whole", list[Path]()
    folder.mkdir()
    whole = crawl(photographing(name, folder, images))
    assert len(images) == 1 + SLICES  # of the seeds, and of each slice
    assert len(whole.outcomes) == 1 + len(FOUND)
    for image in images:
        again = crawl(opener(name, image))
        assert len(again.asked(SEED)) == 1  # it had not ended, whatever of it was there
        assert again.outcomes == whole.outcomes
        assert again.stats == whole.stats
        if name == "map":
            found, links = states(image / MAP), recorded_links(image / MAP)
            assert len(links) == len(set(links)) == 3 * len(FOUND)
            assert recorded_depths(image / MAP) == searched_depths(found, links, WORLD.classes)
