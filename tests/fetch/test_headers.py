"""No header injection: requests contain what was meant, responses become harmless text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.engine.io import SystemClock
from sumi.errors import UsageError
from sumi.fetch.headers import declared_length, parse_fields, request_lines, status_of, version_of
from sumi.fetch.http import HttpFetcher
from sumi.policy import FetchLimits, NetworkPolicy


def test_the_usual_headers() -> None:
    lines = request_lines("sumi/1 (+https://example.com)", ())
    assert lines is not None
    assert lines[0] == b"User-Agent: sumi/1 (+https://example.com)"
    assert lines[1].startswith(b"Accept: text/html,application/xhtml+xml")
    assert lines[2] == b"Accept-Encoding: gzip, br, zstd"


def test_a_header_of_the_request_takes_the_place_of_ours() -> None:
    lines = request_lines("sumi", (("accept", "text/markdown"), ("If-None-Match", '"a"'), ("X-Empty", "")))
    assert lines is not None
    assert [line for line in lines if line.lower().startswith(b"accept:")] == [b"accept: text/markdown"]
    assert b'If-None-Match: "a"' in lines
    assert b"X-Empty;" in lines


@pytest.mark.parametrize(
    "field",
    [
        ("X", "a\r\nHost: evil"),
        ("X", "a\nb"),
        ("X", "a\rb"),
        ("X", "a\0b"),
        ("X", "snow ☃"),
        ("X\r\nY", "a"),
        ("X: y", "a"),
        ("", "a"),
        ("X Y", "a"),
    ],
)
def test_a_field_that_would_say_something_else_is_refused(field: tuple[str, str]) -> None:
    assert request_lines("sumi", (field,)) is None


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=4))
def test_lines_never_contain_line_breaks_or_nul(extra: list[tuple[str, str]]) -> None:
    lines = request_lines("sumi", tuple(extra))
    assert lines is None or not any(set(line) & {0, 10, 13} for line in lines)


@pytest.mark.parametrize(
    ("lines", "fields"),
    [
        ([b"Content-Type: text/html\r\n"], (("content-type", "text/html"),)),
        ([b"A: 1\r\n", b"a:2\n", b"A:   3  \r\n"], (("a", "1"), ("a", "2"), ("a", "3"))),
        ([b"A: one\r\n", b"\t two\r\n", b"B: x\r\n"], (("a", "one  two"), ("b", "x"))),
        ([b"Location: /caf\xe9\r\n"], (("location", "/café"),)),
        ([b"no colon\r\n", b"A: b:c\r\n"], (("a", "b:c"),)),
        ([b'ETag: "a\rb\x00"\r\n'], (("etag", '"a b "'),)),
        ([], ()),
    ],
)
def test_fields_as_they_come_in(lines: list[bytes], fields: tuple[tuple[str, str], ...]) -> None:
    assert parse_fields(lines) == fields


@given(st.lists(st.binary(max_size=40), max_size=6))
def test_a_received_value_can_be_sent_back(lines: list[bytes]) -> None:
    for _, value in parse_fields(lines):
        assert request_lines("sumi", (("If-None-Match", value),)) is not None


def test_status_lines() -> None:
    assert status_of(b"HTTP/1.1 200 OK\r\n") == 200
    assert status_of(b"HTTP/2 404\r\n") == 404
    assert status_of(b"HTTP/1.1\r\n") == 0
    assert status_of(b"") == 0
    assert version_of(b"HTTP/1.0 200 OK\r\n") == "1.0"
    assert version_of(b"HTTP/2 200\r\n") == "2"
    assert version_of(b"HTTP/   \r\n") == ""


def test_a_length_is_believed_only_if_it_is_a_number() -> None:
    assert declared_length((("content-length", "12"),)) == 12
    assert declared_length((("content-length", "12, 12"),)) == 0
    assert declared_length((("content-length", "9" * 30),)) == 0
    assert declared_length(()) == 0


def test_a_user_agent_that_cannot_be_sent_is_refused_at_once() -> None:
    with pytest.raises(UsageError):
        HttpFetcher(FetchLimits(), NetworkPolicy(user_agent="a\nb"), SystemClock())
