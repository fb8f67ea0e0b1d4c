"""When a stored page is used without asking, and what a 304 changes in it."""

import asyncio
from hashlib import sha256
from typing import Any

import pytest

from sumi.jobs.capture.cache import CachingFetcher, PageCache, VaryKeys
from sumi.jobs.capture.rows import CacheLevel, CapturedPage
from sumi.model import Candidate, Lease, Request, Response, Timing
from sumi.policy import NetworkPolicy, RenderMode

URL, BODY, FETCHED = "https://e.org/ink", b"<p>Ink</p>", 1000.0
KEYS = VaryKeys(NetworkPolicy(), b"salt", hidden_cookies=False)
PAGE = CapturedPage(
    url=URL,
    address=URL,
    text_sha256="",
    body_sha256=sha256(BODY).hexdigest(),
    title=None,
    base=0,
    depth=0,
    status=200,
    content_type="text/html",
    etag='"1"',
    last_modified=None,
    rendered=None,
    fresh_for=600.0,
    cached=CacheLevel.MISS,
    fetched_at=FETCHED,
    vary_key=KEYS.key(URL, ()),
)


class OnePage:
    def cached(self, _url: str, _keys: object) -> CapturedPage:
        return PAGE

    cached_at = cached

    def content(self, _digest: str) -> bytes:
        return BODY


def cache() -> PageCache:
    database: Any = OnePage()
    return PageCache(database, KEYS, active=True, max_age=None, mode=RenderMode.NONE)


@pytest.mark.parametrize(("age", "fresh"), [(-1.0, False), (0.0, True), (599.0, True), (600.0, False)])
def test_a_page_is_fresh_for_as_long_as_its_server_says_and_never_from_the_future(
    age: float, fresh: bool
) -> None:
    lease = Lease(Candidate(URL), "e.org", token=1, deadline=9999.0)
    assert (cache().fresh(lease, FETCHED + age) is not None) is fresh


@pytest.mark.parametrize(
    ("said", "kept"), [((), "max-age=600"), ((("expires", "Mon, 02 Nov 2026 10:00:00 GMT"),), None)]
)
def test_what_a_304_says_of_freshness_replaces_all_that_was_said_before(
    said: tuple[tuple[str, str], ...], kept: str | None
) -> None:
    class Server:
        async def fetch(self, request: Request) -> Response:
            assert ("If-None-Match", '"1"') in request.headers
            return Response(URL, 304, said, b"", Timing(2000.0, 2000.0, 2000.0))

    fetcher: Any = Server()
    answer = asyncio.run(CachingFetcher(fetcher, cache()).fetch(Request(URL)))
    assert isinstance(answer, Response)
    assert (answer.status, answer.body, answer.header("cache-control")) == (200, BODY, kept)
    assert answer.header("etag") == '"1"'


@pytest.mark.parametrize("hidden_cookies", [False, True])
@pytest.mark.parametrize("cookies", [False, True])
def test_a_page_that_varies_by_cookies_stands_for_itself_once_there_may_be_some(
    cookies: bool, hidden_cookies: bool
) -> None:
    keys = VaryKeys(NetworkPolicy(cookies=cookies), b"salt", hidden_cookies=hidden_cookies)
    assert keys.key(URL, ["accept"]) == keys.key(URL, []) != keys.key(URL, ["user-agent"])
    assert (keys.key(URL, ["cookie"]) is None) == (cookies and hidden_cookies)
    keys.note_cookies(Response(URL, 200, (("set-cookie", "a=1"),), b"", Timing(0.0, 0.0, 0.0)))
    assert (keys.key(URL, ["cookie", "user-agent"]) is None) == cookies
    assert keys.key(URL, ["user-agent"]) is not None


def test_a_cookie_that_any_page_sets_may_be_sent_with_all_later_ones() -> None:
    class Server:
        async def fetch(self, request: Request) -> Response:
            return Response(request.url, 200, (("set-cookie", "a=1"),), b"", Timing(0.0, 0.0, 0.0))

    fetcher: Any = Server()
    database: Any = OnePage()
    keys = VaryKeys(NetworkPolicy(cookies=True), b"salt", hidden_cookies=False)
    pages = PageCache(database, keys, active=False, max_age=None, mode=RenderMode.NONE)
    varies = Response(URL, 200, (("vary", "cookie"),), b"", Timing(0.0, 0.0, 0.0))
    assert pages.vary_key_of(varies) is not None
    asyncio.run(CachingFetcher(fetcher, pages).fetch(Request("https://e.org/login")))
    assert pages.vary_key_of(varies) is None
