"""``sumi state migrate`` between folders and databases: a mirror or a crawl that outgrew its machine goes on
in a database, with its pages in a store, and comes back in files.

The source is never changed. The target is complete or not there: a job in a database is marked as being
imported until one update, and a folder gets its name at the end. Contents go first.
"""

import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec
import psycopg

from sumi.assembly.shared_job import SharedRecipe, shared_recipe
from sumi.catalogue.page_files import PageFiles, open_page_files
from sumi.catalogue.role import Role, load_role
from sumi.engine.io import SystemClock
from sumi.errors import StateError, StateLocked, UsageError
from sumi.events import Busy, Listener
from sumi.files.contents_place import new_contents
from sumi.files.objects import Objects
from sumi.files.safe_files import SafeFolder
from sumi.files.segments import FILE, RAW, TEXT, SegmentReader, SegmentWriter, place_in, place_text
from sumi.inspection.outgrown_crawls import STATES, BodyDownloads, BodyUploads, note_workspace
from sumi.inspection.shared_jobs import looking_at_job, only_job_in
from sumi.jobs.mirror.assets import FOLDER as ASSETS
from sumi.jobs.mirror.assets import asset_folder
from sumi.jobs.mirror.layout import stored_layout
from sumi.jobs.mirror.output import MarkdownTree
from sumi.jobs.mirror.raw_pages import RawPages
from sumi.jobs.mirror.recipe import mirror_home
from sumi.jobs.mirror.settings import MirrorSettings, load_saved_settings
from sumi.jobs.mirror.sharing import KIND, LOCAL
from sumi.jobs.pipeline.state import UNIFIED
from sumi.model import PageFacts
from sumi.ports import FrontierStats, Ledger, Place
from sumi.settings.sources import SECRET
from sumi.state.cluster.importing import JobImport
from sumi.state.cluster.session import connect
from sumi.state.cluster.snapshot import ClusterSnapshot
from sumi.state.cluster.timing import Timing
from sumi.state.entries import Exporter, Stored, StoredUrl
from sumi.state.folder import LOOKING, STATE_FOLDER, WORKSPACE_STATES, backend_named, backend_of, sync_folder
from sumi.state.lock import Claim, FolderLock, remove_all_but
from sumi.state.migrate import BATCH, COMMAND, move_into_place
from sumi.urls.paths import PathAllocator


class _Mover(Protocol):
    async def moved(self, facts: PageFacts, url: str) -> PageFacts:
        """What to record once the contents are where they shall be."""
        ...

    async def stored(self) -> None:
        """Whatever was moved so far can be read by anybody."""
        ...


async def move_up(state: Path, database: str, name: str | None, store: str | None, tell: Listener) -> int:
    """Into a database. Returns the number of URLs."""
    if store is None:
        raise UsageError(
            "a job in a database has its pages in a store: name one by --store s3://BUCKET/PREFIX"
        )
    lock = FolderLock(state, command=COMMAND)
    try:
        source = backend_named(backend_of(state)).reading(state, LOOKING, time.time())
        try:
            role = await load_role(source, state)
            if role is not None:
                job = _crawl_upward(role, database, name, store)
            else:
                job = _mirror_upward(await _mirror_settings(source, state), database, name, store)
            objects = Objects(job.address)
            objects.check()
            segments = SegmentWriter(objects, tell)
            try:
                if role is not None:
                    return await job.copy(source, BodyUploads(role.home, segments, _there), tell)
                with open_page_files(state.parent.parent, state.parent, state) as files:
                    return await job.copy(source, _Uploads(files, segments), tell)
            finally:
                await segments.aclose()
        finally:
            await source.aclose()
    finally:
        lock.release()


async def _mirror_settings(source: Ledger, state: Path) -> MirrorSettings:
    settings = await load_saved_settings(source)
    if settings is None:
        raise _cannot_move(f"{state.parent}")
    return settings


def _cannot_move(what: str) -> UsageError:
    return UsageError(
        f"{what} is neither a mirror nor a crawl of sumi run --unified, and only these can be moved"
    )


