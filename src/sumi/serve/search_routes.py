"""Search over everything that was captured, as ``sumi search`` does it."""

import asyncio
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sumi.catalogue.find import Job, JobKind
from sumi.corpus.indexing import host_of
from sumi.corpus.searching import Found, search
from sumi.serve.commands import as_typed
from sumi.serve.jobs import job_id
from sumi.serve.page_view import find_record
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
    jobs = [job for job in window.jobs.all().values() if job.kind is not JobKind.MAP]  # which keeps no texts
    hosts = _by_host(jobs)
    words = ["search", query, *(["--site", site] if site else [])]
    for place in places:
        words += ["--in", str(place)]
    pages = [{**msgspec.to_builtins(page), "job": await _job_of(window, page, jobs, hosts)} for page in found]
    return answer({"found": pages, "sites": sorted(hosts), "command": as_typed(words)})


def _by_host(jobs: list[Job]) -> dict[str, str]:
    """The job that began on each host."""
    found: dict[str, str] = {}
    for job in jobs:
        for target in filter(None, job.target.split(", ")):
            found.setdefault(host_of(target), job_id(job))
    return found


async def _job_of(window: Window, page: Found, jobs: list[Job], hosts: dict[str, str]) -> str | None:
    """The job in whose folder the page is; or that began on its host; or that knows it, as captures know
    pages outside of their bases."""
    for job in jobs:
        if page.file and Path(page.file).is_relative_to(job.home):
            return job_id(job)
    if page.site in hosts:
        return hosts[page.site]
    for job in jobs:
        if job.kind is JobKind.CAPTURE and await _knows(window, job, page.url):
            return job_id(job)
    return None


async def _knows(window: Window, job: Job, url: str) -> bool:
    if not window.views.is_ready(job):
        return False
    return await window.views.ask(job, lambda view: find_record(view, url)) is not None
