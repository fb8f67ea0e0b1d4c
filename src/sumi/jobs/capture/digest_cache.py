"""Page digests of earlier captures: the same body is not parsed twice.

A digest depends on its request alone. It is stored under the hash of the body and a hash of everything else
it depends on, this version of Sumi included. Its text is stored with the texts of all pages.
"""

from hashlib import blake2b
from typing import Final, NamedTuple

import msgspec

from sumi import __version__
from sumi.jobs.capture.cache import PageCache
from sumi.jobs.capture.database import CaptureDatabase
from sumi.jobs.capture.rows import StoredDigest
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.parse.page.raw import packed, unpacked
from sumi.ports import Digester

_MOST_BYTES: Final = 128 * 1024 * 1024  # the largest answer of a digest worker
_decoder = msgspec.msgpack.Decoder(PageDigest)


class DigestInFlight(NamedTuple):
    """The digest of a page that is not settled yet. ``new``: what to store; None if it was cached."""

    body_sha256: str
    new: StoredDigest | None


class DigestCache:
    def __init__(self, database: CaptureDatabase, cache: PageCache) -> None:
        self._database = database
        self._cache = cache
        self._in_flight: dict[str, DigestInFlight] = {}

    def get(self, request: DigestRequest) -> PageDigest | None:
        """Without the packed body, which is stored already."""
        if not self._cache.active:
            return None
        body_sha256 = self._cache.sha256_of(request.url, request.body)
        frame = self._database.digest(body_sha256, _request_hash(request))
        digest = None if frame is None else _unpacked(frame)
        if digest is None or digest.sha256 is None or (request.vocabulary and not digest.vocabulary):
            return None
        text = self._database.content(digest.sha256)
        if text is None:
            return None
        self._in_flight[request.url] = DigestInFlight(body_sha256, None)
        return msgspec.structs.replace(
            digest,
            markdown=text.decode("utf-8", "replace"),
            raw_sha256=body_sha256,
            vocabulary=digest.vocabulary if request.vocabulary else b"",
        )

    def add(self, request: DigestRequest, digest: PageDigest) -> None:
        if digest.raw_sha256 is not None:
            new = StoredDigest(digest.raw_sha256, _request_hash(request), _packed(digest))
            self._in_flight[request.url] = DigestInFlight(digest.raw_sha256, new)

    def take(self, address: str) -> DigestInFlight | None:
        """Remove and return the digest of the page at an address."""
        return self._in_flight.pop(address, None)


class CachingDigester:
    """Implements ``sumi.ports.Digester``."""

    def __init__(self, digester: Digester, cache: DigestCache) -> None:
        self._digester = digester
        self._cache = cache

    async def digest(self, request: DigestRequest) -> PageDigest | Undigested:
        if not request.raw:  # without a stored body there is nothing to store a digest with
            return await self._digester.digest(request)
        known = self._cache.get(request)
        if known is not None:
            return known
        digest = await self._digester.digest(request)
        if isinstance(digest, PageDigest):
            self._cache.add(request, digest)
        return digest

    async def aclose(self) -> None:
        await self._digester.aclose()


def _request_hash(request: DigestRequest) -> str:
    """Of everything but the body and the vocabulary, which changes nothing else."""
    rest = msgspec.structs.replace(request, body=b"", vocabulary=False)
    return blake2b(msgspec.msgpack.encode((__version__, rest)), digest_size=16).hexdigest()


def _packed(digest: PageDigest) -> bytes:
    rest = msgspec.structs.replace(digest, markdown=None, raw=b"", raw_sha256=None)
    return packed(msgspec.msgpack.encode(rest))[1]


def _unpacked(frame: bytes) -> PageDigest | None:
    data = unpacked(frame, _MOST_BYTES)
    try:
        return None if data is None else _decoder.decode(data)
    except msgspec.MsgspecError:
        return None
