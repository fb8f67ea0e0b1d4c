"""What was made of a page's body is kept with it: the same body is not parsed a second time.

A digest follows from its request alone. So it is found by the hash of the body and by a hash of all else
that has a say in it, this version of Sumi included. Its text is where all texts are.
"""

from hashlib import blake2b
from typing import Final, NamedTuple

import msgspec

from sumi import __version__
from sumi.jobs.capture.cache import PageCache
from sumi.jobs.capture.database import CaptureDatabase
from sumi.jobs.capture.rows import KeptDigest
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.parse.page.raw import packed, unpacked
from sumi.ports import Digester

_MOST_BYTES: Final = 128 * 1024 * 1024  # what a digest worker may answer
_decoder = msgspec.msgpack.Decoder(PageDigest)


class Digested(NamedTuple):
    """A page in flight: its body's hash, and what is to be kept of its digest; None where that is here."""

    body: str
    new: KeptDigest | None


class DigestMemory:
    def __init__(self, database: CaptureDatabase, cache: PageCache) -> None:
        self._database = database
        self._cache = cache
        self._in_flight: dict[str, Digested] = {}

    def known(self, request: DigestRequest) -> PageDigest | None:
        """As it was made then; without the packed body, which is here."""
        if not self._cache.active:
            return None
        body = self._cache.hash_of(request.url, request.body)
        frame = self._database.digest(body, _terms(request))
        digest = None if frame is None else _read(frame)
        if digest is None or digest.sha256 is None or (request.vocabulary and not digest.vocabulary):
            return None
        text = self._database.content(digest.sha256)
        if text is None:
            return None
        self._in_flight[request.url] = Digested(body, None)
        return msgspec.structs.replace(
            digest,
            markdown=text.decode("utf-8", "replace"),
            raw_sha256=body,
            vocabulary=digest.vocabulary if request.vocabulary else b"",
        )

    def learn(self, request: DigestRequest, digest: PageDigest) -> None:
        if digest.raw_sha256 is not None:
            new = KeptDigest(digest.raw_sha256, _terms(request), _kept(digest))
            self._in_flight[request.url] = Digested(digest.raw_sha256, new)

    def take(self, address: str) -> Digested | None:
        """What was learnt of the page at an address, once."""
        return self._in_flight.pop(address, None)


class RememberingDigester:
    """Implements ``sumi.ports.Digester``."""

    def __init__(self, digester: Digester, memory: DigestMemory) -> None:
        self._digester = digester
        self._memory = memory

    async def digest(self, request: DigestRequest) -> PageDigest | Undigested:
        if not request.raw:  # where the body is not kept, nothing is kept with it
            return await self._digester.digest(request)
        known = self._memory.known(request)
        if known is not None:
            return known
        digest = await self._digester.digest(request)
        if isinstance(digest, PageDigest):
            self._memory.learn(request, digest)
        return digest

    async def aclose(self) -> None:
        await self._digester.aclose()


def _terms(request: DigestRequest) -> str:
    """Of everything but the body; whether the words are wanted too changes nothing else."""
    rest = msgspec.structs.replace(request, body=b"", vocabulary=False)
    return blake2b(msgspec.msgpack.encode((__version__, rest)), digest_size=16).hexdigest()


def _kept(digest: PageDigest) -> bytes:
    rest = msgspec.structs.replace(digest, markdown=None, raw=b"", raw_sha256=None)
    return packed(msgspec.msgpack.encode(rest))[1]


def _read(frame: bytes) -> PageDigest | None:
    data = unpacked(frame, _MOST_BYTES)
    try:
        return None if data is None else _decoder.decode(data)
    except msgspec.MsgspecError:
        return None
