"""Jobs and their lists."""

import time

from starlette.requests import Request
from starlette.responses import Response

from sumi import __version__
from sumi.outcomes import MEANINGS, Ending, Outcome
from sumi.serve import lists
from sumi.serve.job_logs import log_of
from sumi.serve.live import Line, read_activity
from sumi.serve.summaries import summary_of
from sumi.serve.window import Window, answer, number


async def show_session(window: Window, _request: Request) -> Response:
    return answer(
        {
            "csrf": window.access.derived("csrf"),
            "read_only": window.access.read_only,
            "version": __version__,
            "folders": [str(place) for place in window.jobs.places],
        }
    )


async def show_jobs(window: Window, _request: Request) -> Response:
    return answer([await summary_of(job, window.views) for job in window.jobs.all().values()])


async def show_job(window: Window, request: Request) -> Response:
    return answer(await summary_of(window.job(request), window.views, wait=True))


async def show_overview(window: Window, request: Request) -> Response:
    """A run tells its counts itself: what they mean need not wait until its pages have been read."""
    job = window.job(request)
    if job.process is not None and not window.views.is_ready(job):
        window.views.refresh(job)
        return answer({"outcomes": lists.meanings(), "fidelity": None})
    return await window.ask(
        request, lambda view: {"outcomes": lists.meanings(), "fidelity": lists.fidelity(view)}
    )


async def show_groups(window: Window, request: Request) -> Response:
    ending = request.query_params.get("ending")
    return await window.ask(request, lambda view: lists.groups(view, ending))


async def show_urls(window: Window, request: Request) -> Response:
    outcome, rule = request.query_params.get("outcome", ""), request.query_params.get("rule")
    after = number(request, "after")
    return await window.ask(request, lambda view: lists.urls_of_group(view, outcome, rule, after))


async def show_pages(window: Window, request: Request) -> Response:
    after, contains = request.query_params.get("after", ""), request.query_params.get("q", "")
    below = request.query_params.get("below") == "1"
    return await window.ask(request, lambda view: lists.pages(view, after, contains, below=below))


async def show_tree(window: Window, request: Request) -> Response:
    under, after = request.query_params.get("under", ""), request.query_params.get("after", "")
    return await window.ask(request, lambda view: lists.tree(view, under, after))


async def show_activity(window: Window, request: Request) -> Response:
    """Columns, as a curve needs them."""
    job = window.job(request)
    seconds = number(request, "seconds")
    since = time.time() - seconds if seconds else 0.0
    lines = read_activity(job, await window.role(job), since)
    return answer(
        {
            "at": [line.at for line in lines],
            "waiting": [line.pending for line in lines],
            "in_flight": [line.in_flight for line in lines],
            "bytes": [line.bytes for line in lines],
            **{ending.value: [_ended(line, ending) for line in lines] for ending in list(Ending)[:3]},
        }
    )


def _ended(line: Line, ending: Ending) -> int:
    known = {name: count for name, count in line.outcomes.items() if name in set(Outcome)}
    return sum(count for name, count in known.items() if MEANINGS[Outcome(name)].ending is ending)


async def show_hosts(window: Window, request: Request) -> Response:
    """What each host with work waits for, now or when it was last read."""
    job = window.job(request)
    made = await summary_of(job, window.views, wait=True)
    hosts = made.now["hosts"] if made.now else await window.views.ask(job, lists.hosts)
    answered = await window.views.ask(job, lists.answers_of_hosts)
    return answer({"hosts": hosts, "answers": answered, "at": made.at, "running": made.process is not None})


async def show_log(window: Window, request: Request) -> Response:
    """The last events of a job that was started here, the newest first."""
    kind = request.query_params.get("kind", "")
    events = log_of(window.job(request)).tail()
    kinds = sorted({str(event.get("event")) for event in events})
    chosen = [event for event in reversed(events) if not kind or event.get("event") == kind]
    return answer({"events": chosen[:500], "kinds": kinds})