class _Upward(NamedTuple):
    database: str
    name: str
    kind: str
    recipe: SharedRecipe
    address: str  # of the contents
    max_pages: int

    async def copy(self, source: "_Source", mover: _Mover, tell: Listener) -> int:
        recipe = msgspec.json.encode(self.recipe).decode()
        connection = await connect(self.database, Timing(), "import")
        try:
            job = await JobImport.begin(connection, self.name, self.kind, recipe, self.address, time.time())
            for address in job.left:
                old = Objects(address)
                old.delete([each.name for each in old.list()])
            async for batch in _moved(source, mover, tell):
                await job.restore(batch)
            stats = await source.stats()
            return await job.finish(stats.outcomes, stats.pending, self.max_pages)
        except psycopg.Error as error:
            reason = " ".join(str(error).split())
            raise StateError(
                f"the database refused the copy: {reason}; try again as the owner of the tables"
            ) from None
        finally:
            await connection.close()


def _mirror_upward(settings: MirrorSettings, database: str, name: str | None, store: str) -> _Upward:
    wanted = name or mirror_home(settings)
    recipe = shared_recipe(msgspec.structs.replace(settings, store=store), LOCAL, SECRET)
    return _Upward(database, wanted, KIND, recipe, new_contents(store, wanted), settings.max_pages)


def _crawl_upward(role: Role, database: str, name: str | None, store: str) -> _Upward:
    """Its limit is in its configuration, and applies again as soon as a machine works on it."""
    if role.job != UNIFIED:
        raise _cannot_move(f"the {role.job} of {role.home}")
    wanted = name or role.home.resolve().name
    return _Upward(database, wanted, UNIFIED, SharedRecipe(), new_contents(store, wanted), 0)


class _Source(Exporter, Ledger, Protocol):
    async def stats(self) -> FrontierStats: ...


class _Uploads:
    def __init__(self, files: PageFiles, segments: SegmentWriter) -> None:
        self._files = files
        self._segments = segments
        self._places: list[Place] = []

    async def moved(self, facts: PageFacts, url: str) -> PageFacts:
        if facts.path is not None:
            data = _there(self._files.read(facts.path), url)
            name = facts.path.rpartition("/")[2] if facts.asset else ""
            path = place_text(self._add(FILE if facts.asset else TEXT, data), name)
            facts = msgspec.structs.replace(facts, path=path)
        if facts.raw_at is not None:
            body = _there(self._files.body(facts.raw_at), url)
            facts = msgspec.structs.replace(facts, raw_at=self._add(RAW, body))
        return facts

    def _add(self, kind: str, data: bytes) -> Place:
        self._places.append(self._segments.add(kind, data))
        return self._places[-1]

    async def stored(self) -> None:
        self._segments.close_segment()
        await self._segments.stored(self._places)
        self._places.clear()


def _there(data: bytes | None, url: str) -> bytes:
    if data is None:
        raise StateError(
            f"the content of {url} is missing: run sumi state check --repair and then the job, before this"
        )
    return data


async def _moved(source: Exporter, mover: _Mover, tell: Listener) -> AsyncIterator[list[Stored]]:
    batch: list[Stored] = []
    urls = 0
    async for item in source.export():
        if isinstance(item, StoredUrl):
            urls += 1
            facts = await mover.moved(item.facts, item.candidate.url)
            item = msgspec.structs.replace(item, facts=facts)  # noqa: PLW2901 - the same, elsewhere
        batch.append(item)
        if len(batch) >= BATCH:
            await mover.stored()
            yield batch
            tell(Busy(f"copied {urls:,} URLs so far"))
            batch = []
    await mover.stored()
    yield batch


# ── down ───────────────────────────────────────────────────────────────────────────────────────────────────


async def move_down(database: str, name: str | None, target: Path, backend: str, tell: Listener) -> int:
    """Into a new output folder, as files. Returns the number of URLs."""
    backend_named(backend)  # refused before anything is made
    row = await only_job_in(database, name)
    if row.kind not in (KIND, UNIFIED):
        raise _cannot_move(f"the job {row.name}, a {row.kind},")
    if not row.store:
        raise UsageError(f"the job {row.name} has no pages in a store, so there is nothing to bring down")
    async with looking_at_job(database, row) as source:
        before = await source.stats()
        await _require_rest(source, before)
        unfinished = target.with_name(f".{target.name}.unfinished")
        if row.kind == UNIFIED:
            settings, state = None, unfinished / WORKSPACE_STATES / STATES[backend]
        else:
            settings = await _mirror_settings(source, Path(row.name) / STATE_FOLDER)
            state = unfinished / mirror_home(settings) / STATE_FOLDER
        with Claim(state, COMMAND, home=unfinished, option="TO") as claim:
            remove_all_but([claim.lock.path], unfinished)  # what an earlier, killed attempt left
            try:
                reader = SegmentReader(Objects(row.store))
                if settings is None:
                    way = _Way(source, reader, state, backend, claim.lock, tell)
                    await _bring_crawl_down(way, unfinished, target)
                else:
                    await _bring_down(source, reader, settings, state, backend, claim.lock, tell)
                await _require_rest(source, before)
                move_into_place(unfinished, target)
            except BaseException:
                remove_all_but([claim.lock.path], unfinished)
                claim.remove_if_empty()
                raise
    return before.known


