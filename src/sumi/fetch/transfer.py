"""A curl handle that is set up once and used for one exchange after another."""

import os
import re
import socket
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
    handle.setopt(pycurl.CONNECTTIMEOUT_MS, max(1, round(limits.connect * 1000)))  # to curl, 0 is its default
    handle.setopt(pycurl.TIMEOUT_MS, max(1, round(limits.total * 1000)))
    handle.setopt(pycurl.BUFFERSIZE, _READ_BUFFER)


def set_manners(handle: Any, network: NetworkPolicy) -> None:
    handle.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
    handle.setopt(pycurl.FOLLOWLOCATION, 0)
    # Set, and empty: otherwise curl asks the environment for both.
    handle.setopt(pycurl.PROXY, "")
    handle.setopt(pycurl.NOPROXY, "")
    handle.setopt(_SUPPRESS_CONNECT_HEADERS, 1)  # a proxy's word on the tunnel is no part of the answer
    handle.setopt(pycurl.NETRC, pycurl.NETRC_IGNORED)
    handle.setopt(pycurl.NOSIGNAL, 1)
    handle.setopt(pycurl.TCP_KEEPALIVE, 1)
    handle.setopt(pycurl.PATH_AS_IS, 1)  # the URL is canonical already; what was checked is what is sent
    handle.setopt(pycurl.HTTP_CONTENT_DECODING, 0)
    handle.setopt(pycurl.HTTP09_ALLOWED, 0)
    handle.setopt(pycurl.VERBOSE, 1)  # to whoever is prepared for it: see sumi.fetch.kept_connections
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
        self.refusal: str | None = None  # the guard's word on an address that was about to be dialled
        self.no_socket = 0  # errno, where the system had no socket to give
        self._dialled: list[_Handover] = []  # for this exchange
        self._incoming: Incoming | None = None
        self._limits = limits
        self._is_untimed = False
        self._spells = False  # what to ask for is said apart from the URL
        self.handle: Any = pycurl.Curl()
        set_limits(self.handle, limits)
        set_manners(self.handle, network)
        authorities.tell(self.handle)
        if jar is not None:
            jar.attach(self.handle)
        self.handle.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)

    def prepare(
        self, route: Route, request: Request, lines: list[bytes], incoming: Incoming, *, anew: bool = False
    ) -> None:
        """``anew``: in a connection of its own."""
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
        if lines is not self._lines:  # nearly all requests send the same ones
            self._lines = lines
            self._take_lines(lines, route.target)
        self._take(route)
        self.handle.setopt(pycurl.FRESH_CONNECT, anew)
        self.handle.setopt(pycurl.HEADERFUNCTION, incoming.on_header)
        self.handle.setopt(pycurl.WRITEFUNCTION, incoming.on_body)
        self.handle.setopt(pycurl.DEBUGFUNCTION, incoming.on_words)

    def go_on(self) -> None:
        """After a pause, which curl would count. Not from within one of its callbacks."""
        self._is_untimed = True
        self.handle.setopt(pycurl.TIMEOUT_MS, 0)
        self.handle.pause(pycurl.PAUSE_CONT)

    def kept_socket(self) -> tuple[int, int] | None:
        """The connection that stays open for another request, and its local port."""
        descriptor = int(self.handle.getinfo(pycurl.ACTIVESOCKET))
        return None if descriptor < 0 else (descriptor, int(self.handle.getinfo(pycurl.LOCAL_PORT)))

    def closed_sockets(self) -> list[int]:
        """Those dialled for this exchange, once curl has closed its side of them; none if they speak TLS."""
        if self.route.speaks_tls or self.handle.getinfo(pycurl.ACTIVESOCKET) >= 0:
            return []
        return [dialled.fileno() for dialled in self._dialled]

    def let_go(self) -> None:
        """Of what was dialled. Until then a connection lives on that curl has closed."""
        self._dialled.clear()
        self._incoming = None

    def _spell(self, route: Route) -> None:
        """As the URL has it: curl would write escapes in upper case. It cannot be told to forget a target."""
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
        """What the proxy said to being asked for a tunnel; 0 if it was not, or said nothing."""
        return int(self.handle.getinfo(pycurl.HTTP_CONNECTCODE)) if self.route.proxy is not None else 0

    def _take_lines(self, lines: list[bytes], target: Target) -> None:
        # A cookie of the user's goes separately, so that curl joins it with those of the jar in one header.
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
        # is no HTTP/2 to wait for: a server that closes each connection would be asked one page at a time.
        self.handle.setopt(pycurl.PIPEWAIT, route.target.url.startswith("https:"))
        if route.resolve:
            self.handle.setopt(pycurl.RESOLVE, route.resolve)  # curl reads it once per setting
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
        """curl is about to dial: the last word on the address, whatever resolved to it.

        With a proxy, the proxy is all that curl ever dials; whoever named it vouches for its address.
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
    """A socket on its way to curl, which takes a duplicate. A ``socket`` would complain at being dropped."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def fileno(self) -> int:
        return self._fd

    def __del__(self) -> None:
        os.close(self._fd)
