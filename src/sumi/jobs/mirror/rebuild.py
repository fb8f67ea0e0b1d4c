"""``sumi rebuild``: makes a mirror's Markdown again from its stored bodies, offline."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from os import PathLike
from pathlib import Path

import msgspec

from sumi.assembly.parts import new_digester
from sumi.console.open_job import refuse_captures, stored_jobs
from sumi.engine.io import SystemClock
from sumi.engine.revisit import revision_of
from sumi.errors import UsageError
from sumi.files.contents_place import contents_of
from sumi.jobs.mirror.local_links import LocalLinks, local_links
from sumi.jobs.mirror.markdown_page import recompose_page
from sumi.jobs.mirror.output import MarkdownTree
from sumi.jobs.mirror.settings import load_saved_settings
from sumi.jobs.mirror.site_pass import settle_furniture, taken_again
from sumi.jobs.mirror.survey import stored_pages
from sumi.model import Kind, PageFacts
from sumi.parse.page.digest import DigestRequest, PageDigest
from sumi.parse.page.raw import unpacked
from sumi.policy import FetchLimits, ParseLimits, Preset
from sumi.ports import Digester, UrlRecord
from sumi.state.folder import LOOKING, backend_named, backend_of
from sumi.state.lock import FolderLock

# Enough to keep a page waiting for every worker process.
AT_ONCE = 32


class Rebuilt(msgspec.Struct, frozen=True):
    """One page. ``problem``: why it was not rebuilt."""

    url: str
    path: str
    before: bytes | None = None  # None: its file was lost
    after: bytes = b""
    problem: str = ""

    @property
    def changed(self) -> bool:
        return not self.problem and self.before != self.after


class RebuildSummary(msgspec.Struct):
    pages: int = 0
    changed: int = 0
    problems: int = 0  # pages that were not rebuilt


async def rebuild(
    folder: str | PathLike[str] = "output",
    *,
    dry_run: bool = False,
    processes: int | None = None,
    on_page: Callable[[Rebuilt], None] = lambda page: None,
) -> RebuildSummary:
    """``sumi rebuild``: make a mirror's Markdown again from its stored bodies, without the network.
    ``on_page`` is called with every page; with ``dry_run`` nothing is written. A folder of several mirrors
    is rebuilt one by one."""
    states = refuse_captures(stored_jobs(os.fspath(folder)))
    summary = RebuildSummary()
    digester = new_digester(processes, ParseLimits())
    try:
        for state in filter(contents_of, states):
            raise UsageError(f"{state.parent} keeps its pages in a store, whose contents never change")
        for state in states:  # a folder of several sites: one after the other
            run = _Rebuild(state, digester, dry_run=dry_run)
            try:
                async for page in run.pages():
                    summary.pages += 1
                    summary.changed += page.changed
                    summary.problems += bool(page.problem)
                    on_page(page)
            finally:
                await run.aclose()
    finally:
        await digester.aclose()
    return summary


class _Rebuild:
    """Holds the lock of the mirror until it is closed."""

    def __init__(self, state: Path, digester: Digester, *, dry_run: bool) -> None:
        self._clock = SystemClock()
        backend = backend_named(backend_of(state))
        self._lock = FolderLock(state, command="sumi rebuild")
        try:
            self._store = backend(state, LOOKING, self._clock.now(), lock=self._lock)
        except BaseException:
            self._lock.release()
            raise
        self._home = state.parent
        self._digester = digester
        self._dry_run = dry_run
        self._links: LocalLinks | None = None
        self._anchors = False

    async def pages(self) -> AsyncIterator[Rebuilt]:
        """Every page, in order of discovery; writes the derived files at the end."""
        settings = await load_saved_settings(self._store)
        source = "" if settings is None else settings.url
        self._anchors = settings is not None and settings.rewrite_links
        if settings is not None and (settings.rewrite_links or settings.assets):
            self._links = await local_links(
                self._store, to_pages=settings.rewrite_links, to_assets=settings.assets
            )
        tree = MarkdownTree(self._home.parent, self._home.name, source, self._clock)
        try:
            if self._links is not None and self._anchors:
                self._links.learn_dead(await self._dead_places(tree, self._links))
            async for batch in self._batches():
                for rebuilt in await self._rebuild_batch(tree, batch):
                    yield rebuilt
            if not self._dry_run:
                drop = settings is not None and not settings.keep_furniture
                await settle_furniture(self._store, self._store, tree, drop=drop)
                await tree.finish(self._store, await self._store.stats())
                await self._store.sync(tree.sync)
        finally:
            tree.close()

    async def _dead_places(self, tree: MarkdownTree, links: LocalLinks) -> set[int]:
        """Which links lead nowhere is known when all pages are made, so each is made twice: the stored files
        have lost the links that led nowhere when they were written."""
        wanted: set[int] = set()
        present: set[int] = set()
        async for batch in self._batches():
            for data, facts in await asyncio.gather(*(self._page(tree, record) for record in batch)):
                wanted.update(links.places_wanted(data, facts))
                present.update(links.places_of(data, facts))
        return wanted - present

    async def _page(self, tree: MarkdownTree, record: UrlRecord) -> tuple[bytes, PageFacts]:
        """What links lead to after the rebuild: the page made again, or its file if it cannot be."""
        made = await self._made_again(tree, record)
        if isinstance(made, str):
            return tree.read_page(record.facts) or b"", record.facts
        return made[0], made[1]

    async def aclose(self) -> None:
        await self._store.aclose()
        self._lock.release()

    async def _batches(self) -> AsyncIterator[list[UrlRecord]]:
        batch: list[UrlRecord] = []
        async for record in stored_pages(self._store):
            if record.facts.path is not None:
                batch.append(record)
            if len(batch) == AT_ONCE:
                yield batch
                batch = []
        yield batch

    async def _rebuild_batch(self, tree: MarkdownTree, batch: Sequence[UrlRecord]) -> list[Rebuilt]:
        made = await asyncio.gather(*(self._rebuild_page(tree, record) for record in batch))
        amended = {r.url: facts for r, facts in made if facts is not None and r.changed}
        if not self._dry_run:
            for rebuilt, facts in made:
                if facts is not None and rebuilt.changed:
                    tree.replace_page(facts, rebuilt.after)
            await self._store.amend(amended)
        return [rebuilt for rebuilt, _ in made]

    async def _rebuild_page(self, tree: MarkdownTree, record: UrlRecord) -> tuple[Rebuilt, PageFacts | None]:
        path = record.facts.path or ""
        made = await self._made_again(tree, record)
        if isinstance(made, str):
            return Rebuilt(record.url, path, problem=made), None
        data, facts = made
        if self._links is not None:
            data, facts = self._links.applied(data, facts)
        return Rebuilt(record.url, path, tree.read_page(record.facts), data), facts

    async def _made_again(self, tree: MarkdownTree, record: UrlRecord) -> tuple[bytes, PageFacts] | str:
        """From its stored body, with its links as they were on the site; or why not."""
        frame = tree.raw_page(record.facts)
        if frame is None:
            return "the original page was not kept"
        body = unpacked(frame, FetchLimits().body_bytes)
        if body is None:
            return "the original page is damaged"
        digest = await self._digester.digest(_request(record, body, anchors=self._anchors))
        if not isinstance(digest, PageDigest):
            return digest.verdict.rule
        data, facts = taken_again(*recompose_page(record, body, digest))
        return data, msgspec.structs.replace(facts, revision=revision_of(digest))


def _request(record: UrlRecord, body: bytes, *, anchors: bool) -> DigestRequest:
    source = record.facts.source
    return DigestRequest(
        url=source if source and "://" in source else record.target,
        body=body,
        content_type="text/markdown" if source else record.facts.content_type or "",
        kind=Kind.PAGE,
        preset=Preset.MIRROR,
        markdown=True,
        documents=True,  # of the bodies that are stored, each became a page
        anchors=anchors,
    )
