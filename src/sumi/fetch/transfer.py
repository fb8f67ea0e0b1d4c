"""A curl handle that is set up once and used for many exchanges, and the timeouts that curl lacks."""

import asyncio
import os
import re
import socket
from collections.abc import Callable
from math import ceil
from typing import Any

import pycurl

from sumi.fetch.certificates import Authorities
from sumi.fetch.cookies import CookieJar
from sumi.fetch.guard import AddressGuard
from sumi.fetch.incoming import Incoming
from sumi.fetch.route import Route
from sumi.fetch.target import Target
from sumi.model import Request
from sumi.policy import FetchLimits, NetworkPolicy, Proxy

_READ_BUFFER = 128 * 1024
_SUPPRESS_CONNECT_HEADERS = 265  # pycurl has no name for it


def set_limits(handle: Any, limits: FetchLimits) -> None:
    handle.setopt(
        pycurl.CONNECTTIMEOUT_MS, max(1, round(limits.connect * 1000))
    )  # 0 would mean curl's default
    handle.setopt(pycurl.TIMEOUT_MS, max(1, round(limits.total * 1000)))
    handle.setopt(pycurl.BUFFERSIZE, _READ_BUFFER)


def set_protocol(handle: Any, network: NetworkPolicy) -> None:
    handle.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
    handle.setopt(pycurl.FOLLOWLOCATION, 0)
    # Set to empty: otherwise curl takes both from the environment.
    handle.setopt(pycurl.PROXY, "")
    handle.setopt(pycurl.NOPROXY, "")
    handle.setopt(_SUPPRESS_CONNECT_HEADERS, 1)  # the proxy's headers are not part of the response
    handle.setopt(pycurl.NETRC, pycurl.NETRC_IGNORED)
    handle.setopt(pycurl.NOSIGNAL, 1)
    handle.setopt(pycurl.TCP_KEEPALIVE, 1)
    handle.setopt(pycurl.PATH_AS_IS, 1)  # the URL is canonical already: send what was checked
    handle.setopt(pycurl.HTTP_CONTENT_DECODING, 0)
    handle.setopt(pycurl.HTTP09_ALLOWED, 0)
    handle.setopt(pycurl.VERBOSE, 1)  # for sumi.fetch.kept_connections
    version = pycurl.CURL_HTTP_VERSION_2TLS if network.http2 else pycurl.CURL_HTTP_VERSION_1_1
    handle.setopt(pycurl.HTTP_VERSION, version)


_LOWER_CASE_ESCAPE = re.compile(r"%(?:[a-f]|[0-9A-F][a-f])")
NO_ROUTE = Route(Target("", "", 0), [])


