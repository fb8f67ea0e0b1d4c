"""Bytes behind the end of an answer: it was longer than it said, so what was read may be half a page.

curl drops them. It says so in passing where it has read them; what it has not read is still in the socket.
Within TLS nobody can look into the socket: there, only what came together with the end of the answer is seen.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from sumi.fetch.kept_connections import is_unread

# How long a server that closes the connection after its answer may take to do so. Those that send the head by
# itself send the rest within microseconds, and the end right behind it.
_LINGER_SECONDS = 0.5

# What curl says, in its own words.
_WORDS = (b"Excess found", b"Leftovers after chunking")
_ASKS_AGAIN = b"Connection died, retrying"
_REFUSED = (b"HTTP/2 stream ", b"refused by server")


def speaks_of_surplus(words: bytes) -> bool:
    """Whether curl says that it has left out bytes behind the end of a body."""
    return words.startswith(_WORDS)


def asks_again(words: bytes) -> bool:
    """Whether curl says that a used connection ended without an answer, so that it is about to ask once more
    in a new one."""
    return words.startswith(_ASKS_AGAIN)


def was_refused(words: bytes) -> bool:
    """Whether curl says that an HTTP/2 server refused the request unseen, and that it asks once more: what a
    server did not look at was not asked."""
    return words.startswith(_REFUSED[0]) and _REFUSED[1] in words


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
