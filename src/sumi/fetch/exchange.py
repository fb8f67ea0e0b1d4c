"""One request on one route, with a borrowed curl handle: a response, or why there is none."""

import asyncio
import os
import re
from typing import NamedTuple

import pycurl

from sumi.fetch.budget import FREE, BodyBudget, Claim
from sumi.fetch.certificates import Authorities
from sumi.fetch.cookies import CookieJar
from sumi.fetch.curl_loop import COMPLETE, CurlLoop, Ending
from sumi.fetch.decode import undo_codings
from sumi.fetch.guard import AddressGuard
from sumi.fetch.headers import all_values
from sumi.fetch.incoming import DROPPED, Incoming
from sumi.fetch.kept_connections import KeptConnections, Look, follows
from sumi.fetch.route import Route
from sumi.fetch.transfer import StallClock, Transfer
from sumi.frontier.retry import retry_after_seconds
from sumi.model import Request, Response, Timing
from sumi.outcomes import Outcome, Trouble, Verdict
from sumi.policy import FetchLimits, NetworkPolicy
from sumi.ports import Clock

# What curl's error codes mean for a page. These have no names in pycurl:
_HTTP2_STREAM = 92
_PROXY = 97
_TOO_LARGE = 100

_LOST = Outcome.CONNECTION_LOST
_BAD = Outcome.BAD_HTTP
_FIXED: dict[int, Verdict] = {
    pycurl.E_COULDNT_RESOLVE_HOST: Verdict(Outcome.DNS_FAILED, "the host name did not resolve"),
    pycurl.E_URL_MALFORMAT: Verdict(Outcome.BAD_URL, "not a valid host name"),
    pycurl.E_PARTIAL_FILE: Verdict(_LOST, "connection closed before the response was complete"),
    pycurl.E_GOT_NOTHING: Verdict(_LOST, "connection closed without a response"),
    pycurl.E_SEND_ERROR: Verdict(_LOST, "connection lost while sending the request"),
    pycurl.E_RECV_ERROR: Verdict(_LOST, "connection lost during the response"),
    pycurl.E_HTTP2: Verdict(_LOST, "the HTTP/2 connection broke"),
    _HTTP2_STREAM: Verdict(_LOST, "the HTTP/2 stream was reset"),
    pycurl.E_ABORTED_BY_CALLBACK: Verdict(_LOST, "stopped before the response was complete"),
    pycurl.E_UNSUPPORTED_PROTOCOL: Verdict(_BAD, "no HTTP status line"),
    pycurl.E_FTP_WEIRD_SERVER_REPLY: Verdict(_BAD, "malformed HTTP headers"),
    _TOO_LARGE: Verdict(_BAD, "a header that is too large"),
    pycurl.E_BAD_CONTENT_ENCODING: Verdict(Outcome.BAD_ENCODING, "unknown transfer coding"),
}
_TLS = frozenset(
    {
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_SSL_CRL_BADFILE,
        pycurl.E_SSL_ISSUER_ERROR,
        pycurl.E_SSL_INVALIDCERTSTATUS,
    }
)
_TLS_PREFIX = re.compile(
    r"(?:SSL certificate problem|SSL|TLS connect error)?:? ?(?:error:[0-9A-F]+:[^:]*:[^:]*:)?"
)
# curl has one code for every trouble with a handshake. These are the network's, and transient.
_BROKEN_OFF = re.compile(
    r"(?:Recv|Send) failure|unexpected eof|SSL_ERROR_SYSCALL|reset by peer|broken pipe", re.IGNORECASE
)
_HANDSHAKE_LOST = Verdict(_LOST, "connection lost during the TLS handshake")
_UNPRINTABLE = re.compile(r"[^ -~]+")
_LONGEST_RULE = 200


_UNPROXIED = frozenset({pycurl.E_COULDNT_RESOLVE_PROXY, pycurl.E_COULDNT_CONNECT, _PROXY})
_PROXY_AUTHENTICATION = 407


def proxy_verdict(status: int, ending: Ending | None = None) -> Verdict | None:
    """The verdict on a proxy that failed; None if it did its part. ``status``: that of the proxy itself.

    A proxy that cannot reach the site (502, say) has done its part.
    """
    if status == _PROXY_AUTHENTICATION:
        return Verdict(Outcome.CONNECT_FAILED, "the proxy does not accept our credentials (407)")
    if status == 0 and ending is not None and ending.code in _UNPROXIED:
        return Verdict(Outcome.CONNECT_FAILED, "the proxy cannot be reached or refused to connect")
    return None


