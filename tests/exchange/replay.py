"""A WACZ file replayed in a real browser by the code of ReplayWeb.page, from its npm package."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browsers import BROWSER
from tests.commands import ROOT
from tests.threaded_server import ThreadedServer

if TYPE_CHECKING:
    from playwright.sync_api import Frame, Page

_PLACES = (os.environ.get("REPLAYWEBPAGE", ""), ROOT / "node_modules/replaywebpage")
PACKAGE = next((Path(place) for place in _PLACES if place and (Path(place) / "sw.js").is_file()), None)
needs_viewer = pytest.mark.skipif(
    PACKAGE is None,
    reason="replaying needs `npm install --no-save replaywebpage`, or the package's folder in REPLAYWEBPAGE",
)


def replayed(wacz: Path, url: str, screenshot: Path) -> tuple[str, list[int]]:
    """What the browser shows of an archived page: its text, and the widths of its images."""
    from playwright.sync_api import sync_playwright

    (wacz.parent / "view.html").write_text(
        f'<script src="ui.js"></script><replay-web-page source="{wacz.name}" url="{url}" '
        'embed="replayonly" style="display: block; height: 600px"></replay-web-page>'
    )
    with _served(wacz.parent) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(BROWSER), args=["--no-sandbox"])
        try:
            page = browser.new_page()
            page.goto(f"{address}view.html")
            frame = _frame_of(page, url)
            frame.wait_for_load_state("load")
            text = frame.inner_text("body")
            widths: list[int] = frame.evaluate("[...document.images].map(image => image.naturalWidth)")
            page.screenshot(path=str(screenshot))
        finally:
            browser.close()
    return text, widths


def _frame_of(page: "Page", url: str) -> "Frame":
    for _ in range(600):
        for frame in page.frames:
            if frame.url.endswith(f"mp_/{url}"):
                return frame
        page.wait_for_timeout(50)  # another process is at work, which no injected clock can hurry
    raise AssertionError([frame.url for frame in page.frames])


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    assert PACKAGE is not None
    (folder / "replay").mkdir()
    (folder / "replay" / "sw.js").write_bytes((PACKAGE / "sw.js").read_bytes())
    (folder / "ui.js").write_bytes((PACKAGE / "ui.js").read_bytes())

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadedServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}/"  # a secure context, which service workers need
    finally:
        server.shutdown()
        server.server_close()
