"""The HTTP client: one guarded, bounded exchange per call.

A request that names ``max_bytes`` wants at most that much: a longer body is cut there and is no failure.
A body beyond the fetcher's own limits is one, and nothing of it is returned.
"""

import pycurl

from sumi.errors import UsageError
from sumi.fetch.curl_errors import verdict_for
from sumi.fetch.curl_loop import COMPLETE, CurlLoop, Ending
from sumi.fetch.decode import undo_codings
from sumi.fetch.guard import AddressGuard
from sumi.fetch.headers import all_values, request_lines
from sumi.fetch.incoming import Incoming
from sumi.fetch.stall import StallWatch
from sumi.fetch.target import Target, parse_target
from sumi.fetch.transfer import Transfer
from sumi.frontier.retry_after import retry_after_seconds
from sumi.model import Request, Response, Timing
from sumi.outcomes import Outcome, Trouble, Verdict
from sumi.policy import FetchLimits, NetworkPolicy
from sumi.ports import Clock

_METHODS = frozenset({"GET", "HEAD"})


class HttpFetcher:
    """Implements the ``Fetcher`` port on libcurl. Bound to the event loop of its first fetch."""

    def __init__(self, limits: FetchLimits, network: NetworkPolicy, clock: Clock) -> None:
        self._limits = limits
        self._network = network
        self._clock = clock
        self._guard = AddressGuard(network)
        self._usual_lines = _usual_lines(network.user_agent)
        self._curl = CurlLoop()
        self._spare: list[Transfer] = []
        self._closed = False

    async def fetch(self, request: Request) -> Response | Trouble:
        started = self._clock.now()
        target = self._admit(request)
        if isinstance(target, Verdict):
            return Trouble(target, Timing(started, started, started))
        lines = self._lines_of(request)
        if lines is None:
            refused = Verdict(Outcome.BAD_HTTP, "a header of the request cannot be sent")
            return Trouble(refused, Timing(started, started, started))
        incoming = Incoming(self._limits, request.max_bytes, wants_body=request.method != "HEAD")
        transfer = self._borrow()
        try:
            transfer.prepare(target, request.method, lines, incoming)
            ending = await self._perform(transfer, incoming)
            timing = self._timing(transfer, started)
            if ending == COMPLETE or incoming.cut:
                return self._answer(request, transfer, incoming, timing)
            return self._trouble(self._judge(ending, transfer, incoming), incoming, timing)
        finally:
            incoming.discard()
            self._give_back(transfer)

    async def aclose(self) -> None:
        """End what is under way (as lost connections) and close every connection. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._curl.close()
        while self._spare:
            self._spare.pop().handle.close()

    def _admit(self, request: Request) -> Target | Verdict:
        if request.method not in _METHODS:
            raise ValueError(f"method {request.method!r} is not one of {sorted(_METHODS)}")
        target = parse_target(request.url)
        if target is None:
            return Verdict(Outcome.BAD_URL, "not an http(s) URL")
        refusal = self._guard.check_target(target)
        return target if refusal is None else Verdict(Outcome.ADDRESS_REFUSED, refusal)

    def _lines_of(self, request: Request) -> list[bytes] | None:
        if not request.headers:
            return self._usual_lines
        return request_lines(self._network.user_agent, request.headers)

    def _borrow(self) -> Transfer:
        if self._closed:
            raise RuntimeError("this fetcher is closed")
        return self._spare.pop() if self._spare else Transfer(self._limits, self._network, self._guard)

    def _give_back(self, transfer: Transfer) -> None:
        if self._closed:
            transfer.handle.close()
        else:
            self._spare.append(transfer)

    async def _perform(self, transfer: Transfer, incoming: Incoming) -> Ending:
        def stalled(rule: str) -> None:
            incoming.broken = Verdict(Outcome.TIMED_OUT, rule)
            self._curl.stop(transfer.handle)

        watch = StallWatch(incoming, self._limits, stalled)
        try:
            return await self._curl.perform(transfer.handle)
        finally:
            watch.cancel()

    def _timing(self, transfer: Transfer, started: float) -> Timing:
        """Counted back from the end, so that a busy event loop makes ``reached`` late, never too early."""
        finished = max(started, self._clock.now())
        first_byte = transfer.handle.getinfo(pycurl.STARTTRANSFER_TIME)
        if first_byte <= 0:
            return Timing(started, finished, finished)
        receiving = max(0.0, transfer.handle.getinfo(pycurl.TOTAL_TIME) - first_byte)
        return Timing(started, max(started, finished - receiving), finished)

    def _answer(
        self, request: Request, transfer: Transfer, incoming: Incoming, timing: Timing
    ) -> Response | Trouble:
        if incoming.status == 0:  # to curl, a head that ends where the connection does is complete
            lost = Verdict(Outcome.CONNECTION_LOST, "connection closed before the headers were complete")
            return self._trouble(lost, incoming, timing)
        body = undo_codings(incoming.body(), incoming.codings, self._limits, request.max_bytes)
        if isinstance(body, Verdict):
            return self._trouble(body, incoming, timing)
        return Response(
            url=request.url,
            status=incoming.status,
            headers=incoming.fields,
            body=body,
            timing=timing,
            http_version=incoming.version,
            peer=transfer.handle.getinfo(pycurl.PRIMARY_IP),
            wire_bytes=incoming.wire_bytes,
        )

    def _judge(self, ending: Ending, transfer: Transfer, incoming: Incoming) -> Verdict:
        if incoming.broken is not None:
            return incoming.broken
        if transfer.refusal is not None and ending.code == pycurl.E_COULDNT_CONNECT:
            return Verdict(Outcome.ADDRESS_REFUSED, transfer.refusal)
        return verdict_for(ending, self._limits, transfer.errno())

    def _trouble(self, verdict: Verdict, incoming: Incoming, timing: Timing) -> Trouble:
        asked = next(iter(all_values(incoming.fields, "retry-after")), "")
        return Trouble(verdict, timing, retry_after_seconds(asked, timing.finished))


def _usual_lines(user_agent: str) -> list[bytes]:
    lines = request_lines(user_agent, ())
    if lines is None:
        raise UsageError(f"the user agent {user_agent!r} cannot be sent in a header")
    return lines
