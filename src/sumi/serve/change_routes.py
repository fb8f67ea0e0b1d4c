"""What changed: over all sites, of one page, and as feeds."""

import time
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sumi.catalogue.find import Job, JobKind
from sumi.corpus.change_feeds import atom, change_fields, changes
from sumi.corpus.histories import Site, chosen, reading, since_time, sites_in
from sumi.corpus.page_diffs import PageDiff, before, page_diff, word_lines
from sumi.errors import UsageError
from sumi.history.rows import ChangeKind, Version
from sumi.serve.jobs import job_id
from sumi.serve.window import Refused, Window, answer

_MOST: int = 500
_MOST_LINES: int = 20_000
# A first capture adds thousands of pages: what became of known ones must be found among them.
_KINDS = {
    "changed": frozenset({ChangeKind.CHANGED, ChangeKind.BACK, ChangeKind.MOVED}),
    "added": frozenset({ChangeKind.ADDED}),
    "gone": frozenset({ChangeKind.GONE}),
}


def _sites(window: Window, job: Job | None = None) -> list[Site]:
    with suppress(UsageError):
        return sites_in(
            [job.root if job.kind is JobKind.CAPTURE else job.home] if job else [*window.jobs.places]
        )
    return []


def _ids(window: Window) -> dict[str, str]:
    """Of jobs by their folders."""
    return {str(job.home.resolve()): job_id(job) for job in window.jobs.all().values()}


async def show_changes(window: Window, request: Request) -> Response:
    job = window.job(request) if request.query_params.get("job") else None
    since = since_time(request.query_params.get("since", "30d"))
    minor = request.query_params.get("minor") == "1"
    ids = _ids(window)
    kinds = _KINDS.get(request.query_params.get("kind", ""), frozenset(ChangeKind))
    found = changes(_sites(window, job), since=since, minor=minor, limit=_MOST, kinds=kinds)
    return answer(
        {
            "changes": [
                {
                    **change_fields(change),
                    "at": change.version.at,
                    "job": job_id(job) if job else ids.get(str(change.site.home.resolve())),
                }
                for change in found
            ],
            "cut": len(found) == _MOST,
        }
    )


async def show_versions(window: Window, request: Request) -> Response:
    job, url = window.job(request), request.query_params.get("url", "")
    for site in _sites(window, job):
        with reading(site) as store:
            if store.head(url) is not None:
                return answer([_version(version) for version in store.versions(url)])
    return answer([])


def _version(version: Version) -> dict[str, Any]:
    return {
        "number": version.number,
        "at": version.at,
        "kind": version.kind,
        "added": version.added,
        "removed": version.removed,
        "minor": version.minor,
        "title": version.title,
    }


async def show_diff(window: Window, request: Request) -> Response:
    job, url = window.job(request), request.query_params.get("url", "")
    old, new = request.query_params.get("a", ""), request.query_params.get("b", "")
    for site in _sites(window, job):
        with reading(site) as store:
            if store.head(url) is None:
                continue
            found = store.versions(url)
            last = next((v for v in reversed(found) if v.kind != ChangeKind.ADDED), found[-1])
            newer = chosen(found, new) if new else last
            older = chosen(found, old) if old else before(found, newer)
            return answer(_diff(page_diff(store, older, newer)))
    raise Refused(404, "No version of this page is recorded.")


def _diff(diff: PageDiff) -> dict[str, Any]:
    shown, hunks = 0, []
    for hunk in diff.hunks:
        if shown + len(hunk.lines) > _MOST_LINES:
            break
        shown += len(hunk.lines)
        hunks.append(
            {
                "head": hunk.head,
                "old_start": hunk.old_start,
                "new_start": hunk.new_start,
                "lines": list(hunk.lines),
                "words": [[list(piece) for piece in line] for line in word_lines(hunk)],
            }
        )
    return {
        "url": diff.url,
        "old": None if diff.old is None else _version(diff.old),
        "new": _version(diff.new),
        "hunks": hunks,
        "added": diff.added,
        "removed": diff.removed,
        "lost": diff.lost or ("the version before" if diff.forgotten else ""),
        "cut": len(hunks) < len(diff.hunks),
    }


async def show_feed(window: Window, request: Request) -> Response:
    """``/feed/all.atom``, or of one job by its id or the name of its folder."""
    name = request.path_params["name"]
    sites = _sites(window)
    if name != "all":
        by_id = {job_id(job): job.home for job in window.jobs.all().values()}
        sites = [site for site in sites if site.name == name or by_id.get(name) == site.home]
    if not sites:
        raise Refused(404, "There is no history of that name.")
    found = changes(sites, diffs=True, minor=request.query_params.get("minor") == "1")
    text = "".join(atom(found, sites, time.time()))
    return Response(text.encode("utf-8", "replace"), media_type="application/atom+xml")
