"""``_assets/``: the original images and files, under readable names.

A name consists of the last part of the URL, the hash of the URL and an extension that fits the content, so
each URL has its own name in every run. Content that several URLs share is stored once.
"""

import asyncio
import re
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterable
from hashlib import sha256
from typing import TypeAlias
from urllib.parse import unquote

import msgspec

from sumi.files.safe_files import SafeFolder
from sumi.jobs.mirror.markdown_page import HEAD_END
from sumi.jobs.mirror.settings import MirrorSettings
from sumi.jobs.mirror.survey import stored_pages
from sumi.model import Candidate, Hop, Kind, Lease, PageFacts, Response
from sumi.outcomes import Outcome, Verdict
from sumi.parse.markdown.link_targets import image_targets
from sumi.parse.page.media_type import file_extension, image_extension, named_like_a_file, url_extension
from sumi.policy import Preset
from sumi.ports import Enqueue, Frontier, Ledger, Remains, Settlement, UrlRecord
from sumi.state.entries import LIFTED_BY_EMBED
from sumi.urls import normalize

FOLDER = "_assets"
KINDS = ("images", "files")
_STORED = frozenset({Outcome.STORED, Outcome.STALE, Outcome.PENDING})

NAME_CHARACTERS = 50  # of up to four bytes each: with hash and extension below the 255 bytes of file systems
HASH_CHARACTERS = 16
_NOT_IN_NAMES = re.compile(r"[^\w.-]+|\.{2,}")
_IMAGES = frozenset({"png", "jpg", "gif", "webp", "avif", "heic", "bmp", "ico", "tif", "svg"})

# Set once the assets of all stored pages are queued; cleared by a run without assets.
NOTE = "mirror.assets_taken_up"
BATCH = 500

ReadPage: TypeAlias = Callable[[PageFacts], bytes | None]

NO_IMAGE = Verdict(Outcome.NOT_AN_ASSET, "expected an image, got something else")
A_PAGE = Verdict(Outcome.NOT_AN_ASSET, "expected a file, got a web page")


async def stored_assets(ledger: Ledger) -> AsyncIterator[UrlRecord]:
    """Every stored image and file, including those that an unfinished update has yet to request."""
    async for record in ledger.records(_STORED):
        if record.facts.asset and record.facts.path is not None:
            yield record


class AssetFolder:
    """Knows all stored contents, so that each is on the disk once; names that share it are hard links."""

    def __init__(self, files: SafeFolder, home: str, most_bytes: int) -> None:
        self._files = files
        self._folder = f"{home}/{FOLDER}"
        self._most_bytes = most_bytes
        self._contents: dict[str, PageFacts] = {}  # by hash: a file that has it
        self._named: set[str] = set()
        self._bytes = 0

    async def load(self, ledger: Ledger) -> None:
        self._contents, self._named, self._bytes = {}, set(), 0
        if not any(self._files.names(f"{self._folder}/{kind}") for kind in KINDS):
            return  # most mirrors have none, and reading the ledger is slow
        async for record in stored_assets(ledger):
            self._note(record.facts)

    def keep(self, url: str, kind: Kind, response: Response) -> PageFacts | Verdict:
        facts = asset_facts(url, kind, response)
        if isinstance(facts, Verdict):
            return facts
        if facts.sha256 not in self._contents and self._bytes + len(response.body) > self._most_bytes:
            return full(self._bytes, self._most_bytes)
        facts = msgspec.structs.replace(facts, path=f"{self._folder}/{facts.path}")
        self._put(facts, response.body)
        return facts

    def sweep(self) -> None:
        """Remove files that no record names."""
        for kind in KINDS:
            folder = f"{self._folder}/{kind}"
            for name in self._files.names(folder):
                if f"{folder}/{name}" not in self._named:
                    self._files.remove(f"{folder}/{name}")

    def _put(self, facts: PageFacts, body: bytes) -> None:
        path, twin = facts.path or "", self._contents.get(facts.sha256 or "")
        if not self._has(path, facts):
            shared = twin is not None and twin.path is not None and self._has(twin.path, facts)
            if not (shared and twin is not None and self._files.link_atomic(path, twin.path or "")):
                self._files.write_atomic(path, body)
        self._note(facts)

    def _note(self, facts: PageFacts) -> None:
        self._named.add(facts.path or "")
        if facts.sha256 is not None and facts.sha256 not in self._contents:
            self._contents[facts.sha256] = facts
            self._bytes += facts.size or 0

    def _has(self, path: str, facts: PageFacts) -> bool:
        """Reads the file: an update may have replaced it, and a power cut may have zeroed it."""
        data = self._files.read_bytes(path)
        return data is not None and is_whole_asset(data, facts)


def full(taken: int, most: int) -> Verdict:
    return Verdict(Outcome.ASSETS_FULL, f"the others take {taken} of {most} bytes")


