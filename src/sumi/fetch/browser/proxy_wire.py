"""The wire format of the proxy: requests are parsed strictly, hop-by-hop headers are removed."""

import asyncio
import re
from http import HTTPStatus
from typing import NamedTuple

from sumi.fetch.headers import Fields
from sumi.fetch.target import Target, parse_target
from sumi.model import Response

HEAD_BYTES = 64 * 1024
_BODY_BYTES = 1024 * 1024  # of a request: a search or a query, not an upload
TUNNEL_OPEN = b"HTTP/1.1 200 Connection established\r\n\r\n"
NEEDS_PASS = (
    b'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="sumi"\r\n'
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)

_LENGTH = re.compile(r"[0-9]{1,9}\Z")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]]+):([0-9]{1,5})\Z")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
# Headers of one connection, headers that the client sets itself, and the referrer.
_NOT_PASSED_ON = frozenset(
    {
        *("connection", "keep-alive", "te", "trailer", "http2-settings", "upgrade-insecure-requests"),
        *("host", "content-length", "expect", "user-agent", "accept-encoding", "referer"),
    }
)
_PREFIXES_NOT_PASSED_ON = ("proxy-", "sec-")
# The body is decoded and complete. The rest would make the browser send reports or bypass the proxy.
_NOT_PASSED_BACK = frozenset(
    {
        *("connection", "keep-alive", "proxy-connection", "proxy-authenticate", "trailer", "upgrade"),
        *("transfer-encoding", "content-encoding", "content-length"),
        *("alt-svc", "strict-transport-security", "nel", "report-to", "reporting-endpoints"),
    }
)
_WITHOUT_BODY = frozenset({204, 304})
_PHRASES = {status.value: status.phrase for status in HTTPStatus}


class ProxyRequest(NamedTuple):
    """A well-formed request. For a tunnel only the target and the authorization matter."""

    method: str
    target: Target
    authorization: str
    headers: Fields = ()
    length: int = 0  # of the body
    body: bytes = b""

    @property
    def is_tunnel(self) -> bool:
        return self.method == "CONNECT"


async def read_request(reader: asyncio.StreamReader, seconds: float, origin: str = "") -> ProxyRequest | None:
    """None for anything but a request to a proxy, which gets no response. ``origin``: the target of the
    tunnel, in which requests name only paths."""
    try:
        async with asyncio.timeout(seconds):
            wanted = parse_request(await reader.readuntil(b"\r\n\r\n"), origin)
            if wanted is None or not wanted.length:
                return wanted
            return wanted._replace(body=await reader.readexactly(wanted.length))
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
        return None


def parse_request(head: bytes, origin: str = "") -> ProxyRequest | None:
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    fields = [_field(line) for line in lines[1:] if line]
    names = dict(fields)
    # A WebSocket cannot be checked or counted, and does not end with the page.
    if len(words) != 3 or "transfer-encoding" in names or "upgrade" in names:
        return None
    method, asked, _ = words
    target = _target(method, asked, origin)
    length = _body_length(fields)
    if target is None or length is None:
        return None
    authorization = names.get("proxy-authorization", "")
    kept = tuple((name, value) for name, value in fields if _is_passed_on(name))
    return ProxyRequest(method, target, authorization, kept, 0 if method == "CONNECT" else length)


def _target(method: str, asked: str, origin: str) -> Target | None:
    if origin:
        return parse_target(origin + asked) if asked.startswith("/") else None
    if method == "CONNECT":
        return parse_target(f"https://{asked}/") if _AUTHORITY.match(asked) else None
    return parse_target(asked) if asked.startswith("http://") else None


def _is_passed_on(name: str) -> bool:
    return name not in _NOT_PASSED_ON and not name.startswith(_PREFIXES_NOT_PASSED_ON)


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip().lower(), value.strip()


def _body_length(fields: list[tuple[str, str]]) -> int | None:
    """None if it is too long, invalid, or given twice: two readers might pick different ones."""
    stated = [value for name, value in fields if name == "content-length"]
    if not stated:
        return 0
    readable = len(stated) == 1 and _LENGTH.match(stated[0])
    return int(stated[0]) if readable and int(stated[0]) <= _BODY_BYTES else None


def response_bytes(response: Response, method: str) -> bytes:
    """A complete response; the connection stays open for the next request."""
    lines = [f"HTTP/1.1 {response.status} {_PHRASES.get(response.status, 'Answer')}"]
    lines += [
        f"{name}: {_CONTROLS.sub(' ', value)}"
        for name, value in response.headers
        if name not in _NOT_PASSED_BACK
    ]
    bodiless = method == "HEAD" or response.status in _WITHOUT_BODY
    body = b"" if bodiless else response.body
    if not bodiless:
        lines.append(f"content-length: {len(body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace") + body
