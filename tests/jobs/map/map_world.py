"""Webs of random links, the map that a crawl makes of one, and what it should be."""

import sqlite3
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sumi.jobs.map.store.depths import USUAL_BOUNDS, DepthBounds
from sumi.jobs.map.store.map_store import MapStore
from sumi.jobs.map.store.runs import MapRun
from sumi.model import Candidate, Hop
from sumi.policy import FrontierPolicy, PacingPolicy
from sumi.recipe import Recipe
from sumi.scope.hosts import DomainClasses
from sumi.scope.scope import Scope
from sumi.urls import split
from tests.engine.world import Answer, recipe_for

ONE_A_SECOND = PacingPolicy(delay=1.0, sitemap_delay=1.0)
Depths = dict[str, dict[str, int]]  # of each URL, by origin


@dataclass(frozen=True)
class MapWorld:
    """The pages of a web, and what a map of it should include."""

    links: dict[str, tuple[str, ...]]
    quality: tuple[str, ...]
    blacklist: tuple[str, ...] = ()
    stub: tuple[str, ...] = ()
    max_depth: int = 3
    latencies: dict[str, float] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    pacing: PacingPolicy = ONE_A_SECOND

    @property
    def classes(self) -> DomainClasses:
        return DomainClasses(self.quality, self.blacklist, self.stub)

    @property
    def seeds(self) -> list[str]:
        return [f"https://{domain.removeprefix('*.')}/" for domain in self.quality]

    def recipe(self, **changes: Any) -> Recipe:
        recipe = recipe_for(
            (), record_links=True, origins=self.quality, pacing=self.pacing, **({"concurrency": 4} | changes)
        )
        scope = Scope(max_depth=self.max_depth, blacklist=self.blacklist, stub=self.stub)
        seeds = tuple(Candidate(url, Hop.SEED) for url in self.seeds)
        return type(recipe)(**{**_fields(recipe), "scope": scope, "seeds": seeds})

    def web(self, url: str, _now: float) -> Answer:
        latency = self.latencies.get(url, 0.05)
        if url in self.redirects:
            return Answer(301, headers=(("location", self.redirects[url]),), latency=latency)
        if url not in self.links:
            return Answer(404, latency=latency)
        return Answer(200, self.links[url], (("content-type", "text/html"),), latency)

    def run(self, config: str = "config", *, accept_changes: bool = False) -> MapRun:
        return MapRun(config, self.classes, self.quality, self.max_depth, accept_changes)

    def open(
        self, path: Path, policy: FrontierPolicy, now: float, bounds: DepthBounds = USUAL_BOUNDS, **run: Any
    ) -> MapStore:
        return MapStore(path, policy, now, self.run(**run), depth_bounds=bounds)


def _fields(recipe: Recipe) -> dict[str, Any]:
    return {name: getattr(recipe, name) for name in recipe.__struct_fields__}


def tables(path: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Runs a query as another program would."""
    database = sqlite3.connect(path)
    try:
        return database.execute(query, values).fetchall()
    finally:
        database.close()


def recorded_depths(path: Path) -> Depths:
    found: Depths = defaultdict(dict)
    for url, origin, depth in tables(
        path, "SELECT url, quality_origin, depth FROM pages JOIN page_depths ON page_id = pages.id"
    ):
        found[url][origin] = depth
    return found


def recorded_links(path: Path) -> list[tuple[str, str]]:
    return tables(
        path,
        "SELECT a.url, b.url FROM links "
        "JOIN pages a ON a.id = from_page_id JOIN pages b ON b.id = to_page_id",
    )


def states(path: Path) -> dict[str, str]:
    return dict(tables(path, "SELECT url, state FROM pages"))


def searched_depths(pages: Iterable[str], links: Iterable[tuple[str, str]], classes: DomainClasses) -> Depths:
    """By breadth-first search from each origin over recorded links."""
    onward: dict[str, list[str]] = defaultdict(list)
    for source, target in links:
        onward[source].append(target)
    origins: dict[str, list[str]] = defaultdict(list)
    for url in pages:
        origin = classes.origin_of(split(url).host)
        if origin is not None:
            origins[origin].append(url)
    found: Depths = defaultdict(dict)
    for origin, homes in origins.items():
        waiting = deque((url, 0) for url in homes)
        while waiting:
            url, depth = waiting.popleft()
            if origin not in found[url]:
                found[url][origin] = depth
                waiting.extend((target, depth + 1) for target in onward[url])
    return found
