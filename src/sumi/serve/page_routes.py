"""One page, and how its content is handed to a frame without rights."""

from starlette.requests import Request
from starlette.responses import Response

from sumi.catalogue.find import Job
from sumi.serve import page_view
from sumi.serve.guard import CAPTURED_POLICY
from sumi.serve.window import Refused, Window, answer


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
