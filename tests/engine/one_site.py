"""Crawls of one site whose pages are really digested, and what they leave in the store."""

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

from sumi.engine.summary import Scores, findings
from sumi.outcomes import Outcome
from sumi.policy import TrapPolicy
from sumi.ports import UrlRecord
from sumi.workers.pool import InProcessDigester
from tests.engine.world import UNPACED, Answer, Web, World, in_free_time, recipe_for

SITE = "https://site.test"
HTML = (("content-type", "text/html; charset=utf-8"),)
# What the pages of one site have in common.
FRAME = "<nav><a href='/'>home</a></nav><main>{}</main>"


def html(title: str, text: str, *links: str, headers: tuple[tuple[str, str], ...] = ()) -> Answer:
    anchors = "".join(f"<p><a href='{link}'>{link}</a></p>" for link in links)
    return Answer(headers=HTML + headers, text=f"<title>{title}</title>" + FRAME.format(text + anchors))


def world(web: Web, **changes: Any) -> World:
    usual: dict[str, Any] = {
        "markdown": True,
        "keep_duplicates": False,
        "pacing": UNPACED,
        "concurrency": 4,
        "traps": TrapPolicy(),
    }
    made = World(web, recipe_for([f"{SITE}/"], **(usual | changes)))
    made.io = replace(made.io, digester=InProcessDigester())
    return made


def crawl(web: Web, **changes: Any) -> World:
    async def run() -> World:
        return await world(web, **changes).crawl()

    return in_free_time(run())


async def _records(done: World) -> list[UrlRecord]:
    return [record async for record in done.store.records()]


def records(done: World) -> dict[str, UrlRecord]:
    return {record.url: record for record in asyncio.run(_records(done))}


def counts(done: World) -> Counter[Outcome]:
    return Counter(record.outcome for record in records(done).values())


def notes(done: World) -> str:
    return "\n".join(asyncio.run(findings(done.store, Scores(0.0, 1.0)))[0])


def path_of(url: str) -> str:
    return url.removeprefix(SITE)
