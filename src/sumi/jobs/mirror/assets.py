"""``_assets/``: images and files as they came, under names that say what they are.

A name is made of what the URL calls it, of the URL's hash, and of an extension that the content vouches for:
every URL has its own, the same for ever. A content that several URLs have is on the disk once.
"""

import re
import unicodedata
from collections.abc import AsyncIterator
from hashlib import sha256
from urllib.parse import unquote

from sumi.files.safe_files import SafeFolder
from sumi.model import Kind, PageFacts, Response
from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.file_types import file_extension, image_extension, url_extension
from sumi.ports import Ledger, UrlRecord

FOLDER = "_assets"
KINDS = ("images", "files")
HERE = frozenset({Outcome.STORED, Outcome.STALE, Outcome.PENDING})

NAME_CHARACTERS = 50  # of up to four bytes each: with hash and extension below the 255 that disks take
HASH_CHARACTERS = 16
_NOT_IN_NAMES = re.compile(r"[^\w.-]+|\.{2,}")
_IMAGES = frozenset({"png", "jpg", "gif", "webp", "avif", "heic", "bmp", "ico", "tif", "svg"})

NO_IMAGE = Verdict(Outcome.NOT_AN_ASSET, "an image was expected, and what came is none")
A_PAGE = Verdict(Outcome.NOT_AN_ASSET, "a file was expected, and a web page came")


async def assets_here(ledger: Ledger) -> AsyncIterator[UrlRecord]:
    """Every image and file that is kept, those included that an unfinished update has yet to ask for."""
    async for record in ledger.records(HERE):
        if record.facts.asset and record.facts.path is not None:
            yield record


class AssetFolder:
    """Knows which contents are here, so that each is on the disk once, under as many names as it has URLs."""

    def __init__(self, files: SafeFolder, home: str, most_bytes: int) -> None:
        self._files = files
        self._folder = f"{home}/{FOLDER}"
        self._most_bytes = most_bytes
        self._contents: dict[str, PageFacts] = {}  # by hash: a file that has it
        self._named: set[str] = set()
        self._bytes = 0

    async def recall(self, ledger: Ledger) -> None:
        self._contents, self._named, self._bytes = {}, set(), 0
        if not any(self._files.names(f"{self._folder}/{kind}") for kind in KINDS):
            return  # most mirrors have none, and need not be looked through for them
        async for record in assets_here(ledger):
            self._note(record.facts)

    def keep(self, url: str, kind: Kind, response: Response) -> PageFacts | Verdict:
        body, declared = response.body, response.header("content-type") or ""
        extension = image_extension(body) if kind is Kind.IMAGE else file_extension(url, declared, body)
        if extension is None:
            return NO_IMAGE if kind is Kind.IMAGE else A_PAGE
        digest = sha256(body).hexdigest()
        if digest not in self._contents and self._bytes + len(body) > self._most_bytes:
            return Verdict(Outcome.ASSETS_FULL, f"the others take {self._bytes} of {self._most_bytes} bytes")
        facts = PageFacts(
            status=response.status,
            content_type=declared or None,
            path=f"{self._folder}/{_place(extension)}/{asset_name(url, extension)}",
            size=len(body),
            sha256=digest,
            asset=True,
            etag=response.header("etag"),
            last_modified=response.header("last-modified"),
            body_bytes=len(body),
            latency_ms=round(response.timing.latency * 1000),
            fetched_at=response.timing.finished,
        )
        self._put(facts, body)
        return facts

    def sweep(self) -> None:
        """Remove what no record names any more."""
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
        """Read, because an update may have put something else there, and a power cut nothing but zeros."""
        data = self._files.read_bytes(path)
        return data is not None and is_whole_asset(data, facts)


def is_whole_asset(data: bytes, facts: PageFacts) -> bool:
    return len(data) == facts.size and sha256(data).hexdigest() == facts.sha256


def asset_name(url: str, extension: str) -> str:
    """``logo-0123456789abcdef.png``: no name that means anything to any system, none that is hidden."""
    last = url.partition("#")[0].partition("?")[0].rpartition("/")[2]
    name = unicodedata.normalize("NFC", unquote(last, errors="replace"))
    own = url_extension(url)
    if own in (extension, "jpeg", "tiff"):
        name = name[: -len(own) - 1]
    name = _NOT_IN_NAMES.sub("-", name)[:NAME_CHARACTERS].strip("-._")
    digest = sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{name or 'asset'}-{digest[:HASH_CHARACTERS]}.{extension}"


def _place(extension: str) -> str:
    return "images" if extension in _IMAGES else "files"
