"""What is said on the wire to a proxy and by it: requests read strictly, headers of one hop taken out."""

import asyncio
import re
from typing import NamedTuple

from sumi.fetch.target import Target, parse_target

HEAD_BYTES = 64 * 1024
_BODY_BYTES = 1024 * 1024  # of a request: a search, a query; not an upload
TUNNEL_OPEN = b"HTTP/1.1 200 Connection established\r\n\r\n"
NEEDS_PASS = (
    b'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="sumi"\r\n'
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)
FORBIDDEN = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
UNREACHABLE = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

_LENGTH = re.compile(r"[0-9]{1,9}\Z")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]]+):([0-9]{1,5})\Z")
# These speak of this connection, would turn it into something else than HTTP, or tell who led here.
_ONE_HOP = frozenset(
    {
        *("connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "trailer", "upgrade"),
        *("transfer-encoding", "http2-settings", "referer"),
    }
)
_ONE_HOP_BACK = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"proxy-authenticate", b"alt-svc"}
)


class Wanted(NamedTuple):
    """A request, checked for form and made ready to be passed on."""

    target: Target
    is_tunnel: bool
    authorization: str
    head: bytes = b""
    length: int = 0  # of the body
    body: bytes = b""


async def read_request(reader: asyncio.StreamReader, seconds: float) -> Wanted | None:
    """None for what is not a request that a proxy is asked; nobody is owed an answer to that."""
    try:
        async with asyncio.timeout(seconds):
            head = await reader.readuntil(b"\r\n\r\n")
            wanted = parse_request(head)
            if wanted is None or wanted.is_tunnel:
                return wanted
            return wanted._replace(body=await reader.readexactly(wanted.length))
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
        return None


def parse_request(head: bytes) -> Wanted | None:
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    fields = [_field(line) for line in lines[1:] if line]
    names = {name.lower(): value for name, value in fields}
    if len(words) != 3 or "transfer-encoding" in names:
        return None
    authorization = names.get("proxy-authorization", "")
    method, asked, _ = words
    if method == "CONNECT":
        authority = _AUTHORITY.match(asked)
        target = parse_target(f"https://{asked}/") if authority else None
        return None if target is None else Wanted(target, True, authorization)
    target = parse_target(asked) if asked.startswith("http://") else None
    length = _body_length(fields)
    if target is None or length is None:
        return None
    return Wanted(target, False, authorization, _passed_on(method, target, fields), length)


def _passed_on(method: str, target: Target, fields: list[tuple[str, str]]) -> bytes:
    authority, slash, rest = target.url.removeprefix("http://").partition("/")
    kept = [(n, v) for n, v in fields if n.lower() not in _ONE_HOP and n.lower() != "host"]
    lines = [f"{method} {slash}{rest} HTTP/1.1", f"Host: {authority}"]
    lines += [f"{name}: {value}" for name, value in kept]
    return ("\r\n".join([*lines, "Connection: close"]) + "\r\n\r\n").encode("latin-1")


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip(), value.strip()


def _body_length(fields: list[tuple[str, str]]) -> int | None:
    """None for one that is too long, unreadable, or stated twice: two readers might take different ones."""
    stated = [value for name, value in fields if name.lower() == "content-length"]
    if not stated:
        return 0
    readable = len(stated) == 1 and _LENGTH.match(stated[0])
    return int(stated[0]) if readable and int(stated[0]) <= _BODY_BYTES else None


async def answer_head(reader: asyncio.StreamReader, seconds: float) -> bytes | None:
    """Status line and header of a server's answer, saying that the connection ends with it."""
    try:
        async with asyncio.timeout(seconds):
            head = await reader.readuntil(b"\r\n\r\n")
            while head[:12].endswith((b" 100", b" 103")):
                head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, OSError):
        return None
    if not head.startswith(b"HTTP/1."):
        return None
    lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    kept = [line for line in lines if line.partition(b":")[0].strip().lower() not in _ONE_HOP_BACK]
    return b"\r\n".join([*kept, b"Connection: close"]) + b"\r\n\r\n"