def asset_facts(url: str, kind: Kind, response: Response) -> PageFacts | Verdict:
    """What to record of it, with its path below the folder of assets; why not, if it is none."""
    body, declared = response.body, response.header("content-type") or ""
    extension = image_extension(body) if kind is Kind.IMAGE else file_extension(url, declared, body)
    if extension is None:
        return NO_IMAGE if kind is Kind.IMAGE else A_PAGE
    return PageFacts(
        status=response.status,
        content_type=declared or None,
        path=f"{_subfolder(extension)}/{asset_name(url, extension)}",
        size=len(body),
        sha256=sha256(body).hexdigest(),
        asset=True,
        etag=response.header("etag"),
        last_modified=response.header("last-modified"),
        body_bytes=len(body),
        latency_ms=round(response.timing.latency * 1000),
        fetched_at=response.timing.finished,
    )


def is_whole_asset(data: bytes, facts: PageFacts) -> bool:
    return len(data) == facts.size and sha256(data).hexdigest() == facts.sha256


def asset_name(url: str, extension: str) -> str:
    """``logo-0123456789abcdef.png``: never a hidden file or a reserved name."""
    last = url.partition("#")[0].partition("?")[0].rpartition("/")[2]
    name = unicodedata.normalize("NFC", unquote(last, errors="replace"))
    own = url_extension(url)
    if own in (extension, "jpeg", "tiff"):
        name = name[: -len(own) - 1]
    name = _NOT_IN_NAMES.sub("-", name)[:NAME_CHARACTERS].strip("-._")
    digest = sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{name or 'asset'}-{digest[:HASH_CHARACTERS]}.{extension}"


def asset_folder(name: str) -> str:
    """Where a file of this name goes."""
    return _subfolder(name.rpartition(".")[2])


def _subfolder(extension: str) -> str:
    return "images" if extension in _IMAGES else "files"


class EarlierAssets:
    """Implements ``sumi.ports.Source``: queues the assets of pages that were mirrored without assets."""

    more_to_come = False

    def __init__(self, ledger: Ledger, frontier: Frontier, read_page: ReadPage) -> None:
        self._ledger = ledger
        self._frontier = frontier
        self._read_page = read_page

    async def resume(self, enqueue: Enqueue) -> None:
        if await self._ledger.get_note(NOTE):
            return
        skipped = [record.url async for record in self._ledger.records({Outcome.NOT_HTML})]
        await self._frontier.requeue(skipped, 0.0)
        async for batch in _batches(self._candidates()):
            await enqueue(batch)
        await self._ledger.put_note(NOTE, "yes")

    async def feed(self, enqueue: Enqueue) -> None:
        return

    def at_hand(self, lease: Lease) -> Response | None:
        return None

    def remains(self) -> Remains:
        return Remains()

    def signed(self, settlement: Settlement) -> Settlement:
        return settlement

    async def _candidates(self) -> AsyncIterator[Candidate]:
        async for record in self._ledger.records({Outcome.UNLISTED}):
            if record.kind is Kind.PAGE and named_like_a_file(record.url):
                yield Candidate(record.url, Hop.EMBED, Kind.FILE, record.depth, record.referrer)
        async for page in stored_pages(self._ledger):
            for url in _images_in(self._read_page(page.facts) or b""):
                known = await self._ledger.record(url)
                if known is None or known.outcome in LIFTED_BY_EMBED:
                    yield Candidate(url, Hop.EMBED, Kind.IMAGE, page.depth, page.url)
            await asyncio.sleep(0)


async def forget_assets(ledger: Ledger) -> None:
    """After a run without assets, the next run with assets reads all pages again."""
    if await ledger.get_note(NOTE):
        await ledger.put_note(NOTE, "")


async def retry_skipped(
    ledger: Ledger, frontier: Frontier, before: MirrorSettings | None, now: MirrorSettings, at: float
) -> None:
    """Requeue assets that were over the former limits. Call it before the new limits are saved."""
    if before is None or not now.assets:
        return
    fits = set()
    if now.max_asset_size > before.max_asset_size:
        fits.add(Outcome.ASSET_TOO_LARGE)
    if now.max_assets_total > before.max_assets_total:
        fits.add(Outcome.ASSETS_FULL)
    urls = [record.url async for record in ledger.records(fits)] if fits else []
    await frontier.requeue(urls, at)


def _images_in(page: bytes) -> Iterable[str]:
    body = page.partition(HEAD_END)[2].decode("utf-8", "replace")
    urls = (normalize(target, Preset.MIRROR) for target in image_targets(body) if "://" in target)
    return dict.fromkeys(filter(None, urls))


async def _batches(candidates: AsyncIterator[Candidate]) -> AsyncIterator[list[Candidate]]:
    batch: list[Candidate] = []
    async for candidate in candidates:
        batch.append(candidate)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch
