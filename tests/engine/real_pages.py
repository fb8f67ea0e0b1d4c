"""Crawls of the small internet whose pages are read as the product reads them, links and all."""

import dataclasses

from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.parse.page.digester import digest
from sumi.recipe import Recipe
from tests.engine.world import Answer, Web, World


class RealDigester:
    """The product's own reading of bodies, in this process."""

    async def digest(self, request: DigestRequest) -> PageDigest | Undigested:
        return digest(request)

    async def aclose(self) -> None:
        """Nothing is open."""


def html(text: str) -> Answer:
    return Answer(text=text, headers=(("content-type", "text/html; charset=utf-8"),))


def xml(text: str) -> Answer:
    return Answer(text=text, headers=(("content-type", "application/xml"),))


def moved(location: str) -> Answer:
    return Answer(301, headers=(("location", location),))


async def crawl_reading(web: Web, recipe: Recipe) -> World:
    world = World(web, recipe)
    world.io = dataclasses.replace(world.io, digester=RealDigester())
    return await world.crawl()
