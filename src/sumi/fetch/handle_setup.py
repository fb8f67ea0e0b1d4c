"""What every curl handle is told once: how long to wait, how to behave."""

from typing import Any

import pycurl

from sumi.policy import FetchLimits, NetworkPolicy

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
    handle.setopt(pycurl.VERBOSE, 1)  # to whoever is prepared for it: see sumi.fetch.surplus
    version = pycurl.CURL_HTTP_VERSION_2TLS if network.http2 else pycurl.CURL_HTTP_VERSION_1_1
    handle.setopt(pycurl.HTTP_VERSION, version)
