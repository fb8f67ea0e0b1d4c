"""The addresses of the window. Nothing here changes anything by GET, and no path comes from a request."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import wraps
from importlib.resources import files
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sumi import __version__
from sumi.catalogue.find import Job
from sumi.errors import SumiError
from sumi.serve import lists, page_view
from sumi.serve.guard import CAPTURED_POLICY, Access, Guard, TooLarge
from sumi.serve.jobs import Jobs
from sumi.serve.summaries import summary_of
from sumi.serve.views import NotYet, QueryTooLong, View, Views

STATIC: Final = {
    "app.js": "text/javascript",
    "app.css": "text/css",
    "icon.svg": "image/svg+xml",
}
_SCREENS: Final = ("/", "/job/{id}", "/job/{id}/{tab}", "/page/{id}")


class Refused(Exception):
    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


Handler = Callable[["Window", Request], Awaitable[Response]]


class Window:
    """What the handlers share."""

    def __init__(self, jobs: Jobs, views: Views, access: Access) -> None:
        self.jobs = jobs
        self.views = views
        self.access = access

    def job(self, request: Request) -> Job:
        wanted = request.path_params.get("id") or request.query_params.get("job") or ""
        found = self.jobs.get(wanted)
        if found is None:
            raise Refused(404, "There is no such job (any more) below the folders of this window.")
        return found

    async def ask(self, request: Request, question: Callable[[View], Any]) -> Response:
        return answer(await self.views.ask(self.job(request), question))


def answer(value: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")


# ── jobs and their lists ───────────────────────────────────────────────────────────────────────────────────


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
    return await window.ask(
        request, lambda view: {"outcomes": lists.outcomes(view), "fidelity": lists.fidelity(view)}
    )


async def show_groups(window: Window, request: Request) -> Response:
    ending = request.query_params.get("ending")
    return await window.ask(request, lambda view: lists.groups(view, ending))


async def show_urls(window: Window, request: Request) -> Response:
    outcome, rule = request.query_params.get("outcome", ""), request.query_params.get("rule")
    after = _number(request, "after")
    return await window.ask(request, lambda view: lists.urls_of_group(view, outcome, rule, after))


async def show_pages(window: Window, request: Request) -> Response:
    after, contains = request.query_params.get("after", ""), request.query_params.get("q", "")
    below = request.query_params.get("below") == "1"
    return await window.ask(request, lambda view: lists.pages(view, after, contains, below=below))


async def show_tree(window: Window, request: Request) -> Response:
    under, after = request.query_params.get("under", ""), request.query_params.get("after", "")
    return await window.ask(request, lambda view: lists.tree(view, under, after))


def _number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "0")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Refused(400, f"{name} is a whole number.")
    return int(text)


# ── one page ───────────────────────────────────────────────────────────────────────────────────────────────


async def _record(window: Window, request: Request) -> tuple[Job, page_view.PageRecord]:
    job, url = window.job(request), request.query_params.get("url", "")
    record = await window.views.ask(job, lambda view: page_view.find_record(view, url))
    if record is None:
        raise Refused(404, "The job does not know this URL.")
    return job, record


async def show_page(window: Window, request: Request) -> Response:
    job, record = await _record(window, request)
    markdown = page_view.markdown_of(job, record)
    original = page_view.original_of(job, record)
    return answer(
        {
            **page_view.about(record),
            "markdown": markdown,
            "source": original,
        }
    )


async def show_rendered(window: Window, request: Request) -> Response:
    job, record = await _record(window, request)
    markdown = page_view.markdown_of(job, record)
    return _captured(None if markdown is None else page_view.rendered(markdown.text))


async def show_original(window: Window, request: Request) -> Response:
    job, record = await _record(window, request)
    kind = (record.facts.content_type or "text/html").partition(";")[0].strip().lower()
    if kind not in ("text/html", "application/xhtml+xml"):
        raise Refused(415, "Only HTML is shown; this is another kind of file.")
    original = page_view.original_of(job, record)
    return _captured(None if original is None else page_view.disarmed(original.text))


def _captured(page: str | None) -> Response:
    if page is None:
        raise Refused(404, "This page's content is not there any more, or is not what was captured.")
    headers = {"content-security-policy": CAPTURED_POLICY}
    return Response(page.encode("utf-8", "replace"), media_type="text/html", headers=headers)


# ── the page itself ────────────────────────────────────────────────────────────────────────────────────────


def _static(name: str) -> bytes:
    return files("sumi.serve").joinpath("static", name).read_bytes()


async def show_screen(_window: Window, _request: Request) -> Response:
    return Response(_static("index.html"), media_type="text/html")


async def show_static(_window: Window, request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise Refused(404, "There is no such file.")
    return Response(_static(name), media_type=STATIC[name], headers={"cache-control": "no-cache"})


_ROUTES: Final[dict[str, Handler]] = {
    "/api/session": show_session,
    "/api/jobs": show_jobs,
    "/api/jobs/{id}": show_job,
    "/api/jobs/{id}/overview": show_overview,
    "/api/jobs/{id}/failures": show_groups,
    "/api/jobs/{id}/urls": show_urls,
    "/api/jobs/{id}/pages": show_pages,
    "/api/jobs/{id}/tree": show_tree,
    "/api/page": show_page,
    "/raw/rendered": show_rendered,
    "/raw/original": show_original,
    "/static/{name}": show_static,
    **dict.fromkeys(_SCREENS, show_screen),
}


def make_app(jobs: Jobs, access: Access, views: Views | None = None) -> Guard:
    window = Window(jobs, views or Views(), access)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await window.views.aclose()

    routes = [Route(path, _endpoint(window, handler)) for path, handler in _ROUTES.items()]
    return Guard(Starlette(routes=routes, lifespan=lifespan), access)


def _endpoint(window: Window, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    @wraps(handler)
    async def endpoint(request: Request) -> Response:
        try:
            return await handler(window, request)
        except Refused as refusal:
            return _problem(refusal.status, str(refusal))
        except NotYet as error:
            return _problem(503, str(error))
        except QueryTooLong as error:
            return _problem(504, str(error))
        except TooLarge:
            return _problem(413, "The request is too large.")
        except SumiError as error:
            return _problem(422, str(error))

    return endpoint


def _problem(status: int, sentence: str) -> Response:
    return answer({"error": sentence}, status)
