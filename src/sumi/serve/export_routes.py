"""Exports and lists as files: what a browser downloads."""

import csv
import io
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, Final
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse

from sumi.catalogue.find import Job
from sumi.serve import exports, lists
from sumi.serve.commands import as_typed
from sumi.serve.guard import CAPTURED_POLICY
from sumi.serve.views import View
from sumi.serve.window import Refused, Window, answer, body_of

_AS_FILE: Final = {"content-security-policy": CAPTURED_POLICY}
_COLUMNS: Final = ("url", "outcome", "rule", "referrer", "attempts", "at", "title")
_ROWS: Final = 5000
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets take for a formula


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str


async def show_exports(window: Window, request: Request) -> Response:
    window.children.look()
    job = window.job(request)
    formats = exports.formats_for(job).values()
    return answer(
        {
            "formats": [
                {
                    "name": kind.name,
                    "summary": kind.summary,
                    "folder": not kind.suffix,
                    "command": as_typed(exports.export_command(job, kind)),
                }
                for kind in formats
            ],
            "made": exports.exports_of(job),
        }
    )


async def start_export(window: Window, request: Request) -> Response:
    job = window.job(request)
    kind = exports.format_of(job, (await body_of(request, Wanted)).format)
    try:
        window.children.add(exports.start_export(job, kind))
    except OSError as error:
        raise Refused(409, f"The job's folder cannot be written to: {error.strerror}.") from None
    return answer({"command": as_typed(exports.export_command(job, kind))}, 201)


async def send_export(window: Window, request: Request) -> Response:
    job = window.job(request)
    kind = exports.format_of(job, request.query_params.get("format", ""))
    path = exports.export_path(job, kind)
    if not kind.suffix or not path.is_file():
        raise Refused(404, "There is no such file: export it first.")
    return FileResponse(path, media_type="application/octet-stream", filename=path.name, headers=_AS_FILE)


async def send_csv(window: Window, request: Request) -> Response:
    """URLs as a table: all of an ending, or those of one outcome, or of one rule of it."""
    job = window.job(request)
    outcome, rule = request.query_params.get("outcome"), request.query_params.get("rule")
    ending = request.query_params.get("ending")
    if outcome is None and ending is None:
        raise Refused(400, "Give the outcome or the ending of the URLs.")
    wanted = [outcome] if outcome else sorted({g["outcome"] for g in await _groups(window, job, ending)})
    name = quote(f"{job.name}-{outcome or ending}.csv".replace("/", "-"), safe="")
    headers = {**_AS_FILE, "content-disposition": f"attachment; filename*=utf-8''{name}"}
    return StreamingResponse(_table(window, job, wanted, rule), media_type="text/csv", headers=headers)


async def _groups(window: Window, job: Job, ending: str | None) -> list[dict[str, Any]]:
    return await window.views.ask(job, lambda view: lists.groups(view, ending))


async def _table(window: Window, job: Job, outcomes: list[str], rule: str | None) -> AsyncIterator[str]:
    """A part at a time: a job may have millions."""
    yield _csv([_COLUMNS])
    for outcome in outcomes:
        after: int | None = 0
        while after is not None:
            part = await window.views.ask(job, _part(outcome, rule, after))
            yield _csv([[_plain(row[name]) for name in _COLUMNS] for row in part["rows"]])
            after = part["next"]


def _part(outcome: str, rule: str | None, after: int) -> Callable[[View], dict[str, Any]]:
    return lambda view: lists.urls_of_group(view, outcome, rule, after, _ROWS)


def _plain(value: Any) -> Any:
    """What sites named, so that no spreadsheet computes with it."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value


def _csv(rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()
