"""HTTP: whatever a server sends, there is an answer within the limits or a named trouble."""

import asyncio
from functools import cache

from fuzz.inputs import as_choice
from sumi.engine.io import SystemClock
from sumi.fetch.decode import content_codings, undo_codings
from sumi.fetch.headers import declared_length, parse_fields, status_of, version_of
from sumi.fetch.http import HttpFetcher
from sumi.frontier.retry import retry_after_seconds
from sumi.model import Request, Response
from sumi.outcomes import Ending, Trouble, Verdict
from sumi.policy import FetchLimits, NetworkPolicy

_LIMITS = FetchLimits(connect=5, first_byte=5, idle=5, total=5, wire_bytes=1 << 18, body_bytes=1 << 18)
_CODINGS = ("gzip", "deflate", "br", "zstd", "gzip, gzip", "br, gzip", "zstd, deflate", "identity, x-gzip")
_OVER_THE_WIRE = 4  # of so many inputs one goes through sockets, which take far longer than the rest


def check(data: bytes) -> None:
    """The first byte chooses a coding, or sends the rest as a whole answer."""
    choice, body = as_choice(data)
    _check_head(body)
    _check_coding(body, _CODINGS[choice % len(_CODINGS)])
    if choice % _OVER_THE_WIRE == 0:
        _check_exchange(body)


def _check_head(head: bytes) -> None:
    lines = head.splitlines(keepends=True)
    first = lines[0] if lines else b""
    assert 0 <= status_of(first) <= 999
    version_of(first)
    fields = parse_fields(lines)
    declared_length(fields)
    for name, value in fields:
        assert name == name.lower()
        assert not {"\r", "\n", "\0"} & {*name, *value}
        delay = retry_after_seconds(value, 1_700_000_000.0)
        assert delay is None or 0 <= delay < float("inf"), value


def _check_coding(body: bytes, coding: str) -> None:
    plain = undo_codings(body, content_codings([coding]), _LIMITS, None)
    if isinstance(plain, bytes):
        assert len(plain) <= _LIMITS.body_bytes
    kept = undo_codings(body, content_codings([coding]), _LIMITS, 100)
    assert isinstance(kept, Verdict) or len(kept) <= 100


def _check_exchange(said: bytes) -> None:
    answer = _Conversation.only().hear(said)
    if isinstance(answer, Trouble):
        assert answer.verdict.ending is Ending.FAILED
        return
    assert len(answer.body) <= _LIMITS.body_bytes
    assert 0 < answer.status <= 999
    assert all(name == name.lower() for name, _ in answer.headers)


class _Conversation:
    """A server that says what it is given, and a fetcher that has to listen, on one event loop."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._said = b""
        self._port = self._runner.run(self._start())
        self._fetcher = HttpFetcher(_LIMITS, NetworkPolicy(allow_private=True), SystemClock())

    @staticmethod
    @cache
    def only() -> "_Conversation":
        return _Conversation()

    def hear(self, said: bytes) -> Response | Trouble:
        self._said = said
        return self._runner.run(self._fetcher.fetch(Request(f"http://127.0.0.1:{self._port}/")))

    async def _start(self) -> int:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(self._said)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
