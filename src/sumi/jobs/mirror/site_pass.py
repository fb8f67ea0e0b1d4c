"""The pass over a mirror that is complete: what its pages have in common is taken off them, and counted.

What is common to the pages of a host depends on these pages alone and not on the order in which they came:
lines that were taken off earlier are in the record of each page, and count as if they were still there. The
record is written before the file, so after a kill the pass finds the same again.
"""

import asyncio
from collections.abc import AsyncIterator
from hashlib import blake2b
from heapq import nsmallest
from typing import Final

import msgspec

from sumi.jobs.mirror.markdown_page import HEAD_END, is_whole, with_body
from sumi.jobs.mirror.output import Rewritable
from sumi.jobs.mirror.survey import stored_pages
from sumi.model import PageFacts
from sumi.parse.markdown.left_out import REPEATED
from sumi.parse.markdown.site_furniture import (
    FEWEST_PAGES,
    NOTHING_LEARNT,
    Block,
    Furniture,
    Site,
    blocks_of,
    junk_share,
    without_furniture,
)
from sumi.ports import Frontier, Ledger, Team, UrlRecord
from sumi.urls import host_key

SAMPLE: Final = 400  # pages of each host that are compared; all are treated alike
_BATCH: Final = 500


class Ours:
    """The pages of a ledger whose hosts this worker owns: all of them if it works alone."""

    def __init__(self, ledger: Ledger, team: Team | None) -> None:
        self._ledger = ledger
        self._team = team

    async def pages(self) -> AsyncIterator[UrlRecord]:
        async for record in stored_pages(self._ledger):
            if self._team is None:
                yield record
            elif self._team.may_ask(host_key(record.url)):
                yield record
                await asyncio.sleep(0)  # reading pages must not keep us from saying that we live


async def learn_furniture(ours: Ours, tree: Rewritable) -> dict[str, Furniture]:
    """By host; hosts with few pages teach nothing."""
    chosen = await _sampled(ours)
    sites: dict[str, Site] = {}
    async for record in ours.pages():
        host = host_key(record.url)
        if record.url in chosen.get(host, ()):
            blocks = _blocks(tree.read_page(record.facts))
            if blocks is not None:
                sites.setdefault(host, Site()).add(blocks, record.facts.furniture)
    return {host: site.furniture() for host, site in sites.items()}


async def _sampled(ours: Ours) -> dict[str, set[str]]:
    """The URLs with the smallest hashes of each host, so that the order of the crawl does not matter."""
    found: dict[str, list[str]] = {}
    async for record in ours.pages():
        mine = found.setdefault(host_key(record.url), [])
        mine.append(record.url)
        if len(mine) >= 2 * SAMPLE:
            mine[:] = nsmallest(SAMPLE, mine, key=_rank)
    return {
        host: set(nsmallest(SAMPLE, urls, key=_rank))
        for host, urls in found.items()
        if len(urls) >= FEWEST_PAGES
    }


def _rank(url: str) -> bytes:
    return blake2b(url.encode("utf-8", "replace"), digest_size=8).digest()


async def settle_furniture(
    ledger: Ledger, frontier: Frontier, tree: Rewritable, *, drop: bool, team: Team | None = None
) -> int:
    """Take furniture off every page, if it is to be dropped, and record what share of the rest is junk.
    Returns how many files were rewritten."""
    ours = Ours(ledger, team)
    learnt = await learn_furniture(ours, tree)
    rewritten = 0
    batch: list[tuple[str, PageFacts, bytes | None]] = []
    async for url, facts, data in _settled_pages(ours, tree, learnt, drop=drop):
        batch.append((url, facts, data))
        rewritten += data is not None
        if len(batch) >= _BATCH:
            await _write(batch, frontier, tree)
            batch = []
    await _write(batch, frontier, tree)
    return rewritten


async def _settled_pages(
    ours: Ours, tree: Rewritable, learnt: dict[str, Furniture], *, drop: bool
) -> AsyncIterator[tuple[str, PageFacts, bytes | None]]:
    """Those whose record or file changes."""
    async for record in ours.pages():
        furniture = learnt.get(host_key(record.url), NOTHING_LEARNT)
        facts, data = _settled(record, tree.read_page(record.facts), furniture, drop=drop)
        if facts != record.facts or data is not None:
            yield record.url, facts, data


def _settled(
    record: UrlRecord, data: bytes | None, furniture: Furniture, *, drop: bool
) -> tuple[PageFacts, bytes | None]:
    facts = record.facts
    if data is None or not is_whole(data, facts):
        return facts, _as_recorded(data, facts)
    blocks = _blocks(data) or []
    if furniture is NOTHING_LEARNT:
        return msgspec.structs.replace(facts, junk=None), None
    new = None
    taken = None
    if drop:
        taken = without_furniture(blocks, furniture.constant, is_of_few=furniture.is_of_few)
    if taken is not None:
        new, facts = with_body(data, facts, taken.markdown.encode("utf-8", "replace"))
        blocks = blocks_of(taken.markdown)
        facts = msgspec.structs.replace(
            facts,
            furniture=tuple(dict.fromkeys((*facts.furniture, *taken.lines))),
            left_out=_more(facts.left_out, taken.words),
        )
    return msgspec.structs.replace(facts, junk=junk_share(blocks, furniture.usual)), new


def _as_recorded(data: bytes | None, facts: PageFacts) -> bytes | None:
    """What a kill kept from being written. None for a file that was lost or edited, which stays as it is."""
    if data is None or not facts.furniture:
        return None
    new, made = taken_again(data, facts)
    return new if made.sha256 == facts.sha256 else None


def taken_again(data: bytes, facts: PageFacts) -> tuple[bytes, PageFacts]:
    """A page made again, without what was taken off it before."""
    blocks = _blocks(data) if facts.furniture else None
    taken = None if blocks is None else without_furniture(blocks, facts.furniture)
    if taken is None:
        return data, msgspec.structs.replace(facts, furniture=())
    new, facts = with_body(data, facts, taken.markdown.encode("utf-8", "replace"))
    counted = _more(facts.left_out, taken.words)
    return new, msgspec.structs.replace(facts, furniture=taken.lines, left_out=counted)


def _more(left_out: dict[str, int] | None, words: int) -> dict[str, int]:
    counted = dict(left_out or {})
    counted[REPEATED] = counted.get(REPEATED, 0) + words
    return counted


def _blocks(data: bytes | None) -> list[Block] | None:
    _, end, body = (data or b"").partition(HEAD_END)
    return blocks_of(body.decode("utf-8", "replace")) if end else None


async def _write(
    batch: list[tuple[str, PageFacts, bytes | None]], frontier: Frontier, tree: Rewritable
) -> None:
    if batch:
        await tree.replace_pages(batch, frontier)
