"""The addresses of the window. Nothing here changes anything by GET, and no path comes from a request."""

import asyncio
import errno
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import wraps
from importlib import import_module
from importlib.resources import files
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sumi.errors import SumiError
from sumi.serve import event_stream, job_routes
from sumi.serve.agents_route import Agents
from sumi.serve.guard import Access, Guard, TooLarge
from sumi.serve.jobs import Jobs
from sumi.serve.views import NotYet, QueryTooLong, Views
from sumi.serve.window import Handler, Refused, Window, answer

STATIC: Final = {
    "app.js": "text/javascript",
    "map.js": "text/javascript",
    "plot.js": "text/javascript",
    "app.css": "text/css",
    "icon.svg": "image/svg+xml",
}
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_SCREENS: Final = (
    "/",
    "/job/{id}",
    "/job/{id}/{tab}",
    "/page/{id}",
    "/changes",
    "/explain",
    "/search",
    "/new",
    "/due",
)


def _static(name: str) -> bytes:
    return files("sumi.serve").joinpath("static", name).read_bytes()


async def show_screen(_window: Window, _request: Request) -> Response:
    return Response(_static("index.html"), media_type="text/html")


async def show_static(_window: Window, request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise Refused(404, "There is no such file.")
    return Response(_static(name), media_type=STATIC[name], headers={"cache-control": "no-cache"})


def _later(module: str, name: str) -> Handler:
    """A handler whose module is loaded when it is asked: a window opens sooner without all of them."""

    handler: Handler | None = None

    async def handle(window: Window, request: Request) -> Response:
        nonlocal handler
        if handler is None:
            handler = getattr(await asyncio.to_thread(import_module, f"sumi.serve.{module}"), name)
        return await handler(window, request)

    return handle


_LOOKS: Final[dict[str, Handler]] = {
    "/api/session": job_routes.show_session,
    "/api/jobs": job_routes.show_jobs,
    "/api/events": event_stream.show_events,
    "/api/changes": _later("change_routes", "show_changes"),
    "/api/versions": _later("change_routes", "show_versions"),
    "/api/diff": _later("change_routes", "show_diff"),
    "/api/due": _later("watch_routes", "show_due"),
    "/api/explain": _later("control_routes", "explain"),
    "/api/page": _later("page_routes", "show_page"),
    "/api/jobs/{id}": job_routes.show_job,
    "/api/jobs/{id}/overview": job_routes.show_overview,
    "/api/jobs/{id}/activity": job_routes.show_activity,
    "/api/jobs/{id}/hosts": job_routes.show_hosts,
    "/api/jobs/{id}/failures": job_routes.show_groups,
    "/api/jobs/{id}/urls": job_routes.show_urls,
    "/api/jobs/{id}/pages": job_routes.show_pages,
    "/api/jobs/{id}/tree": job_routes.show_tree,
    "/api/jobs/{id}/log": job_routes.show_log,
    "/api/jobs/{id}/again": _later("control_routes", "show_again"),
    "/api/jobs/{id}/exports": _later("export_routes", "show_exports"),
    "/api/jobs/{id}/urls.csv": _later("export_routes", "send_csv"),
    "/api/search": _later("search_routes", "show_found"),
    "/api/map/{id}": _later("map_routes", "show_map"),
    "/api/map/{id}/near": _later("map_routes", "show_near"),
    "/api/map/{id}/find": _later("map_routes", "show_found"),
    "/api/map/{id}/path": _later("map_routes", "show_path"),
    "/api/map/{id}/review": _later("review_routes", "show_undecided"),
    "/api/map/{id}/{part}": _later("map_routes", "show_part"),
    "/raw/rendered": _later("page_routes", "show_rendered"),
    "/raw/original": _later("page_routes", "show_original"),
    "/raw/file": _later("page_routes", "send_file"),
    "/raw/export/{id}": _later("export_routes", "send_export"),
    "/metrics": _later("metric_routes", "show_metrics"),
    "/feed/{name}.atom": _later("change_routes", "show_feed"),
    "/static/{name}": show_static,
    **dict.fromkeys(_SCREENS, show_screen),
}
_CHANGES: Final[dict[str, Handler]] = {
    "/api/jobs": _later("control_routes", "start"),
    "/api/plan": _later("control_routes", "plan"),
    "/api/command": _later("control_routes", "tell_command"),
    "/api/jobs/{id}/exports": _later("export_routes", "start_export"),
    "/api/jobs/{id}/{action}": _later("control_routes", "steer"),
    "/api/map/{id}/review": _later("review_routes", "decide"),
    "/api/map/{id}/review/command": _later("review_routes", "tell_review"),
}


def make_app(jobs: Jobs, access: Access, views: Views | None = None) -> Guard:
    window = Window(jobs, views or Views(), access)
    agents = Agents(jobs.places)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await agents.aclose()
        await window.views.aclose()

    looks = [Route(path, _endpoint(window, handler)) for path, handler in _LOOKS.items()]
    changes = [
        Route(path, _endpoint(window, handler), methods=["POST"]) for path, handler in _CHANGES.items()
    ]
    mcp = Route("/mcp", agents, methods=["POST"])
    unknown = {404: _show_unknown}
    return Guard(
        Starlette(routes=[*looks, *changes, mcp], lifespan=lifespan, exception_handlers=unknown), access
    )


async def _show_unknown(request: Request, _error: Exception) -> Response:
    """A mistyped address is still a page of the window, which says so and leads back."""
    if request.url.path.startswith(("/api/", "/raw/", "/static/", "/feed/")):
        return _problem(404, "There is no such address.")
    return Response(_static("index.html"), 404, media_type="text/html")


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
        except OSError as error:
            return _problem(507 if error.errno in _FULL else 500, f"The disk: {error.strerror}.")

    return endpoint


def _problem(status: int, sentence: str) -> Response:
    return answer({"error": sentence}, status)
