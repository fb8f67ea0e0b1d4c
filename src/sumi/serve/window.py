"""What the handlers of the window share: the jobs, their views, and how an answer looks."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sumi.catalogue.find import Job
from sumi.serve.control import Children
from sumi.serve.guard import Access
from sumi.serve.jobs import Jobs
from sumi.serve.summaries import role_of
from sumi.serve.views import View, Views

T = TypeVar("T")


class Refused(Exception):
    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Window:
    def __init__(self, jobs: Jobs, views: Views, access: Access) -> None:
        self.jobs = jobs
        self.views = views
        self.access = access
        self.children = Children()
        self.streams = 0  # of events, that are open

    def job(self, request: Request) -> Job:
        wanted = request.path_params.get("id") or request.query_params.get("job") or ""
        found = self.jobs.get(wanted)
        if found is None:
            raise Refused(404, "There is no such job (any more) below the folders of this window.")
        return found

    async def ask(self, request: Request, question: Callable[[View], Any]) -> Response:
        return answer(await self.views.ask(self.job(request), question))

    async def role(self, job: Job) -> str:
        """What its flag files are called after. NotYet of a crawl that was never read so far."""
        return role_of(job, None) or role_of(job, await self.views.ask(job, View.status))


Handler: TypeAlias = Callable[[Window, Request], Awaitable[Response]]


def answer(value: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")


async def body_of(request: Request, wanted: type[T]) -> T:
    """Refused with what is wrong with it."""
    try:
        return msgspec.json.decode(await request.body(), type=wanted)
    except msgspec.MsgspecError as error:
        raise Refused(400, f"The request is not understood: {error}") from None


def number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "0")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Refused(400, f"{name} is a whole number.")
    return int(text)
