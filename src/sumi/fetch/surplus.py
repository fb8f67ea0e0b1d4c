"""Bytes behind the end of an answer: it was longer than it said, so what was read may be half a page.

curl drops them. It says so in passing where it has read them; what it has not read is still in the socket.
Within TLS nobody can look into the socket: what was left of one answer shows when it is read as the next.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from sumi.fetch.kept_connections import is_unread

# How long a server that closes the connection after its answer may take to do so. Those that send the head by
# itself send the rest within microseconds, and the end right behind it.
_LINGER_SECONDS = 0.5

# What curl says, in its own words.
_REUSED = (b"Reusing existing", b"Re-using existing")
_DIALLED = b"Established connection"
_SENT = b"Request completely sent off"
_WORDS = (b"Excess found", b"Leftovers after chunking")
_ASKS_AGAIN = b"Connection died, retrying"


def speaks_of_surplus(words: bytes) -> bool:
    """Whether curl says that it has left out bytes behind the end of a body."""
    return words.startswith(_WORDS)


def asks_again(words: bytes) -> bool:
    """Whether curl says that a used connection ended without an answer, so that it is about to ask once more
    in a new one."""
    return words.startswith(_ASKS_AGAIN)


class Earliness:
    """Tells an answer that was there before it was asked for: on a used connection, curl reads it in the very
    turn in which it sends the request."""

    __slots__ = ("_asked", "_reused", "_turn")

    def __init__(self, turn: Callable[[], int]) -> None:
        self._turn = turn
        self._asked: int | None = None
        self._reused = False

    def hear(self, words: bytes) -> None:
        if words.startswith(_REUSED):
            self._reused = True
        elif words.startswith(_DIALLED):
            self._reused = False
        elif words.startswith(_SENT):
            self._asked = self._turn()

    def is_early(self) -> bool:
        return self._reused and self._asked == self._turn()


async def follows(descriptors: Sequence[int]) -> bool:
    """Whether bytes come in one of these connections, which nobody reads any more, before it ends."""
    for descriptor in descriptors:
        await _readable(descriptor)
        if is_unread(descriptor):
            return True
    return False


async def _readable(descriptor: int) -> None:
    """Returns when there is something to read, be it the end, or after a while."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(ready.wait(), _LINGER_SECONDS)
    finally:
        loop.remove_reader(descriptor)