def verdict_for(ending: Ending, limits: FetchLimits, errno: int) -> Verdict:
    """The verdict on a transfer that curl gave up. ``errno``: the system's reason, if there is one."""
    code = ending.code
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return _timed_out(ending.words, limits)
    if "CONNECT tunnel failed" in ending.words:
        return Verdict(Outcome.CONNECT_FAILED, f"through the proxy: {_plain(ending.words)}")
    if code == pycurl.E_COULDNT_CONNECT:
        return Verdict(Outcome.CONNECT_FAILED, os.strerror(errno).lower() if errno else "nobody answered")
    if code == pycurl.E_SSL_CONNECT_ERROR and _BROKEN_OFF.search(ending.words):
        return _HANDSHAKE_LOST
    if code in _TLS:
        return Verdict(Outcome.TLS_FAILED, _plain(_TLS_PREFIX.sub("", ending.words, count=1)))
    if code == pycurl.E_RECV_ERROR and "chunk" in ending.words:
        return Verdict(Outcome.BAD_HTTP, "malformed chunks")
    return _FIXED.get(code) or Verdict(Outcome.CONNECTION_LOST, _plain(ending.words))


def _timed_out(words: str, limits: FetchLimits) -> Verdict:
    # Only the text tells: until the handshake is over, curl speaks of connecting or resolving.
    if words.startswith("Operation timed out"):
        return Verdict(Outcome.TIMED_OUT, f"not complete within {limits.total:g} s")
    return Verdict(Outcome.TIMED_OUT, f"no connection within {min(limits.connect, limits.total):g} s")


def _plain(words: str) -> str:
    """curl's messages may quote the server."""
    return _UNPRINTABLE.sub(" ", words).strip()[:_LONGEST_RULE] or "failed for an unknown reason"


_SURPLUS = Verdict(Outcome.BAD_HTTP, "more bytes than the response announced")

# Servers whose connections are not reused; beyond that number they are, at the price of a retry now and then.
_MAX_UNRELIABLE = 10_000


class ProxyFailed(NamedTuple):
    """The proxy failed; the site behind it was never contacted."""

    trouble: Trouble


