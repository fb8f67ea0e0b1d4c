"""The browser's proxy serves only pages with a pass, contacts only allowed addresses, and counts bytes."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumi.engine.io import SystemClock
from sumi.fetch.browser.filtering_proxy import Clients, FilteringProxy, Pass, is_tracker, new_identity
from sumi.fetch.browser.proxy_wire import parse_request, response_bytes
from sumi.fetch.headers import basic_auth
from sumi.fetch.http import HttpFetcher
from sumi.fetch.resolver import Resolution
from sumi.model import Response, Timing
from sumi.policy import FetchLimits, NetworkPolicy
from tests.fetch.test_guard import NEVER, PRIVATE

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nKeep-Alive: timeout=9\r\n\r\nhello"
MIB = 1024 * 1024
LIMITS = FetchLimits(connect=5, first_byte=5, idle=5)
IDENTITY = new_identity()
UNSUSPECTING = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # the key is the browser's to check
UNSUSPECTING.check_hostname = False
UNSUSPECTING.verify_mode = ssl.CERT_NONE


class Origin:
    """A server that records what it is sent and answers with a fixed text."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.heard: list[bytes] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append(await reader.read(65536))
        writer.write(self.answer)
        await writer.drain()
        writer.close()


class Rebinding:
    """A name server that says something public first and this machine ever after."""

    def __init__(self) -> None:
        self.asked = 0

    async def addresses(self, host: str) -> Resolution:
        self.asked += 1
        return ("192.0.2.1", "127.0.0.1") if self.asked == 1 else ("127.0.0.1",)


@asynccontextmanager
async def proxied(
    answer: bytes = ANSWER, *, opened: bool = True, https_only: bool = False
) -> AsyncIterator[tuple[FilteringProxy, Origin]]:
    origin = Origin(answer)
    server = await asyncio.start_server(origin.serve, "127.0.0.1", 0)
    origin.port = server.sockets[0].getsockname()[1]
    network = NetworkPolicy(
        open_hosts=frozenset({("127.0.0.1", origin.port)} if opened else ()),
        https_only=https_only,
        credentials=(basic_auth(("http", "127.0.0.1", origin.port), "me:secret"),),
    )
    own = HttpFetcher(LIMITS, network, SystemClock())
    anonymous = msgspec.structs.replace(network, credentials=())
    others = HttpFetcher(LIMITS, anonymous, SystemClock(), resolver=Rebinding())
    proxy = FilteringProxy(Clients(own, others), LIMITS, IDENTITY.context)
    await proxy.start()
    try:
        yield proxy, origin
    finally:
        await proxy.aclose()
        await own.aclose()
        server.close()
        await server.wait_closed()


async def say(proxy: FilteringProxy, data: bytes) -> bytes:
    """Everything that comes back until the proxy hangs up; it does once nothing more is said."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
    writer.write(data)
    writer.write_eof()
    heard = await reader.read()
    writer.close()
    await writer.wait_closed()
    return heard


async def say_in_tunnel(proxy: FilteringProxy, held: Pass, authority: str, data: bytes) -> bytes:
    """What comes back within the TLS of a tunnel, whose far end is the proxy and known by its key only."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rpartition(":")[2]))
    writer.write(
        f"CONNECT {authority} HTTP/1.1\r\nProxy-Authorization: {held.authorization}\r\n\r\n".encode()
    )
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
    await writer.start_tls(UNSUSPECTING)
    writer.write(data)
    heard = await reader.read()
    writer.close()
    await writer.wait_closed()
    return heard


def get(url: str, held: Pass | None, extra: str = "", method: str = "GET") -> bytes:
    authorization = f"Proxy-Authorization: {held.authorization}\r\n" if held else ""
    return f"{method} {url} HTTP/1.1\r\nHost: elsewhere.test\r\n{authorization}{extra}\r\n".encode()


def test_without_a_pass_nothing_is_asked_for() -> None:
    async def run() -> None:
        async with proxied() as (proxy, origin):
            assert (await say(proxy, get(origin.url, None))).startswith(b"HTTP/1.1 407 ")
            revoked = proxy.issue(MIB)
            await proxy.revoke(revoked)
            assert (await say(proxy, get(origin.url, revoked))).startswith(b"HTTP/1.1 407 ")
            # Nor does one request with a pass speak for the next on the same connection.
            heard = await say(proxy, get(origin.url, proxy.issue(MIB)) + get(origin.url, None))
            assert heard.count(b"HTTP/1.1 200") == 1
            assert len(origin.heard) == 1

    asyncio.run(run())


def test_a_request_is_passed_on_as_the_crawlers_own() -> None:
    async def run() -> None:
        async with proxied() as (proxy, origin):
            extra = "Proxy-Connection: keep-alive\r\nReferer: http://a.test/b\r\nX-Mine: yes\r\nSec-A: b\r\n"
            heard = await say(proxy, get(f"{origin.url}a?b#c", proxy.issue(MIB), extra))
            assert heard.endswith(b"content-length: 5\r\n\r\nhello")
            assert b"keep-alive" not in heard.lower()
            [sent] = origin.heard
            assert sent.startswith(f"GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:{origin.port}\r\n".encode())
            assert b"x-mine: yes" in sent
            unwanted = (b"proxy-", b"referer", b"sec-", b"elsewhere.test")
            assert not any(word in sent.lower() for word in unwanted)

    asyncio.run(run())


