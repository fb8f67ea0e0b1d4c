"""A curl handle that is set up once and used for one exchange after another."""

import os
import socket
import ssl
from typing import Any

import pycurl

from sumi.fetch.guard import AddressGuard
from sumi.fetch.incoming import Incoming
from sumi.fetch.target import Target
from sumi.policy import FetchLimits, NetworkPolicy

_READ_BUFFER = 128 * 1024


class Transfer:
    def __init__(self, limits: FetchLimits, network: NetworkPolicy, guard: AddressGuard) -> None:
        self._guard = guard
        self._target = Target("", "", 0)
        self._lines: list[bytes] = []
        self.refusal: str | None = None  # the guard's word on an address that was about to be dialled
        self.no_socket = 0  # errno, where the system had no socket to give
        self.handle: Any = pycurl.Curl()
        _set_limits(self.handle, limits)
        _set_manners(self.handle, network)
        _set_trust(self.handle, network)
        self.handle.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)

    def prepare(self, target: Target, method: str, lines: list[bytes], incoming: Incoming) -> None:
        self._target = target
        self.refusal = None
        self.no_socket = 0
        self.handle.setopt(pycurl.URL, target.url)
        self.handle.setopt(pycurl.NOBODY if method == "HEAD" else pycurl.HTTPGET, 1)
        if lines is not self._lines:  # nearly all requests send the same ones
            self._lines = lines
            self.handle.setopt(pycurl.HTTPHEADER, lines)
        self.handle.setopt(pycurl.HEADERFUNCTION, incoming.on_header)
        self.handle.setopt(pycurl.WRITEFUNCTION, incoming.on_body)

    def errno(self) -> int:
        return self.no_socket or int(self.handle.getinfo(pycurl.OS_ERRNO))

    def _open_socket(self, _purpose: int, address: Any) -> Any:
        """curl is about to dial: the last word on the address, whatever resolved to it."""
        refusal = self._guard.check(self._target.host, self._target.port, address.addr[0])
        if refusal is not None:
            self.refusal = refusal
            return pycurl.SOCKET_BAD
        try:
            dialled = socket.socket(address.family, address.socktype, address.protocol)
        except OSError as error:
            self.no_socket = error.errno or 0
            return pycurl.SOCKET_BAD
        return _Handover(dialled.detach())


class _Handover:
    """A socket on its way to curl, which takes a duplicate. A ``socket`` would complain at being dropped."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def fileno(self) -> int:
        return self._fd

    def __del__(self) -> None:
        os.close(self._fd)


def _set_limits(handle: Any, limits: FetchLimits) -> None:
    handle.setopt(pycurl.CONNECTTIMEOUT_MS, max(1, round(limits.connect * 1000)))  # to curl, 0 is its default
    handle.setopt(pycurl.TIMEOUT_MS, max(1, round(limits.total * 1000)))
    handle.setopt(pycurl.BUFFERSIZE, _READ_BUFFER)


def _set_manners(handle: Any, network: NetworkPolicy) -> None:
    handle.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
    handle.setopt(pycurl.FOLLOWLOCATION, 0)
    handle.setopt(pycurl.PROXY, "")  # an empty one keeps curl from asking the environment
    handle.setopt(pycurl.NETRC, pycurl.NETRC_IGNORED)
    handle.setopt(pycurl.NOSIGNAL, 1)
    handle.setopt(pycurl.TCP_KEEPALIVE, 1)
    handle.setopt(pycurl.PATH_AS_IS, 1)  # the URL is canonical already; what was checked is what is sent
    handle.setopt(pycurl.HTTP_CONTENT_DECODING, 0)
    handle.setopt(pycurl.HTTP09_ALLOWED, 0)
    version = pycurl.CURL_HTTP_VERSION_2TLS if network.http2 else pycurl.CURL_HTTP_VERSION_1_1
    handle.setopt(pycurl.HTTP_VERSION, version)
    if network.resolve:
        handle.setopt(pycurl.RESOLVE, [_resolve_line(*entry) for entry in network.resolve])


def _resolve_line(host: str, port: int, address: str) -> str:
    bare = address.removeprefix("[").removesuffix("]")
    return f"{host}:{port}:[{bare}]" if ":" in bare else f"{host}:{port}:{bare}"


def _set_trust(handle: Any, network: NetworkPolicy) -> None:
    handle.setopt(pycurl.SSL_VERIFYPEER, 1)
    handle.setopt(pycurl.SSL_VERIFYHOST, 2)
    # The wheel's OpenSSL was built elsewhere: Python's knows where this system keeps its certificates.
    system = ssl.get_default_verify_paths()
    ca_file = network.ca_file or system.cafile
    if ca_file:
        handle.setopt(pycurl.CAINFO, ca_file)
    elif system.capath:
        handle.setopt(pycurl.CAPATH, system.capath)
