"""Whatever a server sends is read as it says or fails with a name, and never crashes us."""

import asyncio

import pytest

from sumi.model import Response
from sumi.outcomes import Outcome, Trouble
from sumi.policy import FetchLimits
from tests.fetch.exchanges import exchange, run
from tests.fetch.raw_server import saying

SIZED = "HTTP/1.1 200 OK\nContent-Length: 2"
CHUNKED = "HTTP/1.1 200 OK\nTransfer-Encoding: chunked"


def h(head: str, body: bytes = b"") -> bytes:
    """A head with proper line ends, and a body."""
    return (head.replace("\n", "\r\n") + "\r\n\r\n").encode("latin-1") + body


TAKEN: dict[str, tuple[bytes, int, bytes]] = {
    # status lines
    "tab before the status": (h("HTTP/1.1\t200 OK\nContent-Length: 2", b"ok"), 200, b"ok"),
    "status 600": (h("HTTP/1.1 600 Hm\nContent-Length: 2", b"ok"), 600, b"ok"),
    "status 999": (h("HTTP/1.1 999 Hm\nContent-Length: 2", b"ok"), 999, b"ok"),
    "reason in UTF-8": ("HTTP/1.1 200 Größe\r\nContent-Length: 2\r\n\r\nok".encode(), 200, b"ok"),
    "reason of ten kilobytes": (h("HTTP/1.1 200 " + "a" * 10000 + "\nContent-Length: 2", b"ok"), 200, b"ok"),
    # line ends
    "mixed ends": (b"HTTP/1.1 200 OK\nContent-Length: 2\r\n\nok", 200, b"ok"),
    # fields
    "no name": (h("HTTP/1.1 200 OK\n: value\nContent-Length: 2", b"ok"), 200, b"ok"),
    "name with a blank": (h("HTTP/1.1 200 OK\nMy Header: x\nContent-Length: 2", b"ok"), 200, b"ok"),
    "length folded": (b"HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nok", 200, b"ok"),
    "bytes above 127": (b"HTTP/1.1 200 OK\r\nX-\xff: \xfe\r\nContent-Length: 2\r\n\r\nok", 200, b"ok"),
    "a line of eight kilobytes": (
        h("HTTP/1.1 200 OK\nX: " + "a" * 8192 + "\nContent-Length: 2", b"ok"),
        200,
        b"ok",
    ),
    "200 fields": (h("HTTP/1.1 200 OK" + "\nX: y" * 200 + "\nContent-Length: 2", b"ok"), 200, b"ok"),
    "field name alone": (h("HTTP/1.1 200 OK\nX:\nContent-Length: 2", b"ok"), 200, b"ok"),
    # length
    "length with leading zeros": (h("HTTP/1.1 200 OK\nContent-Length: 0000002", b"ok"), 200, b"ok"),
    "the same length twice": (h("HTTP/1.1 200 OK\nContent-Length: 2\nContent-Length: 2", b"ok"), 200, b"ok"),
    "the same length in a list": (h("HTTP/1.1 200 OK\nContent-Length: 2, 2", b"ok"), 200, b"ok"),
    # chunks
    "chunk sizes in upper case": (h(CHUNKED, b"A\r\n0123456789\r\n0\r\n\r\n"), 200, b"0123456789"),
    "chunk extension": (h(CHUNKED, b"2;name=value\r\nok\r\n0;x\r\n\r\n"), 200, b"ok"),
    "giant chunk extension": (h(CHUNKED, b"2;" + b"x" * 200000 + b"\r\nok\r\n0\r\n\r\n"), 200, b"ok"),
    "leading zeros in a size": (h(CHUNKED, b"0000000000000002\r\nok\r\n0\r\n\r\n"), 200, b"ok"),
    "bare line feeds in chunks": (h(CHUNKED, b"2\nok\n0\n\n"), 200, b"ok"),
    "one byte at a time": (h(CHUNKED, b"1\r\nx\r\n" * 2000 + b"0\r\n\r\n"), 200, b"x" * 2000),
    "trailers": (h(CHUNKED, b"2\r\nok\r\n0\r\nX: y\r\n\r\n"), 200, b"ok"),
    "chunked in another case": (
        h("HTTP/1.1 200 OK\nTransfer-Encoding: Chunked", b"2\r\nok\r\n0\r\n\r\n"),
        200,
        b"ok",
    ),
    "chunked in HTTP/1.0": (
        h("HTTP/1.0 200 OK\nTransfer-Encoding: chunked", b"2\r\nok\r\n0\r\n\r\n"),
        200,
        b"ok",
    ),
    # interim and bodiless
    "a hundred interim answers": (h("HTTP/1.1 100 Continue") * 100 + h(SIZED, b"ok"), 200, b"ok"),
    "204 with a body": (h("HTTP/1.1 204 No\nContent-Length: 2", b"ok"), 204, b""),
    "304 with a body": (h("HTTP/1.1 304 No", b"ok"), 304, b""),
    "205 with a body": (h("HTTP/1.1 205 Reset\nContent-Length: 2", b"ok"), 205, b"ok"),
    "multipart ranges unasked": (
        h("HTTP/1.1 206 Partial\nContent-Range: bytes 0-1/9\nContent-Length: 2", b"ok"),
        206,
        b"ok",
    ),
}