class Exchanges:
    """Bound to the event loop of its first exchange."""

    def __init__(
        self,
        limits: FetchLimits,
        network: NetworkPolicy,
        guard: AddressGuard,
        clock: Clock,
        jar: CookieJar | None,
        *,
        keep: bool = False,
    ) -> None:
        """``keep``: responses have their ``exchange``."""
        self._keep = keep
        self._limits = limits
        self._network = network
        self._authorities = Authorities(network.ca_file)
        self._guard = guard
        self._clock = clock
        self._jar = jar
        self._curl = CurlLoop()
        self._kept = KeptConnections(self._curl.is_used)
        self._stalls = StallClock(limits)
        self._budget = BodyBudget(limits.flight_bytes)
        self._unreliable: set[tuple[str, int]] = set()  # closed a reused connection, or left bytes in it
        self._spare: list[Transfer] = []
        self._lent = 0
        self._closed = False

    async def make(
        self, request: Request, route: Route, lines: list[bytes], started: float
    ) -> Response | Trouble | ProxyFailed:
        limits = self._limits.with_room_for(request.max_bytes)
        claim = self._budget.claim(urgent=request.urgent)
        transfer = self._borrow()

        def resume() -> None:
            if incoming.paused and self._curl.is_performing(transfer.handle):
                incoming.paused = False
                transfer.resume()

        def wake() -> None:
            asyncio.get_running_loop().call_soon(resume)

        incoming = Incoming(
            limits,
            request.max_bytes,
            claim,
            wake,
            wants_body=request.method != "HEAD",
        )
        try:
            server = (route.target.host, route.target.port)
            ended = self._look(route).ended
            transfer.prepare(route, request, lines, incoming, fresh=ended or server in self._unreliable)
            ending = await self._perform(transfer, incoming)
            timing = self._timing(transfer, started)
            if self._jar is not None and incoming.fields and not self._closed:
                self._jar.received(incoming.fields, transfer.handle)
            if ending == COMPLETE and await self._has_surplus(transfer, incoming):
                return _trouble(_SURPLUS, incoming, timing)
            if ending == COMPLETE or incoming.cut:
                await self._make_room(request, incoming, claim)
                return self._answer(request, transfer, incoming, timing, claim)
            if incoming.broken is DROPPED:
                self._distrust(route)
            return self._failure(ending, transfer, incoming, timing)
        finally:
            transfer.release()
            incoming.discard()
            self._give_back(transfer)
            if not claim.is_settled:
                claim.release()

    @property
    def held_bytes(self) -> int:
        return self._budget.held

    def close(self) -> None:
        """End running transfers (as lost connections) and close every connection."""
        self._closed = True
        self._curl.close()
        self._stalls.stop()
        while self._spare:
            self._spare.pop().handle.close()
        self._close_jar()
        self._authorities.close()

    def _borrow(self) -> Transfer:
        if self._closed:
            raise RuntimeError("this fetcher is closed")
        self._lent += 1
        if self._spare:
            return self._spare.pop()
        return Transfer(self._limits, self._network, self._authorities, self._guard, self._jar)

    def _give_back(self, transfer: Transfer) -> None:
        self._lent -= 1
        if not self._closed:
            self._spare.append(transfer)
            return
        transfer.handle.close()
        self._close_jar()

    def _close_jar(self) -> None:
        if self._jar is not None and not self._lent:  # after the last handle
            self._jar.close()

    async def _perform(self, transfer: Transfer, incoming: Incoming) -> Ending:
        def stalled(rule: str) -> None:
            incoming.broken = Verdict(Outcome.TIMED_OUT, rule)
            self._curl.stop(transfer.handle)

        def completed() -> None:
            kept = transfer.kept_socket()
            incoming.was_closed = kept is None
            if kept is not None and incoming.version.startswith("1"):
                self._kept.keep(transfer.route, *kept)
                incoming.surplus |= self._look(transfer.route).surplus

        watch = self._stalls.watch(incoming, stalled)
        try:
            return await self._curl.perform(transfer.handle, completed)
        finally:
            self._stalls.unwatch(watch)

    def _look(self, route: Route) -> Look:
        seen = self._kept.look(route)
        if seen.surplus:
            self._distrust(route)
        return seen

    def _distrust(self, route: Route) -> None:
        """Do not reuse its connections, of which curl may still hold some."""
        if len(self._unreliable) < _MAX_UNRELIABLE:
            self._unreliable.add((route.target.host, route.target.port))

    async def _has_surplus(self, transfer: Transfer, incoming: Incoming) -> bool:
        """Whether bytes follow the end of the response. A response without a body cannot be half a page and
        is not checked."""
        if not incoming.status or not incoming.expects_body or self._closed:
            return False
        if incoming.surplus or not incoming.has_length or not incoming.was_closed:
            return incoming.surplus
        return await follows(transfer.closed_sockets(), by_server=incoming.ends_connection)

    async def _make_room(self, request: Request, incoming: Incoming, claim: Claim) -> None:
        """Wait for room in the budget before decoding. How large the result is shows only if it is small."""
        if not self._budget.is_full or not incoming.codings:
            return
        start = undo_codings(incoming.body(), incoming.codings, self._limits, FREE + 1)
        if isinstance(start, Verdict) or len(start) <= FREE:
            return
        await claim.room()

    def _timing(self, transfer: Transfer, started: float) -> Timing:
        """Counted back from the end, so that a busy event loop makes ``reached`` late, never early."""
        finished = max(started, self._clock.now())
        first_byte = transfer.handle.getinfo(pycurl.STARTTRANSFER_TIME)
        if first_byte <= 0:
            return Timing(started, finished, finished)
        receiving = max(0.0, transfer.handle.getinfo(pycurl.TOTAL_TIME) - first_byte)
        return Timing(started, max(started, finished - receiving), finished)

    def _answer(
        self, request: Request, transfer: Transfer, incoming: Incoming, timing: Timing, claim: Claim
    ) -> Response | Trouble | ProxyFailed:
        if incoming.status == 0:  # to curl, headers that end with the connection are complete
            lost = Verdict(Outcome.CONNECTION_LOST, "connection closed before the headers were complete")
            return _trouble(lost, incoming, timing)
        peer = transfer.peer()
        refused = self._refused(transfer.route, incoming.status, peer, timing)
        if refused is not None:
            return refused
        body = undo_codings(incoming.body(), incoming.codings, incoming.limits, request.max_bytes)
        if isinstance(body, Verdict):
            return _trouble(body, incoming, timing)
        return Response(
            url=request.url,
            status=incoming.status,
            headers=incoming.fields,
            body=body,
            timing=timing,
            http_version=incoming.version,
            peer=peer,
            wire_bytes=incoming.wire_bytes,
            proxy=transfer.route.proxy_name,
            hold=claim.settle(len(body)),
            exchange=incoming.exchange() if self._keep else None,
        )

    def _refused(self, route: Route, status: int, peer: str, timing: Timing) -> Trouble | ProxyFailed | None:
        if route.proxy is not None:
            verdict = proxy_verdict(status) if status == _PROXY_AUTHENTICATION else None
            return None if verdict is None else ProxyFailed(Trouble(verdict, timing))
        refusal = self._guard.check_peer(route.target.host, route.target.port, peer)
        return None if refusal is None else Trouble(Verdict(Outcome.ADDRESS_REFUSED, refusal), timing)

    def _failure(
        self, ending: Ending, transfer: Transfer, incoming: Incoming, timing: Timing
    ) -> Trouble | ProxyFailed:
        if incoming.broken is not None:
            return _trouble(incoming.broken, incoming, timing)
        if transfer.refusal is not None and ending.code == pycurl.E_COULDNT_CONNECT:
            return _trouble(Verdict(Outcome.ADDRESS_REFUSED, transfer.refusal), incoming, timing)
        if transfer.route.proxy is not None:
            verdict = proxy_verdict(transfer.proxy_status(), ending)
            if verdict is not None:
                return ProxyFailed(Trouble(verdict, timing))
        return _trouble(verdict_for(ending, self._limits, transfer.errno()), incoming, timing)


def _trouble(verdict: Verdict, incoming: Incoming, timing: Timing) -> Trouble:
    asked = next(iter(all_values(incoming.fields, "retry-after")), "")
    return Trouble(verdict, timing, retry_after_seconds(asked, timing.finished))
