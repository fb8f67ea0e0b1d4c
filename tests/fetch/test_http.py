"""One exchange per call: a complete response, or why there is none, whatever the server does."""

import gzip

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from sumi.model import Response
from sumi.outcomes import Outcome, Trouble
from tests.fetch.exchanges import (
    GZIP_HEAD,
    MIB,
    PAGE,
    Loop,
    answer,
    exchange,
    on_both_loops,
    run,
)
from tests.fetch.raw_server import Script, Writer, reset, saying

pytestmark = on_both_loops


def resetting_after(said: bytes) -> Script:
    async def script(_head: bytes, writer: Writer) -> None:
        writer.write(said)
        await reset(writer)

    return script


async def endless_headers(_head: bytes, writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X: y\r\n" * 100)
        await writer.drain()


async def endless_body(_head: bytes, writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(bytes(65536))
        await writer.drain()


COMPLETE: dict[str, tuple[Script, int, bytes]] = {
    "with its length": (answer("HTTP/1.1 200 OK\nContent-Length: 2", b"ok"), 200, b"ok"),
    "in chunks": (answer("HTTP/1.1 200 OK\nTransfer-Encoding: chunked", b"2\r\nok\r\n0\r\n\r\n"), 200, b"ok"),
    "HTTP/1.0 to the end": (answer("HTTP/1.0 200 OK", b"old"), 200, b"old"),
    "HTTP/1.1 to the end": (answer("HTTP/1.1 200 OK\nConnection: close", b"old"), 200, b"old"),
    "no reason phrase": (answer("HTTP/1.1 200\nContent-Length: 2", b"ok"), 200, b"ok"),
    "bare line feeds": (saying(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok"), 200, b"ok"),
    "204": (answer("HTTP/1.1 204 No Content"), 204, b""),
    "304": (answer("HTTP/1.1 304 Not Modified\nContent-Length: 99999999999"), 304, b""),
    "404 with a page": (answer("HTTP/1.1 404 Not Found\nContent-Length: 4", b"gone"), 404, b"gone"),
    "unknown status": (answer("HTTP/1.1 799 Hm\nContent-Length: 0"), 799, b""),
    "interim answers first": (
        saying(
            b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        ),
        200,
        b"ok",
    ),
    "gzip": (answer("HTTP/1.1 200 OK\nContent-Encoding: gzip", gzip.compress(PAGE)), 200, PAGE),
    "brotli": (answer("HTTP/1.1 200 OK\nContent-Encoding: br", brotli.compress(PAGE)), 200, PAGE),
    "zstd": (answer("HTTP/1.1 200 OK\nContent-Encoding: zstd", zstandard.compress(PAGE)), 200, PAGE),
    "two codings": (
        answer(
            "HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Encoding: br",
            brotli.compress(gzip.compress(PAGE)),
        ),
        200,
        PAGE,
    ),
    "an empty coded body": (answer("HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Length: 0"), 200, b""),
}

BROKEN: dict[str, tuple[Script, Outcome]] = {
    "nothing at all": (saying(b""), Outcome.CONNECTION_LOST),
    "reset at once": (resetting_after(b""), Outcome.CONNECTION_LOST),
    "reset in the head": (resetting_after(b"HTTP/1.1 200 OK\r\nContent-"), Outcome.CONNECTION_LOST),
    "reset in the body": (
        resetting_after(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
        Outcome.CONNECTION_LOST,
    ),
    "head cut short": (saying(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"), Outcome.CONNECTION_LOST),
    "header line cut short": (saying(b"HTTP/1.1 200 OK\r\nContent-Ty"), Outcome.CONNECTION_LOST),
    "only an interim answer": (answer("HTTP/1.1 103 Early Hints"), Outcome.CONNECTION_LOST),
    "shorter than its length": (
        answer("HTTP/1.1 200 OK\nContent-Length: 9", b"half"),
        Outcome.CONNECTION_LOST,
    ),
    "more than its length": (answer("HTTP/1.1 200 OK\nContent-Length: 2", b"ok and more"), Outcome.BAD_HTTP),
    "no last chunk": (
        answer("HTTP/1.1 200 OK\nTransfer-Encoding: chunked", b"2\r\nok\r\n"),
        Outcome.CONNECTION_LOST,
    ),
    "a chunk cut short": (
        answer("HTTP/1.1 200 OK\nTransfer-Encoding: chunked", b"ff\r\nok"),
        Outcome.CONNECTION_LOST,
    ),
    "bad chunks": (answer("HTTP/1.1 200 OK\nTransfer-Encoding: chunked", b"zz\r\nok\r\n"), Outcome.BAD_HTTP),
    "no status line": (saying(b"<html>hello</html>"), Outcome.BAD_HTTP),
    "another protocol": (saying(b"SSH-2.0-OpenSSH_9.6\r\n"), Outcome.BAD_HTTP),
    "status that is no number": (answer("HTTP/1.1 abc OK"), Outcome.BAD_HTTP),
    "status zero": (answer("HTTP/1.1 000 OK"), Outcome.BAD_HTTP),
    "switching protocols unasked": (
        answer("HTTP/1.1 101 Switching\nUpgrade: x", b"what now"),
        Outcome.BAD_HTTP,
    ),
    "length that is no number": (answer("HTTP/1.1 200 OK\nContent-Length: abc", b"ok"), Outcome.BAD_HTTP),
    "two different lengths": (
        answer("HTTP/1.1 200 OK\nContent-Length: 1\nContent-Length: 2", b"ok"),
        Outcome.BAD_HTTP,
    ),
    "nul in a header": (saying(b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n"), Outcome.BAD_HTTP),
    "endless headers": (endless_headers, Outcome.BAD_HTTP),
    "a header line of a megabyte": (answer("HTTP/1.1 200 OK\nX: " + "a" * MIB), Outcome.BAD_HTTP),
    "ten thousand headers": (answer("HTTP/1.1 200 OK" + "\nA: b" * 10_000), Outcome.BAD_HTTP),
    "unknown transfer coding": (
        answer("HTTP/1.1 200 OK\nTransfer-Encoding: foo", b"ok"),
        Outcome.BAD_ENCODING,
    ),
    "unknown content coding": (answer("HTTP/1.1 200 OK\nContent-Encoding: foo", b"ok"), Outcome.BAD_ENCODING),
    "truncated gzip": (answer(GZIP_HEAD, gzip.compress(PAGE)[:-20]), Outcome.BAD_ENCODING),
    "not gzip": (answer(GZIP_HEAD, PAGE), Outcome.BAD_ENCODING),
    "gzip bomb": (answer(GZIP_HEAD, gzip.compress(bytes(48 * MIB))), Outcome.BAD_ENCODING),
    "gzip too large": (answer(GZIP_HEAD, gzip.compress(bytes(48 * MIB), 1)), Outcome.TOO_LARGE),
    "zstd bomb": (
        answer("HTTP/1.1 200 OK\nContent-Encoding: zstd", zstandard.compress(bytes(48 * MIB))),
        Outcome.BAD_ENCODING,
    ),
    "brotli bomb": (
        answer("HTTP/1.1 200 OK\nContent-Encoding: br", brotli.compress(bytes(48 * MIB), quality=4)),
        Outcome.BAD_ENCODING,
    ),
    "a thousand codings": (
        answer("HTTP/1.1 200 OK\nContent-Encoding: " + "gzip, " * 1000, gzip.compress(b"x")),
        Outcome.BAD_ENCODING,
    ),
    "codings over many headers": (
        answer("HTTP/1.1 200 OK" + "\nContent-Encoding: gzip" * 6, gzip.compress(b"x")),
        Outcome.BAD_ENCODING,
    ),
    "endless body": (endless_body, Outcome.TOO_LARGE),
    "said to be huge": (answer("HTTP/1.1 200 OK\nContent-Length: 99999999999", b"x"), Outcome.TOO_LARGE),
}


@pytest.mark.parametrize("name", COMPLETE)
def test_a_complete_answer_is_a_response(name: str, loop: Loop) -> None:
    script, status, body = COMPLETE[name]
    result = run(loop, exchange(script))
    assert isinstance(result, Response), result
    assert (result.status, result.body) == (status, body)
    assert result.peer == "127.0.0.1"


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_answer_is_trouble_and_never_a_response(name: str, loop: Loop) -> None:
    script, outcome = BROKEN[name]
    result = run(loop, exchange(script))
    assert isinstance(result, Trouble), result
    assert result.verdict.outcome is outcome, result.verdict
    assert result.verdict.rule
    assert result.timing.started <= result.timing.reached <= result.timing.finished
