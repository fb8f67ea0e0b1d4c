"""The browser's proxy answers only those with a pass, dials only whom the guard allows, and counts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.engine.clock import SystemClock
from sumi.fetch.filtering_proxy import FilteringProxy, Pass
from sumi.fetch.filtering_proxy_wire import parse_request
from sumi.fetch.trackers import is_tracker
from sumi.policy import FetchLimits, NetworkPolicy

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nKeep-Alive: timeout=9\r\n\r\nhello"
MIB = 1024 * 1024


class Origin:
    """A server that records what it is sent and answers with a fixed text."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.heard: list[bytes] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append(await reader.read(65536))
        writer.write(self.answer)
        await writer.drain()
        writer.close()


@asynccontextmanager
async def proxied(
    answer: bytes = ANSWER, *, opened: bool = True, https_only: bool = False
) -> AsyncIterator[tuple[FilteringProxy, Origin]]:
    origin = Origin(answer)
    server = await asyncio.start_server(origin.serve, "127.0.0.1", 0)
    origin.port = server.sockets[0].getsockname()[1]
    allowed = frozenset({("127.0.0.1", origin.port)} if opened else ())
    network = NetworkPolicy(open_hosts=allowed, https_only=https_only)
    proxy = FilteringProxy(FetchLimits(connect=5, first_byte=5, idle=5), network, SystemClock())
    await proxy.start()
    try:
        yield proxy, origin
    finally:
        await proxy.aclose()
        server.close()
        await server.wait_closed()


async def say(proxy: FilteringProxy, data: bytes) -> bytes:
    """Everything that comes back until the proxy hangs up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
    writer.write(data)
    heard = await reader.read()
    writer.close()
    await writer.wait_closed()
    return heard


def get(url: str, held: Pass | None, extra: str = "") -> bytes:
    authorization = f"Proxy-Authorization: {held.authorization}\r\n" if held else ""
    return f"GET {url} HTTP/1.1\r\nHost: elsewhere.test\r\n{authorization}{extra}\r\n".encode()


def test_without_a_pass_nothing_is_dialled() -> None:
    async def run() -> None:
        async with proxied() as (proxy, origin):
            url = f"http://127.0.0.1:{origin.port}/"
            assert (await say(proxy, get(url, None))).startswith(b"HTTP/1.1 407 ")
            revoked = proxy.issue(MIB)
            await proxy.revoke(revoked)
            assert (await say(proxy, get(url, revoked))).startswith(b"HTTP/1.1 407 ")
            assert origin.heard == []

    asyncio.run(run())


def test_a_request_is_passed_on_without_the_pass_and_the_connection_ends_with_it() -> None:
    async def run() -> None:
        async with proxied() as (proxy, origin):
            extra = "Proxy-Connection: keep-alive\r\nUpgrade: websocket\r\nX-Mine: yes\r\n"
            asked = get(f"http://127.0.0.1:{origin.port}/a?b#c", proxy.issue(MIB), extra)
            # What follows on the same connection might be meant for somebody else, and goes nowhere.
            heard = await say(proxy, asked + b"GET http://other.test/ HTTP/1.1\r\n\r\n")
            assert heard.endswith(b"Connection: close\r\n\r\nhello")
            assert b"Keep-Alive" not in heard
            [sent] = origin.heard
            assert sent.startswith(f"GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:{origin.port}\r\n".encode())
            assert b"X-Mine: yes" in sent
            assert not any(word in sent for word in (b"Proxy-", b"Upgrade", b"other.test", b"elsewhere.test"))

    asyncio.run(run())


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://[::1]/",
        "http://localhost/",
        "http://127.1/",
        "http://metadata.google.internal/",
        "http://93.184.216.34:25/",
        "http://www.google-analytics.com/collect",
    ],
)
def test_whom_the_guard_refuses_nobody_reaches(target: str) -> None:
    async def run() -> None:
        async with proxied() as (proxy, _):
            held = proxy.issue(MIB)
            assert await say(proxy, get(target, held)) == b""
            authority = target.split("/")[2]
            authority += "" if authority.rpartition("]")[2].count(":") else ":443"
            tunnel = f"CONNECT {authority} HTTP/1.1\r\nProxy-Authorization: {held.authorization}\r\n\r\n"
            assert (await say(proxy, tunnel.encode())).startswith(b"HTTP/1.1 403 ")

    asyncio.run(run())


def test_a_tunnel_carries_tls_or_nothing() -> None:
    async def run() -> None:
        async with proxied() as (proxy, origin):
            held = proxy.issue(MIB)
            line = f"CONNECT 127.0.0.1:{origin.port} HTTP/1.1"
            opening = f"{line}\r\nProxy-Authorization: {held.authorization}\r\n\r\n"
            heard = await say(proxy, opening.encode() + b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n")
            assert heard == b"HTTP/1.1 200 Connection established\r\n\r\n"
            assert b"websocket" not in b"".join(origin.heard)
            heard = await say(proxy, opening.encode() + b"\x16\x03\x01 as if")
            assert heard.endswith(ANSWER)
            assert origin.heard[-1] == b"\x16\x03\x01 as if"

    asyncio.run(run())


def test_a_page_gets_no_more_bytes_than_its_budget() -> None:
    async def run() -> None:
        large = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (2 * MIB)
        async with proxied(large) as (proxy, origin):
            heard = await say(proxy, get(f"http://127.0.0.1:{origin.port}/", proxy.issue(MIB)))
            assert len(heard) <= MIB + 1024

    asyncio.run(run())


def test_https_only_holds_in_the_browser_too() -> None:
    async def run() -> None:
        async with proxied(https_only=True) as (proxy, origin):
            assert await say(proxy, get(f"http://127.0.0.1:{origin.port}/", proxy.issue(MIB))) == b""
            assert origin.heard == []

    asyncio.run(run())


@given(st.binary(max_size=200))
def test_no_request_breaks_the_reading_of_it(data: bytes) -> None:
    parse_request(data)
    parse_request(b"CONNECT " + data + b" HTTP/1.1\r\n\r\n")
    wanted = parse_request(b"GET http://" + data + b" HTTP/1.1\r\n\r\n")
    assert wanted is None or wanted.head.count(b"\r\n\r\n") == 1


@pytest.mark.parametrize(
    "stated",
    [
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: -1",
        "Content-Length: 9999999",
        "Transfer-Encoding: x",
    ],
)
def test_a_body_of_doubtful_length_is_not_passed_on(stated: str) -> None:
    assert parse_request(f"POST http://a.test/ HTTP/1.1\r\n{stated}\r\n\r\n".encode()) is None


def test_trackers_are_known_by_domain_and_not_by_the_look_of_it() -> None:
    assert is_tracker("www.google-analytics.com")
    assert is_tracker("hotjar.com")
    assert not is_tracker("notgoogle-analytics.com")
    assert not is_tracker("google-analytics.com.example.org")
    assert not is_tracker("com")