async def _require_rest(source: ClusterSnapshot, before: FrontierStats) -> None:
    name, letters = source.job.name, await source.letters()
    living = [worker.name for worker in await source.workers() if worker.is_alive]
    if living:
        raise StateLocked(
            f"{', '.join(living[:3])} works on the job {name}: stop it by sumi stop, then copy it"
        )
    if letters:
        raise StateLocked(
            f"{letters:,} links of the job {name} wait for the owners of their hosts: let a worker go on for "
            "a moment, stop it, then copy the job"
        )
    if await source.stats() != before:
        raise StateLocked(f"the job {name} was worked on meanwhile: copy it again")


async def _bring_down(
    source: ClusterSnapshot,
    reader: SegmentReader,
    settings: MirrorSettings,
    state: Path,
    backend: str,
    lock: FolderLock,
    tell: Listener,
) -> None:
    home, clock = state.parent, SystemClock()
    store = backend_named(backend)(state, LOOKING, clock.now(), lock=lock)
    files = SafeFolder(home.parent)
    try:
        allocator = PathAllocator(await stored_layout(source))
        mover = _Downloads(reader, files, home.name, allocator)
        async for batch in _moved(source, mover, tell):
            await store.restore(batch)
        tree = MarkdownTree(home.parent, home.name, settings.url, clock)
        try:
            await tree.finish(store, await store.stats())
            await store.sync(tree.sync)
        finally:
            tree.close()
        _compare(await source.stats(), await store.stats())
        files.sync()
    finally:
        files.close()
        await store.aclose()
    sync_folder(home)


class _Way(NamedTuple):
    source: ClusterSnapshot
    reader: SegmentReader
    state: Path
    backend: str
    lock: FolderLock
    tell: Listener


async def _bring_crawl_down(way: _Way, home: Path, target: Path) -> None:
    now = SystemClock().now()
    store = backend_named(way.backend)(way.state, LOOKING, now, lock=way.lock)
    mover = BodyDownloads(way.reader, home, _there)
    try:
        async for batch in _moved(way.source, mover, way.tell):
            await store.restore(batch)
        await note_workspace(store, home, way.state, target)
        await store.sync(_nothing_else)
        _compare(await way.source.stats(), await store.stats())
        mover.files.sync()
    finally:
        mover.files.close()
        await store.aclose()
    sync_folder(home)


async def _nothing_else() -> None:
    """There are no files besides the archive's."""


def _compare(source: FrontierStats, copy: FrontierStats) -> None:
    traits: Sequence[str] = ("known", "pending", "captured", "outcomes")
    for trait in traits:
        one, other = getattr(source, trait), getattr(copy, trait)
        if one != other:
            raise StateError(f"not copied completely: {trait} {other}, and {one} before; please report it")


class _Downloads:
    def __init__(self, reader: SegmentReader, files: SafeFolder, home: str, names: PathAllocator) -> None:
        self._reader = reader
        self._files = files
        self._home = home
        self._names = names
        self._raw = RawPages(files, home)

    async def moved(self, facts: PageFacts, url: str) -> PageFacts:
        place = place_in(facts.path)
        if place is not None and facts.path is not None:
            data = _there(self._reader.body(place), url)
            path = self._names.claim(url)
            if facts.asset:
                name = facts.path.rpartition("/")[2]
                path = f"{self._home}/{ASSETS}/{asset_folder(name)}/{name}"
            self._files.write_atomic(path, data)
            facts = msgspec.structs.replace(facts, path=path)
        if facts.raw_at is not None:
            frame = _there(self._reader.frame(facts.raw_at), url)
            facts = msgspec.structs.replace(facts, raw_at=self._raw.add(frame))
        return facts

    async def stored(self) -> None:
        """They are made durable at the end, before the folder gets its name."""
