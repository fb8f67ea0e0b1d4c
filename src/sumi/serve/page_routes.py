"""One page, and how its content is handed to a frame without rights."""

from typing import Final
from urllib.parse import quote, unquote, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from sumi.catalogue.find import Job
from sumi.serve import page_view
from sumi.serve.guard import CAPTURED_POLICY
from sumi.serve.window import Refused, Window, answer

_LONGEST_NAME: Final = 100


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


async def send_file(window: Window, request: Request) -> Response:
    """Any kind of file, as a download: nothing of it is ever run or drawn here."""
    job, record = await _record(window, request)
    body = page_view.file_of(job, record)
    if body is None:
        raise Refused(404, "This file is not there any more, or is not what was captured.")
    name = quote(_file_name(record.url), safe="")
    headers = {
        "content-security-policy": CAPTURED_POLICY,
        "content-disposition": f"attachment; filename*=utf-8''{name}",
    }
    return Response(body, media_type="application/octet-stream", headers=headers)


def _file_name(url: str) -> str:
    """Without what could lead out of a folder; browsers look at it once more."""
    name = unquote(urlsplit(url).path).rpartition("/")[2].replace("\\", "-")[-_LONGEST_NAME:]
    return "".join(sign for sign in name if sign.isprintable()).lstrip(".") or "page.html"
