"""The HTTP client: one guarded, bounded exchange per call.

A request with ``max_bytes`` gets at most that much, even beyond the fetcher's own limits: a longer body is
truncated, which is not a failure. Otherwise a body beyond the limits is a failure, and nothing of it is
returned.
"""

import msgspec

from sumi.errors import NameUnknown, NotReached, UsageError
from sumi.fetch.cookies import CookieJar
from sumi.fetch.exchange import Exchanges, ProxyFailed
from sumi.fetch.guard import AddressGuard
from sumi.fetch.headers import CredentialBook, request_lines
from sumi.fetch.identity import RequestSigner
from sumi.fetch.resolver import Resolver, SystemResolver
from sumi.fetch.route import ProxyLost, ProxyRotation, Route, Router
from sumi.fetch.target import Target, parse_target
from sumi.model import Request, Response, Timing
from sumi.outcomes import NAMELESS, UNREACHABLE, Outcome, Trouble, Verdict
from sumi.policy import FetchLimits, NetworkPolicy
from sumi.ports import Clock, Fetcher

_SECRET = frozenset({"authorization", "proxy-authorization", "cookie"})
_METHODS = frozenset({"GET", "HEAD", "POST"})
_PROXIES_PER_FETCH = 3  # if one fails, the next is tried at once


class HttpFetcher:
    """Implements the ``Fetcher`` port on libcurl. Bound to the event loop of its first fetch."""

    def __init__(
        self,
        limits: FetchLimits,
        network: NetworkPolicy,
        clock: Clock,
        *,
        resolver: Resolver | None = None,
        keep_exchanges: bool = False,
    ) -> None:
        """``keep_exchanges``: for archives; responses have both messages as they were sent."""
        self._clock = clock
        self._user_agent = network.user_agent
        self._https_only = network.https_only
        self._usual_lines = _usual_lines(network)
        self._credentials = CredentialBook(network.credentials)
        self._signer = None if network.identity is None else RequestSigner(network.identity)
        self._guard = AddressGuard(network)
        self._proxies = ProxyRotation(network.proxies, clock) if network.proxies else None
        resolver = resolver or SystemResolver(limits.connect)
        self._router = Router(network, self._guard, resolver, self._proxies, clock)
        jar = CookieJar() if network.cookies else None
        self._exchanges = Exchanges(limits, network, self._guard, clock, jar, keep=keep_exchanges)
        self._closed = False

    async def fetch(self, request: Request) -> Response | Trouble:
        started = self._clock.now()
        target = self._admit(request)
        if isinstance(target, Verdict):
            return Trouble(target, Timing(started, started, started))
        lines = self._lines_of(request, target)
        if lines is None:
            refused = Verdict(Outcome.BAD_HTTP, "a header of the request cannot be sent")
            return Trouble(refused, Timing(started, started, started))
        if self._proxies is None:
            answer = await self._exchange(request, target, lines, started)
        else:
            answer = await self._by_proxy(request, target, lines, started)
        if isinstance(answer, ProxyFailed):
            return answer.trouble
        return answer if isinstance(answer, Trouble) else self._without_secrets(answer, target)

    async def address_of(self, url: str) -> str | None:
        """The address that stands for the URL's host; None if we do not know or may not ask."""
        target = parse_target(url)
        if target is None or self._guard.check_target(target) is not None:
            return None
        return await self._router.address_of(target)

    @property
    def held_bytes(self) -> int:
        """The size of bodies that are being received or digested."""
        return self._exchanges.held_bytes

    async def aclose(self) -> None:
        """End running transfers (as lost connections) and close every connection. Idempotent."""
        if self._closed:
            return
        self._closed = True
        await self._router.aclose()
        self._exchanges.close()

    def _admit(self, request: Request) -> Target | Verdict:
        if request.method not in _METHODS:
            raise ValueError(f"method {request.method!r} is not one of {sorted(_METHODS)}")
        if self._closed:
            raise RuntimeError("this fetcher is closed")
        target = parse_target(request.url)
        if target is None:
            return Verdict(Outcome.BAD_URL, "not an http(s) URL that can be requested")
        if self._https_only and target.origin[0] != "https":
            return Verdict(Outcome.TLS_FAILED, "not available over https, and http is not allowed")
        refusal = self._guard.check_target(target)
        return target if refusal is None else Verdict(Outcome.ADDRESS_REFUSED, refusal)

    def _lines_of(self, request: Request, target: Target) -> list[bytes] | None:
        extra = request.headers
        if self._credentials:
            extra += self._credentials.fields_for(target)
        if self._signer is not None:
            extra += self._signer.fields_for(target, self._clock.now())
        return request_lines(self._user_agent, extra) if extra else self._usual_lines

    def _without_secrets(self, answer: Response, target: Target) -> Response:
        """What is kept of the request goes into files that people pass on."""
        if answer.exchange is None:
            return answer
        secret = _SECRET | {name.lower() for name, _ in self._credentials.fields_for(target)}
        head = b"".join(
            line
            for line in answer.exchange.request_head.splitlines(keepends=True)
            if line.partition(b":")[0].decode("latin-1").lower() not in secret
        )
        exchange = msgspec.structs.replace(answer.exchange, request_head=head)
        return msgspec.structs.replace(answer, exchange=exchange)

    async def _by_proxy(
        self, request: Request, target: Target, lines: list[bytes], started: float
    ) -> Response | Trouble | ProxyFailed:
        answer = await self._exchange(request, target, lines, started)
        for _ in range(_PROXIES_PER_FETCH - 1):
            if not isinstance(answer, ProxyFailed):
                break
            answer = await self._exchange(request, target, lines, started)
        return answer

    async def _exchange(
        self, request: Request, target: Target, lines: list[bytes], started: float
    ) -> Response | Trouble | ProxyFailed:
        route = self._router.known_route(target) or await self._router.find_route(target)
        if not isinstance(route, Route):
            now = max(started, self._clock.now())
            if isinstance(route, ProxyLost):
                return ProxyFailed(Trouble(route.verdict, Timing(started, now, now)))
            return Trouble(route, Timing(started, now, now))
        answer = await self._exchanges.make(request, route, lines, started)
        if route.proxy is not None and self._proxies is not None:
            self._proxies.report(route.proxy, ok=not isinstance(answer, ProxyFailed))
        return answer


