"""Long calls to a database, beside the event loop."""

import asyncio
from collections.abc import Callable


async def through_in_thread(work: Callable[[], None]) -> None:
    """In a thread, to its end even if we are cancelled: until then the database is in its hands."""
    done = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done])
        raise
