"""Who may ask: every request passes here first, whatever it asks for (docs/concepts/window-security.md).

The order matters. Host comes first: a page that rebinds its name to 127.0.0.1 is same-origin to itself, so
neither Origin nor cookie tells it from ours; only the name that it used does.
"""

import hmac
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qs

import msgspec
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_OPEN: Final = 200
MOST_BODY: Final = 64 * 1024
CSRF_HEADER: Final = "x-sumi-csrf"
PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
# Of captured content, also when it is opened by itself: no script, form, popup or request of it.
CAPTURED_POLICY: Final = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; "
    "base-uri 'none'; form-action 'none'"
)
_HEADERS: Final = {
    b"content-security-policy": PAGE_POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"x-dns-prefetch-control": b"off",
    b"cache-control": b"no-store",
}


class Access(msgspec.Struct, frozen=True):
    """Who may ask, and what."""

    token: str
    port: int
    names: tuple[str, ...] = ()  # beside those of this machine itself
    read_only: bool = False

    @property
    def hosts(self) -> frozenset[str]:
        own = ("127.0.0.1", "localhost", "[::1]")
        with_port = {f"{name}:{self.port}" for name in (*own, *self.names)}
        # A proxy in front of a name of the user's own may have the usual port.
        return frozenset(with_port | set(self.names) | (set(own) if self.port == 80 else set()))

    @property
    def cookie_name(self) -> str:
        """With the port: browsers share cookies between the ports of one host."""
        return f"sumi_{self.port}"

    def derived(self, use: str) -> str:
        """A secret for one use, from which the token does not follow."""
        return hmac.new(self.token.encode(), use.encode(), sha256).hexdigest()


class Guard:
    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            self._open += 1
            try:
                await self._guarded(scope, receive, _with_headers(send))
            finally:
                self._open -= 1

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _headers_of(scope)
        refusal = self._refusal(scope, headers) or self._admission(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send)
        else:
            await self._app(scope, _bounded(receive), send)

    def _refusal(self, scope: Scope, headers: dict[str, list[str]]) -> Response | None:
        host = headers.get("host", [])
        if len(host) != 1 or host[0].lower() not in self._access.hosts:
            return _refused(421, "This window answers to its own address only; --name allows another name.")
        if self._open > MOST_OPEN:
            return _refused(503, f"More than {MOST_OPEN} requests are open; try again in a moment.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _refused(405, "Only GET, HEAD and POST are understood.")
        if int_or_none(headers.get("content-length", ["0"])[0]) is None or _length(headers) > MOST_BODY:
            return _refused(413, f"A request has at most {MOST_BODY // 1024} KB.")
        return None

    def _admission(self, scope: Scope, headers: dict[str, list[str]]) -> Response | None:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if given is not None and scope["method"] == "GET" and scope["path"] == "/":
            return self._traded(given[0])
        path = scope["path"]
        if path == "/mcp":
            return self._agent_refusal(headers)
        if self._has_bearer(headers) and (path.startswith("/feed/") or path == "/metrics"):
            return None
        if not self._has_cookie(headers):
            return _refused(401, "Open the address that sumi serve printed: it has the key to this window.")
        if scope["method"] == "POST":
            return self._post_refusal(headers)
        return None

    def _agent_refusal(self, headers: dict[str, list[str]]) -> Response | None:
        """Agents have the key itself: what a browser sends along for any page counts for nothing."""
        if not self._has_bearer(headers):
            return _refused(401, "MCP needs the header Authorization: Bearer with the window's token.")
        return self._origin_refusal(headers) if "origin" in headers else None

    def _traded(self, token: str) -> Response:
        if not _same(token, self._access.token):
            return _refused(
                401, "This key is not valid (any more): sumi serve prints a new one at each start."
            )
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(
            self._access.cookie_name,
            self._access.derived("cookie"),
            httponly=True,
            samesite="strict",
            path="/",
        )
        return response

    def _has_bearer(self, headers: dict[str, list[str]]) -> bool:
        scheme, _, token = headers.get("authorization", [""])[0].partition(" ")
        return scheme.lower() == "bearer" and _same(token.strip(), self._access.token)

    def _has_cookie(self, headers: dict[str, list[str]]) -> bool:
        try:
            cookies = SimpleCookie("; ".join(headers.get("cookie", [])))
        except CookieError:
            return False
        found = cookies.get(self._access.cookie_name)
        return found is not None and _same(found.value, self._access.derived("cookie"))

    def _post_refusal(self, headers: dict[str, list[str]]) -> Response | None:
        if self._access.read_only:
            return _refused(403, "This window is read-only: it was started with --read-only.")
        if (foreign := self._origin_refusal(headers)) is not None:
            return foreign
        if headers.get("content-type", [""])[0].partition(";")[0].strip() != "application/json":
            return _refused(415, "Only application/json is understood.")
        if not _same(headers.get(CSRF_HEADER, [""])[0], self._access.derived("csrf")):
            return _refused(403, "The request was not made by this window's own page: reload it.")
        return None

    def _origin_refusal(self, headers: dict[str, list[str]]) -> Response | None:
        host = headers["host"][0]
        if headers.get("origin", [""])[0] in (f"http://{host}", f"https://{host}"):
            return None
        return _refused(403, "The request comes from another site.")


def _headers_of(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())


def int_or_none(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def _length(headers: dict[str, list[str]]) -> int:
    return int_or_none(headers.get("content-length", ["0"])[0]) or 0


class TooLarge(Exception):
    """A body without a length that goes on and on."""


def _bounded(receive: Receive) -> Receive:
    read = 0

    async def bounded() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > MOST_BODY:
            raise TooLarge
        return message

    return bounded


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            missing = [(name, value) for name, value in _HEADERS.items() if name not in given]
            message["headers"] = [*message["headers"], *missing]
        await send(message)

    return sending


def _refused(status: int, sentence: str) -> Response:
    """``sentence`` is ours: nothing of the request is in it."""
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Sumi</title>'
        f"<h1>Sumi</h1><p>{sentence}</p></html>"
    )
    return HTMLResponse(page, status_code=status)