class Transfer:
    def __init__(
        self,
        limits: FetchLimits,
        network: NetworkPolicy,
        authorities: Authorities,
        guard: AddressGuard,
        jar: CookieJar | None,
    ) -> None:
        self._guard = guard
        self._jar = jar
        self._lines: list[bytes] = []
        self.route = NO_ROUTE
        self.refusal: str | None = None  # why the guard refused an address before connecting
        self.no_socket = 0  # errno, if the system had no socket
        self._dialled: list[_Handover] = []  # sockets of this exchange
        self._incoming: Incoming | None = None
        self._limits = limits
        self._is_untimed = False
        self._spells = False  # the request target is set apart from the URL
        self.handle: Any = pycurl.Curl()
        set_limits(self.handle, limits)
        set_protocol(self.handle, network)
        authorities.apply(self.handle)
        if jar is not None:
            jar.attach(self.handle)
        self.handle.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)

    def prepare(
        self, route: Route, request: Request, lines: list[bytes], incoming: Incoming, *, fresh: bool = False
    ) -> None:
        """``fresh``: on a new connection."""
        self.refusal = None
        self._incoming = incoming
        self.no_socket = 0
        self._dialled.clear()
        if self._is_untimed:
            self._is_untimed = False
            set_limits(self.handle, self._limits)
        self.handle.setopt(pycurl.URL, route.target.url)
        self._spell(route)
        if request.method == "POST":
            self.handle.setopt(pycurl.POSTFIELDS, request.body)
        else:
            self.handle.setopt(pycurl.NOBODY if request.method == "HEAD" else pycurl.HTTPGET, 1)
        if lines is not self._lines:  # nearly all requests send the same headers
            self._lines = lines
            self._take_lines(lines, route.target)
        self._take(route)
        self.handle.setopt(pycurl.FRESH_CONNECT, fresh)
        self.handle.setopt(pycurl.HEADERFUNCTION, incoming.on_header)
        self.handle.setopt(pycurl.WRITEFUNCTION, incoming.on_body)
        self.handle.setopt(pycurl.DEBUGFUNCTION, incoming.on_words)

    def resume(self) -> None:
        """After a pause, which curl would count as time. Not from within one of its callbacks."""
        self._is_untimed = True
        self.handle.setopt(pycurl.TIMEOUT_MS, 0)
        self.handle.pause(pycurl.PAUSE_CONT)

    def kept_socket(self) -> tuple[int, int] | None:
        """The connection that is kept for another request, and its local port. Only curl's own handles know:
        one that was taken back from it has none."""
        descriptor = int(self.handle.getinfo(pycurl.ACTIVESOCKET))
        return None if descriptor < 0 else (descriptor, int(self.handle.getinfo(pycurl.LOCAL_PORT)))

    def closed_sockets(self) -> list[int]:
        """The sockets of this exchange, where curl has closed its side; none if they use TLS."""
        return [] if self.route.speaks_tls else [dialled.fileno() for dialled in self._dialled]

    def release(self) -> None:
        """Close the sockets of the exchange: until then they outlive curl's side."""
        self._dialled.clear()
        self._incoming = None

    def _spell(self, route: Route) -> None:
        """Keep lower-case escapes, which curl would write in upper case. A request target cannot be unset."""
        url = route.target.url
        if not self._spells and not ("%" in url and _LOWER_CASE_ESCAPE.search(url)):
            return
        self._spells = True
        self.handle.setopt(pycurl.REQUEST_TARGET, route.request_target)

    def errno(self) -> int:
        return self.no_socket or int(self.handle.getinfo(pycurl.OS_ERRNO))

    def peer(self) -> str:
        return str(self.handle.getinfo(pycurl.PRIMARY_IP))

    def proxy_status(self) -> int:
        """The proxy's status for the tunnel; 0 if there was none."""
        return int(self.handle.getinfo(pycurl.HTTP_CONNECTCODE)) if self.route.proxy is not None else 0

    def _take_lines(self, lines: list[bytes], target: Target) -> None:
        # The user's cookies are set apart, so that curl joins them with those of the jar in one header.
        cookies = b"; ".join(line.partition(b": ")[2] for line in lines if line[:7].lower() == b"cookie:")
        self.handle.setopt(pycurl.HTTPHEADER, [line for line in lines if line[:7].lower() != b"cookie:"])
        if cookies and self._jar is not None:
            cookies = self._jar.besides(cookies, target, self.handle)
        if cookies:
            self.handle.setopt(pycurl.COOKIE, cookies)
        else:
            self.handle.unsetopt(pycurl.COOKIE)

    def _take(self, route: Route) -> None:
        # A burst to one HTTP/2 host shares a connection instead of opening many. Not without TLS, where there
        # is no HTTP/2: a server that closes each connection would get one request at a time.
        self.handle.setopt(pycurl.PIPEWAIT, route.target.url.startswith("https:"))
        if route.resolve:
            self.handle.setopt(pycurl.RESOLVE, route.resolve)  # curl reads it only when set
        if route.proxy != self.route.proxy and route.proxy is not None:
            self._take_proxy(route.proxy)
        if route.connect_to != self.route.connect_to:
            self.handle.setopt(pycurl.CONNECT_TO, list(route.connect_to))
        self.route = route

    def _take_proxy(self, proxy: Proxy) -> None:
        self.handle.setopt(pycurl.PROXY, proxy.url)
        for option, secret in ((pycurl.PROXYUSERNAME, proxy.user), (pycurl.PROXYPASSWORD, proxy.password)):
            if secret is None:
                self.handle.unsetopt(option)
            else:
                self.handle.setopt(option, secret.reveal())

    def _open_socket(self, _purpose: int, address: Any) -> Any:
        """curl is about to connect: the last check of the address, wherever it came from.

        Through a proxy, curl only ever connects to the proxy, whose address the user vouches for.
        """
        if self._incoming is not None and self._incoming.broken is not None:
            return pycurl.SOCKET_BAD
        target = self.route.target
        refusal = None
        if self.route.proxy is None:
            refusal = self._guard.check(target.host, target.port, address.addr[0])
        if refusal is not None:
            self.refusal = refusal
            return pycurl.SOCKET_BAD
        try:
            dialled = socket.socket(address.family, address.socktype, address.protocol)
        except OSError as error:
            self.no_socket = error.errno or 0
            return pycurl.SOCKET_BAD
        handover = _Handover(dialled.detach())
        self._dialled.append(handover)
        return handover