def test_what_the_user_confided_goes_with_pages_of_that_origin_only() -> None:
    async def run() -> None:
        async with proxied() as (proxy, origin):
            at_home, abroad = proxy.issue(MIB), proxy.issue(MIB)
            at_home.origin = ("http", "127.0.0.1", origin.port)
            abroad.origin = ("https", "127.0.0.1", origin.port)
            await say(proxy, get(origin.url, at_home))
            await say(proxy, get(origin.url, abroad))
            assert [b"Authorization: Basic" in sent for sent in origin.heard] == [True, False]

    asyncio.run(run())


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_what_would_change_something_is_not_passed_on(method: str) -> None:
    async def run() -> None:
        async with proxied() as (proxy, origin):
            assert await say(proxy, get(origin.url, proxy.issue(MIB), method=method)) == b""
            assert origin.heard == []

    asyncio.run(run())


def test_a_post_arrives_whole() -> None:
    async def run() -> None:
        async with proxied() as (proxy, origin):
            extra = "Content-Type: text/plain\r\nContent-Length: 5\r\n"
            heard = await say(proxy, get(origin.url, proxy.issue(MIB), extra, "POST") + b"q=ink")
            assert heard.endswith(b"hello")
            [sent] = origin.heard
            assert sent.startswith(b"POST / HTTP/1.1\r\n")
            assert sent.endswith(b"\r\n\r\nq=ink")

    asyncio.run(run())


SPELLINGS = [
    *("http://127.1/", "http://0x7f.1/", "http://2130706433/", "http://017700000001/", "http://127.0.0.1./"),
    *("http://localhost/", "http://a.localhost/", "http://metadata.google.internal/", "http://①27.0.0.1/"),
    *("http://127.0.0.1:6666\\@1.1.1.1/", "http://1.1.1.1&@127.0.0.1/", "http://93.184.216.34:25/"),
    "http://www.google-analytics.com/collect",
]


def test_no_page_reaches_an_address_that_the_guard_refuses() -> None:
    """Every special address and its spellings, in plain requests and within tunnels."""

    async def run() -> None:
        async with proxied() as (proxy, origin):
            addresses = [a for a in (*PRIVATE, *NEVER) if "%" not in a]
            literals = [f"http://[{a}]/" if ":" in a else f"http://{a}/" for a in addresses]
            asked = get("/", None)
            for target in (*literals, *SPELLINGS):
                assert await say(proxy, get(target, proxy.issue(MIB))) == b"", target
            for target in literals:
                authority = target[7:-1] + ":443"
                assert await say_in_tunnel(proxy, proxy.issue(MIB), authority, asked) == b"", target
            # The same requests to hosts that the user named do get a response.
            assert (await say(proxy, get(origin.url, proxy.issue(MIB)))).endswith(b"hello")

    asyncio.run(run())


def test_a_name_of_which_one_address_is_forbidden_is_refused_however_it_changes() -> None:
    async def run() -> None:
        async with proxied(opened=False) as (proxy, origin):
            for _ in range(3):
                asked = get(f"http://rebinds.test:{origin.port}/", proxy.issue(MIB))
                assert await say(proxy, asked) == b""
            assert origin.heard == []

    asyncio.run(run())


def test_a_tunnel_carries_checked_requests_over_tls_or_nothing() -> None:
    async def run() -> None:
        async with proxied() as (proxy, origin):
            held, authority = proxy.issue(MIB), f"127.0.0.1:{origin.port}"
            opening = f"CONNECT {authority} HTTP/1.1\r\nProxy-Authorization: {held.authorization}\r\n\r\n"
            plain = opening.encode() + b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"
            assert await say(proxy, plain) == b"HTTP/1.1 200 Connection established\r\n\r\n"
            socket = b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n"
            assert await say_in_tunnel(proxy, held, authority, socket) == b""
            elsewhere = b"GET http://169.254.169.254/ HTTP/1.1\r\n\r\n"
            assert await say_in_tunnel(proxy, held, authority, elsewhere) == b""
            assert origin.heard == []
            # It has no TLS and so no certificate, but it is contacted.
            assert await say_in_tunnel(proxy, held, authority, get("/", None)) == b""
            assert [sent[:1] for sent in origin.heard] == [b"\x16"]

    asyncio.run(run())


def test_a_page_gets_no_more_bytes_than_its_budget() -> None:
    async def run() -> None:
        large = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (2 * MIB)
        async with proxied(large) as (proxy, origin):
            assert await say(proxy, get(origin.url, proxy.issue(MIB))) == b""
            assert (await say(proxy, get(origin.url, proxy.issue(3 * MIB)))).endswith(b"x" * MIB)

    asyncio.run(run())


def test_https_only_holds_in_the_browser_too() -> None:
    async def run() -> None:
        async with proxied(https_only=True) as (proxy, origin):
            assert await say(proxy, get(origin.url, proxy.issue(MIB))) == b""
            assert origin.heard == []

    asyncio.run(run())


@given(st.binary(max_size=200))
def test_no_request_breaks_the_reading_of_it(data: bytes) -> None:
    parse_request(data)
    parse_request(b"CONNECT " + data + b" HTTP/1.1\r\n\r\n")
    parse_request(b"GET http://" + data + b" HTTP/1.1\r\n\r\n")
    within = parse_request(b"GET " + data + b" HTTP/1.1\r\n\r\n", "https://site.test:8443")
    assert within is None or within.target.origin == ("https", "site.test", 8443)


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=50))), st.integers(100, 999))
def test_no_header_of_an_answer_adds_another(fields: list[tuple[str, str]], status: int) -> None:
    named = tuple((f"x-{number}", value) for number, (_, value) in enumerate(fields))
    head = response_bytes(Response("http://a.test/", status, named, b"", Timing(0, 0, 0)), "HEAD")
    assert len(head.split(b"\r\n")) == len(fields) + 3
    assert b"\r" not in head.replace(b"\r\n", b"")


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