REFUSED: dict[str, tuple[bytes, Outcome]] = {
    # status lines
    "HTTP/1.2": (h("HTTP/1.2 200 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "HTTP/0.9 in name": (h("HTTP/0.9 200 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "HTTP/2 over plain text": (h("HTTP/2 200 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "version without minor": (h("HTTP/1 200 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "version with blanks": (h("HTTP/ 1.1 200 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "huge version": (h("HTTP/99999999999999.1 200 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "two blanks before the status": (h("HTTP/1.1  200 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "no blank before the status": (h("HTTP/1.1200 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "four digits": (h("HTTP/1.1 2000 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "two digits": (h("HTTP/1.1 20 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "negative status": (h("HTTP/1.1 -200 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "status 099": (h("HTTP/1.1 099 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "status 1000000": (h("HTTP/1.1 1000000 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "status with a colon": (h("HTTP/1.1 200: OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "status in hex": (h("HTTP/1.1 0xc8 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "nul in the reason": (b"HTTP/1.1 200 O\0K\r\nContent-Length: 2\r\n\r\nok", Outcome.BAD_HTTP),
    "status line alone": (b"HTTP/1.1 200 OK\r\n", Outcome.CONNECTION_LOST),
    "status line without an end": (b"HTTP/1.1 200 OK", Outcome.CONNECTION_LOST),
    "only blank lines": (b"\r\n\r\n\r\n\r\n", Outcome.BAD_HTTP),
    "blank line first": (b"\r\n" + h(SIZED, b"ok"), Outcome.BAD_HTTP),
    "white space first": (b"  " + h(SIZED, b"ok"), Outcome.BAD_HTTP),
    "byte order mark first": (b"\xef\xbb\xbf" + h(SIZED, b"ok"), Outcome.BAD_HTTP),
    "ICY": (h("ICY 200 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "RTSP": (h("RTSP/1.0 200 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "a request instead": (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", Outcome.BAD_HTTP),
    "TLS alert": (b"\x15\x03\x01\x00\x02\x02\x46", Outcome.BAD_HTTP),
    "SMTP": (b"220 mail.example.org ESMTP\r\n", Outcome.BAD_HTTP),
    "redis": (b"-ERR wrong number of arguments\r\n", Outcome.BAD_HTTP),
    "zeros": (bytes(1000), Outcome.BAD_HTTP),
    "HTTP/2.0 over plain text": (h("HTTP/2.0 200 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "HTTP/3.0 over plain text": (h("HTTP/3.0 200 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "lower-case protocol": (h("http/1.1 200 OK\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    # line ends
    "bare CR": (b"HTTP/1.1 200 OK\rContent-Length: 2\r\rok", Outcome.CONNECTION_LOST),
    "CR in a value": (
        b"HTTP/1.1 200 OK\r\nX: a\rLocation: /evil\r\nContent-Length: 2\r\n\r\nok",
        Outcome.BAD_HTTP,
    ),
    "CR before CRLF": (b"HTTP/1.1 200 OK\r\r\nContent-Length: 2\r\r\n\r\r\nok", Outcome.BAD_HTTP),
    # fields
    "first field folded": (b"HTTP/1.1 200 OK\r\n X: y\r\nContent-Length: 2\r\n\r\nok", Outcome.BAD_HTTP),
    "length folded into the status line": (
        b"HTTP/1.1 200 OK\r\n\tContent-Length: 2\r\n\r\nok",
        Outcome.BAD_HTTP,
    ),
    "nul in a name": (b"HTTP/1.1 200 OK\r\nX\0: y\r\nContent-Length: 2\r\n\r\nok", Outcome.BAD_HTTP),
    "two heads in one": (h("HTTP/1.1 200 OK\nHTTP/1.1 404 No\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "no colon": (h("HTTP/1.1 200 OK\nnonsense\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "a line of 120 kilobytes": (
        h("HTTP/1.1 200 OK\nX: " + "a" * 120000 + "\nContent-Length: 2", b"ok"),
        Outcome.BAD_HTTP,
    ),
    "300 fields": (h("HTTP/1.1 200 OK" + "\nX: y" * 300 + "\nContent-Length: 2", b"ok"), Outcome.BAD_HTTP),
    "ten thousand cookies": (
        h("HTTP/1.1 200 OK" + "\nSet-Cookie: a=b" * 10000 + "\nContent-Length: 2", b"ok"),
        Outcome.BAD_HTTP,
    ),
    # length
    "length with a plus": (h("HTTP/1.1 200 OK\nContent-Length: +2", b"ok"), Outcome.BAD_HTTP),
    "negative length": (h("HTTP/1.1 200 OK\nContent-Length: -2", b"ok"), Outcome.BAD_HTTP),
    "length in hex": (h("HTTP/1.1 200 OK\nContent-Length: 0x2", b"ok"), Outcome.BAD_HTTP),
    "fractional length": (h("HTTP/1.1 200 OK\nContent-Length: 2.0", b"ok"), Outcome.BAD_HTTP),
    "empty length": (h("HTTP/1.1 200 OK\nContent-Length:", b"ok"), Outcome.BAD_HTTP),
    "length of 2^64": (h("HTTP/1.1 200 OK\nContent-Length: 18446744073709551616", b"ok"), Outcome.TOO_LARGE),
    "length of 2^63": (h("HTTP/1.1 200 OK\nContent-Length: 9223372036854775808", b"ok"), Outcome.TOO_LARGE),
    "length of a thousand digits": (
        h("HTTP/1.1 200 OK\nContent-Length: " + "9" * 1000, b"ok"),
        Outcome.TOO_LARGE,
    ),
    "different lengths in a list": (h("HTTP/1.1 200 OK\nContent-Length: 2, 3", b"oks"), Outcome.BAD_HTTP),
    "length with a blank": (h("HTTP/1.1 200 OK\nContent-Length: 1 2", b"ok"), Outcome.BAD_HTTP),
    "length with a word": (h("HTTP/1.1 200 OK\nContent-Length: 2 bytes", b"ok"), Outcome.BAD_HTTP),
    "blank before the colon of a length": (h("HTTP/1.1 200 OK\nContent-Length : 2", b"ok"), Outcome.BAD_HTTP),
    "blank before the colon of a coding": (
        h("HTTP/1.1 200 OK\nTransfer-Encoding : chunked\nContent-Length: 2", b"ok"),
        Outcome.BAD_HTTP,
    ),
    "length of zero and a body": (h("HTTP/1.1 200 OK\nContent-Length: 0", b"ok"), Outcome.BAD_HTTP),
    "length of zero and a body, in HTTP/1.0": (
        h("HTTP/1.0 200 OK\nContent-Length: 0", b"ok"),
        Outcome.BAD_HTTP,
    ),
    "one byte more than its length": (h(SIZED, b"ok!"), Outcome.BAD_HTTP),
    "much more than its length": (
        h("HTTP/1.1 200 OK\nContent-Length: 300000", b"x" * 900000),
        Outcome.BAD_HTTP,
    ),
    "two answers in one": (h(SIZED, b"ok") + h(SIZED, b"no"), Outcome.BAD_HTTP),
    "length and chunks": (
        h("HTTP/1.1 200 OK\nContent-Length: 99\nTransfer-Encoding: chunked", b"2\r\nok\r\n0\r\n\r\n"),
        Outcome.BAD_HTTP,
    ),
    "chunks and a length": (
        h("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nContent-Length: 12", b"2\r\nok\r\n0\r\n\r\n"),
        Outcome.BAD_HTTP,
    ),
    # chunks
    "an answer behind the last chunk": (
        h(CHUNKED, b"2\r\nok\r\n0\r\n\r\n") + h(SIZED, b"no"),
        Outcome.BAD_HTTP,
    ),
    "more leading zeros": (h(CHUNKED, b"0" * 100 + b"2\r\nok\r\n0\r\n\r\n"), Outcome.BAD_HTTP),
    "chunk size of 2^63": (h(CHUNKED, b"8000000000000000\r\nok"), Outcome.BAD_HTTP),
    "chunk size of 2^64": (h(CHUNKED, b"10000000000000000\r\nok"), Outcome.BAD_HTTP),
    "negative chunk size": (h(CHUNKED, b"-2\r\nok\r\n0\r\n\r\n"), Outcome.BAD_HTTP),
    "chunk size with 0x": (h(CHUNKED, b"0x2\r\nok\r\n0\r\n\r\n"), Outcome.BAD_HTTP),
    "blank before a size": (h(CHUNKED, b" 2\r\nok\r\n0\r\n\r\n"), Outcome.BAD_HTTP),
    "empty size": (h(CHUNKED, b"\r\nok\r\n0\r\n\r\n"), Outcome.BAD_HTTP),
    "data longer than its size": (h(CHUNKED, b"2\r\nokay\r\n0\r\n\r\n"), Outcome.BAD_HTTP),
    "endless trailers": (h(CHUNKED, b"2\r\nok\r\n0\r\n" + b"X: y\r\n" * 50000), Outcome.BAD_HTTP),
    "last chunk without its end": (h(CHUNKED, b"2\r\nok\r\n0\r\n"), Outcome.CONNECTION_LOST),
    "no chunks at all": (h(CHUNKED), Outcome.CONNECTION_LOST),
    "xchunked": (
        h("HTTP/1.1 200 OK\nTransfer-Encoding: xchunked", b"2\r\nok\r\n0\r\n\r\n"),
        Outcome.BAD_ENCODING,
    ),
    "chunked twice": (
        h("HTTP/1.1 200 OK\nTransfer-Encoding: chunked, chunked", b"2\r\nok\r\n0\r\n\r\n"),
        Outcome.BAD_ENCODING,
    ),
    "chunked in two headers": (
        h("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nTransfer-Encoding: chunked", b"2\r\nok\r\n0\r\n\r\n"),
        Outcome.BAD_ENCODING,
    ),
    "packed in transfer": (
        h("HTTP/1.1 200 OK\nTransfer-Encoding: gzip, chunked", b"2\r\nok\r\n0\r\n\r\n"),
        Outcome.BAD_ENCODING,
    ),
    "identity transfer coding": (
        h("HTTP/1.1 200 OK\nTransfer-Encoding: identity", b"ok"),
        Outcome.BAD_ENCODING,
    ),
    # interim and bodiless
    "ten thousand interim answers": (
        h("HTTP/1.1 100 Continue\nX: " + "y" * 50) * 10000 + h(SIZED, b"ok"),
        Outcome.BAD_HTTP,
    ),
}


@pytest.mark.parametrize("name", TAKEN)
def test_an_odd_answer_that_has_one_reading_is_taken(name: str) -> None:
    raw, status, body = TAKEN[name]
    result = run(asyncio.new_event_loop, exchange(saying(raw)))
    assert isinstance(result, Response), result
    assert (result.status, result.body) == (status, body)
    assert all(name.isprintable() and "\n" not in value for name, value in result.headers)


@pytest.mark.parametrize("name", REFUSED)
def test_an_answer_without_a_meaning_is_refused_by_name(name: str) -> None:
    raw, outcome = REFUSED[name]
    result = run(asyncio.new_event_loop, exchange(saying(raw), FetchLimits(total=10)))
    assert isinstance(result, Trouble), result
    assert result.verdict.outcome is outcome, result.verdict
    assert result.verdict.rule


def test_the_corpus_is_as_large_as_it_claims() -> None:
    assert len(TAKEN) + len(REFUSED) >= 90


@pytest.mark.parametrize("kept", range(0, 64, 3))
def test_an_answer_cut_anywhere_is_never_taken_for_a_whole_one(kept: int) -> None:
    whole = h("HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 2", b"ok")
    result = run(asyncio.new_event_loop, exchange(saying(whole[:kept])))
    assert isinstance(result, Trouble), result
    assert result.verdict.outcome in {Outcome.CONNECTION_LOST, Outcome.BAD_HTTP}


@pytest.mark.parametrize("kept", range(46, 73, 3))
def test_chunks_cut_anywhere_are_never_taken_for_a_whole_one(kept: int) -> None:
    whole = h(CHUNKED, b"5\r\nfirst\r\n6\r\nsecond\r\n0\r\n\r\n")
    assert kept < len(whole)
    result = run(asyncio.new_event_loop, exchange(saying(whole[:kept])))
    assert isinstance(result, Trouble), result
