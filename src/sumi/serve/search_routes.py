"""Search over everything that was captured, as ``sumi search`` does it."""

import asyncio

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sumi.catalogue.find import JobKind
from sumi.corpus.indexing import host_of
from sumi.corpus.searching import Found, search
from sumi.serve.commands import as_typed
from sumi.serve.jobs import job_id
from sumi.serve.window import Refused, Window, answer

_MOST = 30
_LONGEST = 400  # characters of a question


async def show_found(window: Window, request: Request) -> Response:
    query, site = request.query_params.get("q", ""), request.query_params.get("site", "")
    if len(query) > _LONGEST:
        raise Refused(400, f"A question has at most {_LONGEST} characters.")
    places = window.jobs.places
    # In a thread: the first search of a folder makes its index.
    found = await asyncio.to_thread(lambda: asyncio.run(search(query, *places, site=site, limit=_MOST)))
    jobs = _by_host(window)
    words = ["search", query, *(["--site", site] if site else [])]
    for place in places:
        words += ["--in", str(place)]
    pages = [_with_job(page, jobs) for page in found]
    return answer({"found": pages, "sites": sorted(jobs), "command": as_typed(words)})


def _with_job(page: Found, jobs: dict[str, str]) -> dict[str, object]:
    return {**msgspec.to_builtins(page), "job": jobs.get(page.site)}


def _by_host(window: Window) -> dict[str, str]:
    """The job that began on each host."""
    found: dict[str, str] = {}
    for job in window.jobs.all().values():
        if job.kind is JobKind.MAP:
            continue  # it keeps no texts
        for target in job.target.split(", "):
            found.setdefault(host_of(target), job_id(job))
    return found