class _Handover:
    """A socket on its way to curl, which duplicates it. A ``socket`` would warn when dropped."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def fileno(self) -> int:
        return self._fd

    def __del__(self) -> None:
        os.close(self._fd)


_TICKS = 4  # per limit, which is noticed at most a quarter late
_SHORTEST_TICK = 0.001


class StallClock:
    """Timeouts that curl does not have: a response that does not start, falls silent, or trickles.

    Time is counted in ticks of the event loop's timer. After the whole process stood still, only one tick has
    passed, so no server is blamed for bytes that were there and not yet read. One timer serves all exchanges:
    one each would be set and cancelled for every page.
    """

    def __init__(self, limits: FetchLimits) -> None:
        self._limits = limits
        shortest = min(limits.first_byte, limits.idle, limits.total)
        self._tick = max(_SHORTEST_TICK, shortest / _TICKS)
        self._watches: set[StallWatch] = set()
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, incoming: Incoming, stalled: Callable[[str], None]) -> "StallWatch":
        """Calls ``stalled`` once with the limit that was exceeded, unless unwatched first."""
        watch = StallWatch(incoming, self._limits, self._tick, stalled)
        self._watches.add(watch)
        if self._timer is None:
            self._wait()
        return watch

    def unwatch(self, watch: "StallWatch") -> None:
        self._watches.discard(watch)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _wait(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._tick, self._look)

    def _look(self) -> None:
        for watch in tuple(self._watches):
            if watch.has_stalled():
                self._watches.discard(watch)
        self._timer = None
        if self._watches:
            self._wait()


class StallWatch:
    """One exchange. Its first tick comes early and does not count."""

    def __init__(
        self, incoming: Incoming, limits: FetchLimits, tick: float, stalled: Callable[[str], None]
    ) -> None:
        self._incoming = incoming
        self._limits = limits
        self._stalled = stalled
        self._tick = tick
        self._idle_ticks = ceil(limits.idle / tick)
        self._ticks = -1
        self._heard = 0
        self._heard_tick = 0
        self._window_tick = 0
        self._window_heard = 0

    def has_stalled(self) -> bool:
        """Count one tick, unless we have paused the transfer."""
        if self._incoming.paused:
            return False
        self._ticks += 1
        heard = self._incoming.heard_bytes
        exceeded = self._takes_too_long() or (self._trickles(heard) if heard else self._unanswered())
        if exceeded is not None:
            self._stalled(exceeded)
        return exceeded is not None

    def _takes_too_long(self) -> str | None:
        """curl enforces this itself unless we paused the transfer."""
        late = self._incoming.was_paused and self._ticks * self._tick >= self._limits.total
        return f"not complete within {self._limits.total:g} s" if late else None

    def _unanswered(self) -> str | None:
        late = self._ticks * self._tick >= self._limits.first_byte
        return f"no answer within {self._limits.first_byte:g} s" if late else None

    def _trickles(self, heard: int) -> str | None:
        if self._heard == 0:
            self._open_window(heard)
        if heard != self._heard:
            self._heard = heard
            self._heard_tick = self._ticks
        if self._ticks - self._heard_tick >= self._idle_ticks:
            return f"silent for {self._limits.idle:g} s"
        if self._ticks - self._window_tick < self._idle_ticks:
            return None
        slow = heard - self._window_heard < self._limits.min_bytes_per_second * self._limits.idle
        self._open_window(heard)
        return f"slower than {self._limits.min_bytes_per_second} bytes per second" if slow else None

    def _open_window(self, heard: int) -> None:
        self._window_tick = self._ticks
        self._window_heard = heard
