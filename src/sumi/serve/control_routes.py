"""Changes: every POST of the window. The guard has seen that it comes from its own page."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from sumi.catalogue import steering
from sumi.catalogue.find import Job
from sumi.policy import Retune
from sumi.serve import commands, control
from sumi.serve.commands import JobRequest
from sumi.serve.job_logs import log_name
from sumi.serve.jobs import job_id
from sumi.serve.views import View
from sumi.serve.window import Refused, Window, answer, body_of


async def steer(window: Window, request: Request) -> Response:
    """``/api/jobs/{id}/{action}``"""
    job, action = window.job(request), request.path_params["action"]
    if action in ("continue", "update"):
        return await _begin_again(window, job, update=action == "update")
    if job.process is None:
        raise Refused(409, "The job is not running.")
    role = await window.role(job)
    try:
        match action:
            case "pause":
                steering.pause(job.home, role)
            case "resume":
                steering.resume(job.home, role)
            case "stop":
                steering.stop(job.home, role)
            case "cancel":
                control.cancel(job)
            case "retune":
                control.retune(job, role, await body_of(request, Retune))
            case _:
                raise Refused(404, "There is no such action.")
    except OSError as error:
        raise Refused(409, f"The job's folder cannot be written to: {error.strerror}.") from None
    window.jobs.forget()
    return answer({"done": action})


async def _begin_again(window: Window, job: Job, *, update: bool) -> Response:
    if job.process is not None:
        raise Refused(409, "The job is running already.")
    words = await _again(window, job, update=update)
    await window.children.start(words, job.root, log_name(job))
    window.jobs.forget()
    return answer({"job": job_id(job), "command": commands.as_typed(words)}, 201)


async def _again(window: Window, job: Job, *, update: bool) -> list[str]:
    saved = await window.views.ask(job, View.settings) if window.views.is_ready(job) else None
    role = await window.role(job)
    return await asyncio.to_thread(commands.again_command, job, role, saved, update=update)


async def show_again(window: Window, request: Request) -> Response:
    """The command line that ``continue`` or ``update`` would run."""
    update = request.query_params.get("update") == "1"
    return answer({"command": commands.as_typed(await _again(window, window.job(request), update=update))})


async def tell_command(window: Window, request: Request) -> Response:
    """The command line that a form amounts to."""
    wanted = await body_of(request, JobRequest)
    return answer({"command": commands.as_typed(commands.command_for(wanted, window.jobs.places))})


async def plan(window: Window, request: Request) -> Response:
    wanted = await body_of(request, JobRequest)
    commands.command_for(wanted, window.jobs.places)  # what cannot be started is not planned
    words = commands.plan_command(wanted)
    return answer({"plan": await control.answer_of(words), "command": commands.as_typed(words)})


async def start(window: Window, request: Request) -> Response:
    wanted = await body_of(request, JobRequest)
    words = commands.command_for(wanted, window.jobs.places)
    process = await window.children.start(words, *commands.log_place(words))
    window.jobs.forget()
    found = [job_id(job) for job in window.jobs.all().values() if job.process == process]
    return answer({"job": found[0] if found else None, "command": commands.as_typed(words)}, 201)


async def explain(window: Window, request: Request) -> Response:
    job, url = window.job(request), request.query_params.get("url", "")
    where = job.state if job.state.is_file() else job.home
    words = ["explain", "--in", str(where), "--", url]
    return answer({"explanation": await control.answer_of(words), "command": commands.as_typed(words)})
