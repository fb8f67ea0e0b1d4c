"""Each misbehaviour of the test site is the trouble that its name promises, for its own visitor only."""

import http.client
import zlib

import pytest

from tests.site import MakeSite, RunningSite
from tests.site.asking import Hrefs, ask, converse
from tests.site.bad_robots import ROUTES as ROBOTS_ROUTES
from tests.site.misbehaviour import ROUTES, misbehave
from tests.site.wire import Asked, Handler, Reply, Reset, Stall, Step


@pytest.mark.parametrize("routes", [ROUTES, ROBOTS_ROUTES], ids=["bad", "robots"])
def test_every_misbehaviour_says_in_one_line_what_it_does(routes: dict[str, Handler]) -> None:
    for name, handler in routes.items():
        words = handler.__doc__ or ""
        assert words.endswith("."), name
        assert "\n" not in words, name


def test_the_server_outlives_every_misbehaviour(make_site: MakeSite) -> None:
    running = make_site(pages=2)
    for name in ROUTES:
        converse(running, f"/bad/{name}", at_most=1 if name.startswith("slow-") else 65_536)
    assert ask(running, "/").status == 200
    assert {request.path for request in running.requests()} == {"/", *(f"/bad/{name}" for name in ROUTES)}


def test_the_catalogue_links_to_all_of_them(small_site: RunningSite) -> None:
    assert Hrefs(ask(small_site, "/bad/").body).found == [f"/bad/{name}" for name in ROUTES]
    assert ask(small_site, "/bad/no-such-thing").status == 404


@pytest.mark.parametrize(
    ("path", "statuses"),
    [
        ("/bad/flaky-2", [503, 503, 200]),
        ("/bad/flaky-500-then-ok", [500, 200, 200]),
        ("/bad/status-429-retry-after-2", [429, 429, 200]),
        ("/bad/status-503-retry-after?once", [503, 200, 200]),
        ("/bad/status-500", [500, 500, 500]),
    ],
)
def test_what_is_flaky_recovers(make_site: MakeSite, path: str, statuses: list[int]) -> None:
    running = make_site(pages=1)
    assert [ask(running, path).status for _ in statuses] == statuses


def test_a_chain_of_redirects_is_as_long_as_asked(small_site: RunningSite) -> None:
    path, hops = "/bad/redirect-chain-7", 0
    while (answer := ask(small_site, path)).status == 302:
        path, hops = answer.headers["location"], hops + 1
    assert (hops, answer.status) == (7, 200)


def test_the_cookie_opens_the_wall(small_site: RunningSite) -> None:
    refused = ask(small_site, "/bad/cookie-wall")
    cookie = refused.headers["set-cookie"].partition(";")[0]
    assert refused.status == 302
    assert ask(small_site, "/bad/cookie-wall", headers={"Cookie": cookie}).status == 200


def test_a_reset_is_a_reset(small_site: RunningSite) -> None:
    with pytest.raises(ConnectionResetError):
        ask(small_site, "/bad/reset-before-headers")


@pytest.mark.parametrize("name", ["long-content-length", "missing-last-chunk", "reset-in-body"])
def test_a_body_that_breaks_off_is_noticed(small_site: RunningSite, name: str) -> None:
    with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
        ask(small_site, f"/bad/{name}")


@pytest.mark.parametrize("name", ["endless-body", "endless-chunks", "endless-headers", "endless-interim"])
def test_what_is_endless_goes_on(small_site: RunningSite, name: str) -> None:
    assert len(converse(small_site, f"/bad/{name}", at_most=3_000_000)) >= 3_000_000


def _reply(name: str) -> Reply:
    answer = misbehave(Asked("GET", f"/bad/{name}", {"host": "x.test"}))
    assert isinstance(answer, Reply)
    return answer


def _script(name: str) -> Step:
    answer = misbehave(Asked("GET", f"/bad/{name}", {}))
    assert not isinstance(answer, Reply)
    return next(answer)


def test_silence_and_resets_are_steps_of_a_script() -> None:
    assert isinstance(_script("never-answers"), Stall)
    assert isinstance(_script("reset-before-headers"), Reset)


@pytest.mark.parametrize("name", ["gzip-bomb", "sitemap-bomb.xml.gz"])
def test_bombs_are_small_and_unfold_into_much(name: str) -> None:
    packed = _reply(name).body
    assert len(packed) < 1_000_000
    unpacker, size = zlib.decompressobj(47), 0
    while not unpacker.eof:
        size += len(unpacker.decompress(unpacker.unconsumed_tail or packed, 1 << 20))
    assert size >= 64 << 20


def test_the_calendar_never_ends() -> None:
    assert Hrefs(_reply("calendar/2024/12").body).found == ["/bad/calendar/2024/11", "/bad/calendar/2025/01"]
    assert Hrefs(_reply("calendar/99999/01").body).found[1] == "/bad/calendar/99999/02"
    assert _reply("calendar/x/y").status == 200


def test_links_can_be_many() -> None:
    assert len(set(Hrefs(_reply("many-links-700").body).found)) == 700
