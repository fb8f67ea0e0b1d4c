"""Validators are sent back unchanged, malformed ones not at all; 304 counts only after such a request."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.engine.acquisition import Ended, Fetched, Redirected, classify
from sumi.engine.answers import verdict_on
from sumi.fetch.headers import request_lines
from sumi.frontier.freshness import conditional_headers, is_conditional
from sumi.model import Request, Response, Timing
from sumi.outcomes import Outcome

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
URL = "https://docs.example.org/page"


@pytest.mark.parametrize("etag", ['"abc"', 'W/"abc"', '""', '"a,b"', '"\xe4"'])
def test_a_validator_is_sent_back_as_it_came(etag: str) -> None:
    assert conditional_headers(etag, DATE) == (("If-None-Match", etag), ("If-Modified-Since", DATE))


@pytest.mark.parametrize(
    "etag",
    [
        "",
        "abc",
        "*",
        'w/"abc"',
        '"a"b"',
        '"abc',
        "W/abc",
        '"a b"',
        '"a\r\nX: y"',
        '"' + "a" * 2000 + '"',
        '"☃"',
    ],
)
def test_a_malformed_etag_is_dropped(etag: str) -> None:
    assert conditional_headers(etag, None) == ()


@pytest.mark.parametrize(
    "date",
    [
        "",
        "yesterday",
        "0",
        "1994-11-06",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        DATE + "\r\nX: y",
        "Sun, 6 Nov 1994 08:49:37 GMT",
    ],
)
def test_a_malformed_date_is_dropped(date: str) -> None:
    assert conditional_headers(None, date) == ()


@given(st.none() | st.text(), st.none() | st.text())
def test_whatever_a_server_said_can_be_sent(etag: str | None, last_modified: str | None) -> None:
    assert request_lines("sumi", conditional_headers(etag, last_modified)) is not None


def answered(status: int, asked: Request, *fields: tuple[str, str]) -> object:
    response = Response(asked.url, status, fields, b"", Timing(0.0, 1.0, 2.0))
    return classify(asked, response)


def test_not_modified_means_unchanged_if_that_was_the_question() -> None:
    conditional = Request(URL, conditional_headers('"abc"', None))
    assert is_conditional(conditional.headers)
    unchanged = answered(304, conditional)
    assert isinstance(unchanged, Ended)
    assert unchanged.verdict.outcome is Outcome.UNCHANGED
    assert isinstance(answered(200, conditional), Fetched)
    plain = answered(304, Request(URL))
    assert isinstance(plain, Ended)
    assert plain.verdict.outcome is Outcome.BAD_HTTP


@pytest.mark.parametrize("status", [305, 306, 310, 399])
def test_other_statuses_that_redirect_nowhere_are_not_followed(status: int) -> None:
    verdict = verdict_on(status)
    assert verdict is not None
    assert verdict.outcome is Outcome.BAD_HTTP
    ended = answered(status, Request(URL), ("location", "http://proxy.example/"))
    assert isinstance(ended, Ended)


@pytest.mark.parametrize(
    ("sent", "meant"),
    [(b"/caf\xc3\xa9", "/café"), (b"/caf\xe9", "/caf\xe9"), (b"/plain", "/plain"), (b"/%C3%A9", "/%C3%A9")],
)
def test_a_location_is_read_as_utf8_where_it_is(sent: bytes, meant: str) -> None:
    redirected = answered(302, Request(URL), ("location", sent.decode("latin-1")))
    assert isinstance(redirected, Redirected)
    assert redirected.location == meant
