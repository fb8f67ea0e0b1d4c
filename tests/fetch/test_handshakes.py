"""A connection that breaks during the TLS handshake is transient; a bad certificate is not."""

import asyncio
import socket
import ssl
import struct

import pytest
import trustme

from sumi.model import Request
from sumi.outcomes import TRANSIENT, Outcome, Trouble
from tests.fetch.exchanges import Loop, Result, on_both_loops, run, silence, with_fetcher
from tests.fetch.raw_server import serving

pytestmark = on_both_loops

HELLO_ONLY = b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03"  # how a server's first message begins


async def broken_off(said: bytes, *, rudely: bool) -> Result:
    """Ask a server that hears the first message of a handshake, says something, and is gone."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(said)
        await writer.drain()
        if rudely:
            raw: socket.socket = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort() if rudely else writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        asked = Request(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        result: Result = await with_fetcher(lambda fetcher: fetcher.fetch(asked))
    return result


@pytest.mark.parametrize("rudely", [True, False], ids=["reset", "closed"])
@pytest.mark.parametrize("said", [b"", HELLO_ONLY], ids=["at once", "within a message"])
def test_a_handshake_that_breaks_off_is_tried_again(said: bytes, rudely: bool, loop: Loop) -> None:
    result = run(loop, broken_off(said, rudely=rudely))
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.CONNECTION_LOST, result
    assert result.verdict.outcome in TRANSIENT


def test_a_certificate_that_is_not_valid_is_not_asked_about_twice(loop: Loop) -> None:
    async def main() -> Result:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
        async with serving(silence, tls=context) as server:
            asked = Request(f"https://127.0.0.1:{server.port}/")
            result: Result = await with_fetcher(lambda fetcher: fetcher.fetch(asked))
            return result

    result = run(loop, main())
    assert isinstance(result, Trouble)
    assert result.verdict.outcome is Outcome.TLS_FAILED
    assert result.verdict.outcome not in TRANSIENT
