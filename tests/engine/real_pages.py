"""Crawls whose pages are really digested, links included."""

import dataclasses

from sumi.recipe import Recipe
from sumi.workers.pool import InProcessDigester
from tests.engine.world import Answer, Web, World


def html(text: str) -> Answer:
    return Answer(text=text, headers=(("content-type", "text/html; charset=utf-8"),))


def xml(text: str) -> Answer:
    return Answer(text=text, headers=(("content-type", "application/xml"),))


def moved(location: str) -> Answer:
    return Answer(301, headers=(("location", location),))


async def crawl_reading(web: Web, recipe: Recipe) -> World:
    world = World(web, recipe)
    world.io = dataclasses.replace(world.io, digester=InProcessDigester())
    return await world.crawl()
