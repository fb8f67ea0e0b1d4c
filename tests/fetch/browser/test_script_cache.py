"""Scripts are cached for the run if their server allows it, within limits."""

import pytest

from sumi.fetch.browser.filtering_proxy import ScriptCache
from sumi.model import Response, Timing

URL = "http://site.test/app.js"
KEY = (True, URL)
SCRIPT = ("content-type", "text/javascript; charset=utf-8")


def response(*headers: tuple[str, str], status: int = 200, body: bytes = b"1") -> Response:
    return Response(URL, status, (SCRIPT, *headers), body, Timing(0, 0, 0))


def test_what_may_be_kept_is_kept() -> None:
    scripts = ScriptCache()
    scripts.put(KEY, response(("cache-control", "public, max-age=60"), ("vary", "accept-encoding")))
    assert scripts.get(KEY) is not None
    assert scripts.get((True, URL + "?2")) is None
    assert scripts.get((False, URL)) is None  # a page of another site is not given what came with credentials


@pytest.mark.parametrize(
    "refused",
    [
        response(("cache-control", "no-store")),
        response(("cache-control", "Private, max-age=60")),
        response(("cache-control", "max-age=0, must-revalidate")),
        response(("set-cookie", "a=b")),
        response(("vary", "Origin")),
        response(status=404),
        Response(URL, 200, (("content-type", "application/json"),), b"1", Timing(0, 0, 0)),
    ],
)
def test_what_may_not_is_not(refused: Response) -> None:
    scripts = ScriptCache()
    scripts.put(KEY, refused)
    assert scripts.get(KEY) is None


def test_the_least_recently_wanted_goes_first() -> None:
    scripts = ScriptCache()
    large = bytes(20 * 1024 * 1024)
    for name in "abc":
        scripts.put((True, name), response(body=large))
    assert scripts.get((True, "a")) is not None
    scripts.put((True, "d"), response(body=large))
    assert [scripts.get((True, name)) is not None for name in "abcd"] == [True, False, True, True]
