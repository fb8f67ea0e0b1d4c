"""Contents of pages in segments: many zstd frames one after another, as one object of a store.

A page alone would cost a request of its own. A segment is closed once it is large or old, and written whole
under a name that nobody else can have. Where a frame is known as soon as it is appended; a page is settled
only after ``stored`` has returned for it. While the store cannot be written, ``stored`` does not return:
pages keep their places in flight, and go on once it can.
"""

import asyncio
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from sumi.errors import SumiError
from sumi.events import Busy, Event, Warned
from sumi.parse.page.raw import packed, unpacked
from sumi.ports import Place

TEXT, RAW, FILE = "text", "raw", "file"
SEGMENT_BYTES: Final = 8 * 1024 * 1024
SEGMENT_SECONDS: Final = 2.0
NAME: Final = re.compile(r"(?:text|raw|file)/[A-Za-z0-9-]+\.zst")
_PLACE: Final = re.compile(rf"({NAME.pattern})@(\d{{1,18}})\+(\d{{1,12}})(?:/[^/]+)?")
_MOST_FRAME: Final = 1024**3
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
_KEPT: Final = 8  # segments in a reader's memory


class Writable(Protocol):
    @property
    def address(self) -> str: ...

    async def put(self, name: str, data: bytes) -> None: ...


class Readable(Protocol):
    def read(self, name: str, start: int = 0, length: int | None = None) -> bytes | None: ...


def place_text(place: Place, called: str = "") -> str:
    """As a page's record has it instead of the path of a file. ``called``: a name for people."""
    name, start, length = place
    return f"{name}@{start}+{length}" + (f"/{called}" if called else "")


def place_in(text: str | None) -> Place | None:
    """None if that is the path of a file."""
    found = None if text is None else _PLACE.fullmatch(text)
    return None if found is None else (found[1], int(found[2]), int(found[3]))


class _Segment:
    def __init__(self, name: str) -> None:
        self.name = name
        self.data = bytearray()
        self.stored = asyncio.Event()
        self.closing: asyncio.TimerHandle | None = None


class SegmentWriter:
    """Implements ``sumi.ports.Segments``. ``writer``: in the name of every segment, and nobody else's."""

    def __init__(
        self,
        objects: Writable,
        tell: Callable[[Event], None],
        writer: str = "",
        *,
        most_bytes: int = SEGMENT_BYTES,
        most_seconds: float = SEGMENT_SECONDS,
        first_pause: float = _FIRST_PAUSE,
    ) -> None:
        self._objects = objects
        self._tell = tell
        self._writer = f"{writer}-{secrets.token_hex(8)}".lstrip("-")
        self._most_bytes = most_bytes
        self._most_seconds = most_seconds
        self._first_pause = first_pause
        self._number = 0
        self._open: dict[str, _Segment] = {}  # by kind
        self._unstored: dict[str, _Segment] = {}  # by name
        self._uploads: set[asyncio.Task[None]] = set()
        self._is_failing = False

    def add(self, kind: str, body: bytes) -> Place:
        return self.append(kind, packed(body)[1])

    def append(self, kind: str, frame: bytes) -> Place:
        segment = self._open.get(kind) or self._begin(kind)
        place = segment.name, len(segment.data), len(frame)
        segment.data += frame
        if len(segment.data) >= self._most_bytes:
            self._close(kind)
        return place

    def close_segment(self) -> None:
        """Nobody will append more for now, so nothing is gained by waiting."""
        for kind in list(self._open):
            self._close(kind)

    async def stored(self, places: Iterable[Place]) -> None:
        for name, _, _ in places:
            segment = self._unstored.get(name)
            if segment is not None:
                await segment.stored.wait()

    def read(self, place: Place) -> bytes | None:
        """What is not stored yet."""
        name, start, length = place
        segment = self._unstored.get(name)
        return None if segment is None else bytes(segment.data[start : start + length])

    async def aclose(self) -> None:
        """What is not stored by now belongs to pages that were not settled."""
        for segment in self._open.values():
            if segment.closing is not None:
                segment.closing.cancel()
        for upload in self._uploads:
            upload.cancel()
        await asyncio.gather(*self._uploads, return_exceptions=True)

    def _begin(self, kind: str) -> _Segment:
        self._number += 1
        segment = _Segment(f"{kind}/{self._writer}-{self._number:06}.zst")
        loop = asyncio.get_running_loop()
        segment.closing = loop.call_later(self._most_seconds, self._close, kind)
        self._open[kind] = self._unstored[segment.name] = segment
        return segment

    def _close(self, kind: str) -> None:
        segment = self._open.pop(kind)
        if segment.closing is not None:
            segment.closing.cancel()
        upload = asyncio.create_task(self._upload(segment), name=segment.name)
        self._uploads.add(upload)
        upload.add_done_callback(self._uploads.discard)

    async def _upload(self, segment: _Segment) -> None:
        """For as long as it takes. Writing the same again under the same name does no harm."""
        pause = self._first_pause
        while not await self._put(segment):
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        del self._unstored[segment.name]
        segment.stored.set()

    async def _put(self, segment: _Segment) -> bool:
        try:
            await self._objects.put(segment.name, bytes(segment.data))
        except (SumiError, OSError) as error:
            if not self._is_failing:
                self._is_failing = True
                self._tell(Warned(f"{error}; pages wait in flight until it can be"))
            return False
        if self._is_failing:
            self._is_failing = False
            self._tell(Busy(f"{self._objects.address} can be written again"))
        return True


class SegmentReader:
    """Reads frames back. Whoever reads two of one segment probably reads more, so it is kept whole."""

    def __init__(self, objects: Readable, kept: int = _KEPT) -> None:
        self._objects = objects
        self._most_kept = kept
        self._kept: OrderedDict[str, bytes | None] = OrderedDict()  # None: read from once

    def body(self, place: Place, most: int = _MOST_FRAME) -> bytes | None:
        """Unpacked; None if it is missing, damaged or larger."""
        frame = self.frame(place)
        return None if frame is None else unpacked(frame, most)

    def frame(self, place: Place) -> bytes | None:
        name, start, length = place
        if not NAME.fullmatch(name) or start < 0 or not 0 < length <= _MOST_FRAME:
            return None
        if name not in self._kept:
            self._keep(name, None)
            return self._objects.read(name, start, length)
        whole = self._kept[name]
        if whole is None:
            whole = self._objects.read(name) or b""
        self._keep(name, whole)
        frame = whole[start : start + length]
        return frame if len(frame) == length else None

    def _keep(self, name: str, data: bytes | None) -> None:
        self._kept[name] = data
        self._kept.move_to_end(name)
        while len(self._kept) > self._most_kept:
            self._kept.popitem(last=False)
