"""``/api/events``: numbers as they change, to at most sixteen pages at once."""

import asyncio
import time
from collections.abc import AsyncIterator
from hashlib import sha256
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from sumi.serve.job_logs import log_of
from sumi.serve.summaries import JobSummary, summary_of
from sumi.serve.window import Refused, Window

MOST_STREAMS: Final = 16
_TICK_SECONDS: Final = 0.25
_ALIVE_SECONDS: Final = 15.0
_RETRY: Final = b"retry: 2000\n\n"


async def show_events(window: Window, request: Request) -> Response:
    """Of all jobs, or of one with what it does right now."""
    if window.streams >= MOST_STREAMS:
        raise Refused(503, f"{MOST_STREAMS} pages follow this window already: close one of them.")
    wanted = request.query_params.get("job")
    if wanted is not None:
        window.job(request)
    window.streams += 1
    seen = request.headers.get("last-event-id", "")
    return StreamingResponse(_events(window, wanted, seen), media_type="text/event-stream")


async def _events(window: Window, wanted: str | None, seen: str) -> AsyncIterator[bytes]:
    """An event's id is that of its content: a page that comes back is not told again what it knows."""
    said = time.monotonic()
    try:
        yield _RETRY
        while True:
            data = msgspec.json.encode(await _state(window, wanted))
            name = sha256(data).hexdigest()[:16]
            if name != seen:
                seen, said = name, time.monotonic()
                yield b"id: %s\nevent: jobs\ndata: %s\n\n" % (name.encode(), data)
            elif time.monotonic() - said > _ALIVE_SECONDS:
                said = time.monotonic()
                yield b": still here\n\n"
            await asyncio.sleep(_TICK_SECONDS)
    finally:
        window.streams -= 1


async def _state(window: Window, wanted: str | None) -> dict[str, object]:
    window.children.look()
    jobs = window.jobs.all()
    if wanted is None:
        return {"jobs": [_brief(await summary_of(job, window.views)) for job in jobs.values()]}
    job = jobs.get(wanted)
    if job is None:
        return {"jobs": []}
    return {"jobs": [await summary_of(job, window.views)], "log": log_of(job).size()}


def _brief(summary: JobSummary) -> JobSummary:
    summary.now = None  # a list shows no hosts
    return summary
