"""The picture of a map: positions and links as numbers, and what is asked about single pages."""

from collections.abc import Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from sumi.catalogue.find import Job, JobKind
from sumi.serve.lists import like
from sumi.serve.views import View
from sumi.serve.window import Refused, Window, answer, number

_PARTS: Final = ("positions", "marks", "edges")
_MOST_NEAR: Final = 500
_MOST_FOUND: Final = 20
_MOST_VISITED: Final = 200_000  # pages, on the way from one to another
_AT_ONCE: Final = 500


def map_of(window: Window, request: Request) -> Job:
    job = window.job(request)
    if job.kind is not JobKind.MAP:
        raise Refused(404, "This job is no map; sumi map makes one.")
    return job


def _picture(view: View, name: str) -> bytes:
    return bytes(view.rows("SELECT data FROM picture WHERE name = ?", (name,))[0][0])


async def show_map(window: Window, request: Request) -> Response:
    data = await window.views.ask(map_of(window, request), lambda view: _picture(view, "about"))
    return Response(data, media_type="application/json")


async def show_part(window: Window, request: Request) -> Response:
    """32-bit numbers, least significant byte first."""
    name = request.path_params["part"]
    if name not in _PARTS:
        raise Refused(404, "A map has positions, marks and edges.")
    data = await window.views.ask(map_of(window, request), lambda view: _picture(view, name))
    return Response(data, media_type="application/octet-stream")


async def show_near(window: Window, request: Request) -> Response:
    node = number(request, "node")
    return answer(await window.views.ask(map_of(window, request), lambda view: _near(view, node)))


def _near(view: View, node: int) -> dict[str, Any]:
    rows = view.rows("SELECT id, url, title, domain, kind, depth, state FROM node WHERE id = ?", (node,))
    if not rows:
        raise Refused(404, "There is no such page on this map.")
    names = ("id", "url", "title", "domain", "kind", "depth", "state")
    to = view.rows("SELECT target FROM edge WHERE source = ? LIMIT ?", (node, _MOST_NEAR))
    of = view.rows("SELECT source FROM edge WHERE target = ? LIMIT ?", (node, _MOST_NEAR))
    return {
        **dict(zip(names, rows[0], strict=True)),
        "to": [row[0] for row in to],
        "from": [row[0] for row in of],
    }


async def show_found(window: Window, request: Request) -> Response:
    text = request.query_params.get("q", "")
    return answer(
        await window.views.ask(
            map_of(window, request),
            lambda view: _named(
                view,
                "url LIKE ?1 ESCAPE '\\' OR title LIKE ?1 ESCAPE '\\' ORDER BY length(url) LIMIT ?2",
                (like(text), _MOST_FOUND),
            ),
        )
    )


def _named(view: View, where: str, bindings: Sequence[Any]) -> list[dict[str, Any]]:
    rows = view.rows(f"SELECT id, url, title FROM node WHERE {where}", bindings)  # noqa: S608 - ours
    return [{"id": row[0], "url": row[1], "title": row[2]} for row in rows]


async def show_path(window: Window, request: Request) -> Response:
    """The pages of a shortest way from one to another, by links."""
    start, end = number(request, "from"), number(request, "to")

    def way(view: View) -> list[dict[str, Any]]:
        found = shortest(view, start, end)
        return [_named(view, "id = ?", (node,))[0] for node in found]

    return answer({"path": await window.views.ask(map_of(window, request), way)})


def shortest(view: View, start: int, end: int) -> list[int]:
    """Empty if there is none, or none among the first two hundred thousand pages on the way."""
    came: dict[int, int] = {start: start}
    ring = [start]
    while ring and end not in came and len(came) < _MOST_VISITED:
        ring = [page for some in _slices(ring) for page in _next(view, some, came)]
    if end not in came:
        return []
    way = [end]
    while way[-1] != start:
        way.append(came[way[-1]])
    return way[::-1]


def _slices(ring: list[int]) -> list[list[int]]:
    return [ring[at : at + _AT_ONCE] for at in range(0, len(ring), _AT_ONCE)]


def _next(view: View, some: list[int], came: dict[int, int]) -> list[int]:
    marks = ",".join("?" * len(some))
    fresh = []
    for source, target in view.rows(f"SELECT source, target FROM edge WHERE source IN ({marks})", some):  # noqa: S608
        if target not in came:
            came[target] = source
            fresh.append(target)
    return fresh