def _usual_lines(network: NetworkPolicy) -> list[bytes]:
    lines = request_lines(network.user_agent, ())
    if lines is None:
        raise UsageError(f"the user agent {network.user_agent!r} cannot be sent in a header")
    return lines


_NOT_REACHED = UNREACHABLE | {Outcome.TIMED_OUT}
_ADVICE = {
    Outcome.ADDRESS_REFUSED: "give the address itself as the URL, or --allow-private",
    Outcome.DNS_FAILED: "check the spelling of the host",
    Outcome.TLS_FAILED: "check the URL, or name the certificate authority with --ca-file",
}


class FirstContact:
    """A Fetcher for a new job: if the very first exchange reaches no server, it raises NotReached or
    NameUnknown instead of letting a typing error be retried for minutes."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._made = False

    async def fetch(self, request: Request) -> Response | Trouble:
        answer = await self._fetcher.fetch(request)
        if not self._made and isinstance(answer, Trouble) and answer.verdict.outcome in _NOT_REACHED:
            verdict = answer.verdict
            advice = _ADVICE.get(verdict.outcome, "check the URL and that the server is up")
            if verdict.outcome is Outcome.ADDRESS_REFUSED and verdict.rule.startswith("port "):
                advice = "give another port"
            kind = NameUnknown if verdict.outcome in NAMELESS else NotReached
            raise kind(f"cannot reach {request.url}: {verdict.rule}; {advice}")
        self._made = True
        return answer

    async def aclose(self) -> None:
        await self._fetcher.aclose()
