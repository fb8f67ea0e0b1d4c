"""How the bodies of an archive are packed, where it is not each by itself: not at all, or with a dictionary.

Both are digesters around the one that does the work, as bodies are packed by whoever digests them.
"""

import asyncio

import msgspec

from sumi.files.blobs import Dictionaries
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.parse.page.raw import SAMPLE_BYTES, SAMPLES, trained
from sumi.ports import Digester


class NoPacking:
    """Implements ``sumi.ports.Digester``. Of bodies that are kept as they came, only the hash is made."""

    def __init__(self, digester: Digester) -> None:
        self._digester = digester

    async def digest(self, request: DigestRequest) -> PageDigest | Undigested:
        return await self._digester.digest(msgspec.structs.replace(request, pack=False))

    async def aclose(self) -> None:
        """The digester around which this is, is its owner's to close."""


class TrainedPacking:
    """Implements ``sumi.ports.Digester``. Most of a page is what it has in common with others: that is learnt
    from the first of an archive, and only once, as a blob needs the dictionary that it was packed with."""

    def __init__(self, digester: Digester, dictionaries: Dictionaries) -> None:
        self._digester = digester
        self._dictionaries = dictionaries
        self._dictionary = dictionaries.in_use()
        self._samples: list[bytes] = []
        self._training: asyncio.Task[None] | None = None

    async def digest(self, request: DigestRequest) -> PageDigest | Undigested:
        """Raises what a failing disk raised at the dictionary."""
        if self._training is not None and self._training.done():
            self._training.result()
        if request.raw and self._dictionary:
            request = msgspec.structs.replace(request, dictionary=self._dictionary)
        result = await self._digester.digest(request)
        if isinstance(result, PageDigest) and request.raw and self._training is None:
            self._learn(request.body)
        return result

    async def aclose(self) -> None:
        """As above; but what has begun is waited for."""
        if self._training is not None:
            await self._training

    def _learn(self, body: bytes) -> None:
        if self._dictionary:
            return
        self._samples.append(body[:SAMPLE_BYTES])
        if len(self._samples) == SAMPLES:
            self._training = asyncio.create_task(self._train())

    async def _train(self) -> None:
        """Durable before anything is packed with it."""
        samples, self._samples = self._samples, []
        made = self._dictionaries.in_use()  # by another process of this archive, meanwhile
        if not made:
            made = await asyncio.to_thread(trained, samples)
            if made:
                self._dictionaries.add(made)
        await asyncio.to_thread(self._dictionaries.sync)
        self._dictionary = made
