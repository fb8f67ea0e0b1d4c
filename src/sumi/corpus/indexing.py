"""Brings search indexes up to date with what was captured: what is new, changed or gone, by hashes.

Texts are read from the output and never from the network. A job that runs is indexed as far as it has come.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from sumi import __version__
from sumi.catalogue.find import Job, JobKind, Place, find_jobs
from sumi.catalogue.pages import CapturedPage, Form, Pages, open_pages
from sumi.corpus.found_pages import FoundPages
from sumi.corpus.index_store import PageEntry, SearchIndex
from sumi.corpus.indexed_text import indexed_page
from sumi.corpus.page_markdown import Converter, as_markdown
from sumi.errors import SumiError, UsageError
from sumi.events import Event, Warned
from sumi.policy import is_database
from sumi.state.folder import CAPTURES, DATABASE_FORMAT, FORMAT_NAME, backend_of

DEFAULT_PLACES: Final = ("output", "captures")
_AT_ONCE: Final = 32  # pages that are converted at the same time
_LOOK_AGAIN: Final = 60.0  # seconds
_NOT_STATE: Final = ("lock",)
Tell: TypeAlias = Callable[[str], None]


class Indexed(NamedTuple):
    """What was done for one index."""

    root: Path
    pages: int  # in it now
    added: int
    changed: int
    gone: int
    unreadable: int  # pages whose text is lost or is not what was captured
    note: str = ""


class Source(NamedTuple):
    """Jobs that are indexed as one: a mirror, a map, a crawl, or all captures of a store."""

    key: str  # within its root
    kind: JobKind
    name: str
    jobs: tuple[Job, ...]

    @property
    def root(self) -> Path:
        return self.jobs[0].root

    @property
    def is_running(self) -> bool:
        return any(job.process is not None for job in self.jobs)


def default_places() -> list[Path]:
    usual = [Path(name) for name in DEFAULT_PLACES if Path(name).is_dir()]
    return usual or [Path(DEFAULT_PLACES[0])]


def sources_in(places: Iterable[Place]) -> dict[Path, list[Source]]:
    """By the folder whose index covers them. UsageError if there is nothing."""
    named: Sequence[Place] = list(places) or default_places()
    found: dict[tuple[Path, str], Source] = {}
    for job in find_jobs(*named):
        root, key = job.root.resolve(), _key(job)
        before = found.get((root, key))
        found[root, key] = Source(key, job.kind, _name(job), (*(before.jobs if before else ()), job))
    if not found:
        where = ", ".join(str(place) for place in named)
        if any(isinstance(place, str) and is_database(place) for place in named):
            raise UsageError(
                f"no job in {where} has its pages in a store, where they can be searched: they are files in "
                "the folders of its workers"
            )
        raise UsageError(
            f"{where} holds nothing that was captured: give the --output folder of a mirror, the --captures "
            "folder, a workspace or a map, or make one first: sumi mirror URL"
        )
    by_root: dict[Path, list[Source]] = {}
    for (root, _), source in found.items():
        by_root.setdefault(root, []).append(source)
    return by_root


def _key(job: Job) -> str:
    if job.kind is JobKind.CAPTURE:
        return CAPTURES
    return os.path.relpath(job.state.resolve(), job.root.resolve())


def _name(job: Job) -> str:
    return job.root.resolve().name if job.kind is JobKind.CAPTURE else job.name


async def index(*places: Place, rebuild: bool = False, tell: Tell = lambda words: None) -> list[Indexed]:
    """``sumi index``: brings the search indexes of folders up to date; ``rebuild`` starts from nothing."""
    done = []
    for root, sources in sources_in(places).items():
        with closing(opened_index(root, rebuild=rebuild)) as store:
            if store.note:
                tell(store.note)
            done.append(await update_index(store, sources, tell=tell))
    return done


def opened_index(root: Path, *, rebuild: bool = False) -> SearchIndex:
    store = SearchIndex(root)
    if rebuild:
        store.close()
        store.remove()
        store = SearchIndex(root)
    return store


async def update_index(
    store: SearchIndex, sources: list[Source], *, tell: Tell = lambda words: None, only_stale: bool = False
) -> Indexed:
    """``only_stale``: those whose stored state has not changed since are passed over, and those of a running
    job, if something of it is there."""
    counts = _Counts()
    known: dict[str, str] = dict(store.rows("SELECT key, stamp FROM source"))
    for source in sources:
        stamp = stamp_of(source)
        if only_stale and source.key in known and (known[source.key] == stamp or source.is_running):
            continue
        tell(f"indexing {source.name}")
        try:
            await _update_source(store, source, stamp, counts)
        except SumiError as error:
            if len(sources) == 1:
                raise
            tell(f"{source.name} is not indexed: {error}")
    _forget_removed(store, known.keys() - {source.key for source in sources})
    ((pages,),) = store.rows("SELECT count(*) FROM page")
    added, changed, gone, unreadable = counts.numbers
    return Indexed(store.root, pages, added, changed, gone, unreadable, store.note)


class _Counts:
    def __init__(self) -> None:
        self.numbers = [0, 0, 0, 0]

    def add(self, added: int, changed: int, gone: int, unreadable: int) -> None:
        self.numbers = [a + b for a, b in zip(self.numbers, (added, changed, gone, unreadable), strict=True)]


def stamp_of(source: Source) -> str:
    """Changes whenever the stored state of its jobs does; cheap."""
    places: set[Path] = set()
    for job in source.jobs:
        if job.kind is JobKind.CAPTURE:
            places.add(job.root / CAPTURES)
        else:
            places.add(job.state)
    found = sorted(entry for place in places for entry in _sizes(place))
    if any((place / FORMAT_NAME).is_file() and backend_of(place) == DATABASE_FORMAT for place in places):
        found.append(("looked at", int(time.time() / _LOOK_AGAIN), 0))  # a database has no files to look at
    return sha256(repr(found).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _sizes(place: Path) -> list[tuple[str, int, int]]:
    if place.is_dir():
        with os.scandir(place) as entries:
            files = [entry.path for entry in entries if entry.is_file() and entry.name not in _NOT_STATE]
    else:
        files = [str(place), f"{place}-wal"]
    found = []
    for file in files:
        try:
            status = os.stat(file)
        except OSError:
            continue
        if status.st_size:  # an empty log comes and goes with who reads
            found.append((os.path.basename(file), status.st_size, status.st_mtime_ns))
    return found


async def _update_source(store: SearchIndex, source: Source, stamp: str, counts: _Counts) -> None:
    with store.writing():
        number = store.source_id(source.key, source.kind.value, source.name)
        found = FoundPages(store, number)
        async with _opened(source) as opened:
            for job, pages in enumerate(opened):
                await found.add(pages.all(), job, host_of, mark_of)
            endings = found.endings()
            added, changed, gone = found.compare(_stale_sites(store, number, endings))
            store.drop_pages(found.dropped())
            unreadable = await _put(store, number, found, opened, endings)
        found.touch()
        store.db.execute("DELETE FROM site WHERE source = ? AND id NOT IN (SELECT site FROM page)", (number,))
        store.db.execute(
            "UPDATE source SET stamp = ?, updated_at = ? WHERE id = ?", (stamp, time.time(), number)
        )
    counts.add(added, changed, gone, unreadable)


@asynccontextmanager
async def _opened(source: Source) -> AsyncIterator[list[Pages]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(open_pages(job)) for job in source.jobs]


def _stale_sites(store: SearchIndex, source: int, endings: dict[str, str]) -> set[str]:
    """Hosts whose titles now share another ending, which all of them lose."""
    rows = store.rows("SELECT host, ending FROM site WHERE source = ?", (source,))
    return {host for host, ending in rows if endings.get(host, "") != ending}


def mark_of(page: CapturedPage) -> str:
    made_with = __version__ if page.form is Form.HTML else ""
    parts = (page.sha256, page.title, page.path, page.form.value, made_with)
    return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


async def _put(
    store: SearchIndex, source: int, found: FoundPages, opened: list[Pages], endings: dict[str, str]
) -> int:
    sites = {host: store.site_id(source, host) for host in found.wanted_hosts()}
    for host, site in sites.items():
        store.db.execute("UPDATE site SET ending = ? WHERE id = ?", (endings[host], site))
    unreadable = 0
    async with Converter() as converter:
        for batch in found.wanted(_AT_ONCE):
            texts = await asyncio.gather(*(as_markdown(page, opened[job], converter) for page, job in batch))
            for (page, _), text in zip(batch, texts, strict=True):
                unreadable += text is None and page.form is not Form.NONE
                host = host_of(page.url)
                title = page.title.removesuffix(endings[host])
                shown = indexed_page("" if text is None else text.decode("utf-8", "replace"))
                store.put_page(sites[host], _entry(page, text), shown, title)
    return unreadable


def _entry(page: CapturedPage, text: bytes | None) -> PageEntry:
    about = f"{page.address}\n{page.content_type}" if page.form is Form.HTML else ""
    digest = "" if text is None else sha256(text).hexdigest()
    # A page that could not be read is tried again by the next update.
    mark = "" if text is None and page.form is not Form.NONE else mark_of(page)
    return PageEntry(
        page.url,
        page.path,
        page.title,
        mark,
        page.sha256,
        digest,
        page.form.value,
        page.fetched_at,
        page.fidelity,
        about,
    )


def _forget_removed(store: SearchIndex, keys: Iterable[str]) -> None:
    """Jobs that were deleted since."""
    removed = [key for key in keys if not (store.root / key).exists()]
    if removed:
        with store.writing():
            for key in removed:
                ((number,),) = store.rows("SELECT id FROM source WHERE key = ?", (key,))
                store.drop_source(number)


def host_of(url: str) -> str:
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


async def keep_current(place: Place, tell: Callable[[Event], None]) -> None:
    """After a run, its index is brought up to date. A failing index never fails a run: it is told, and the
    next search tries again."""
    try:
        await index(place)
    except SumiError as error:
        tell(Warned(f"the search index was not updated: {error}"))
    except Exception as error:  # noqa: BLE001 - what was captured is there; its index can be made again
        tell(Warned(f"the search index was not updated: {type(error).__name__}: {error}"))
