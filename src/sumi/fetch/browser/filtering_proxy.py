"""The browser's only way to the network: a proxy on loopback that sends every request with the crawler's own
client.

Whatever a page makes the browser request (a script, the target of a redirect, a worker's request), and the
browser's own requests, arrive here, also those in a tunnel, since its TLS ends here. So the same checks of
addresses, certificates, proxies and limits apply as for any page. Each page has a pass with a secret and a
budget; without one nothing is sent, so no other program on the machine can use the proxy as a relay.
"""

import asyncio
import base64
import hashlib
import secrets
import ssl
import tempfile
from collections import OrderedDict
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, TypeAlias

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import NameOID

from sumi.fetch.browser.proxy_wire import (
    HEAD_BYTES,
    NEEDS_PASS,
    TUNNEL_OPEN,
    ProxyRequest,
    read_request,
    response_bytes,
)
from sumi.fetch.target import Origin
from sumi.model import Request, Response
from sumi.outcomes import Trouble
from sumi.policy import FetchLimits
from sumi.ports import Fetcher

# Hosts that track readers and serve nothing that a page consists of. Only the usual ones, by registrable
# domain: a longer list blocks little more and has to be maintained.
_TRACKERS: Final = frozenset(
    [
        "google-analytics.com",
        "googletagmanager.com",
        "googletagservices.com",
        "googlesyndication.com",
        "doubleclick.net",
        "googleadservices.com",
        "adservice.google.com",
        "facebook.net",
        "connect.facebook.com",
        "hotjar.com",
        "hotjar.io",
        "clarity.ms",
        "bat.bing.com",
        "segment.com",
        "segment.io",
        "mixpanel.com",
        "amplitude.com",
        "heapanalytics.com",
        "heap.io",
        "fullstory.com",
        "mouseflow.com",
        "crazyegg.com",
        "matomo.cloud",
        "plausible.io",
        "usefathom.com",
        "simpleanalyticscdn.com",
        "umami.is",
        "posthog.com",
        "newrelic.com",
        "nr-data.net",
        "scorecardresearch.com",
        "quantserve.com",
        "chartbeat.com",
        "chartbeat.net",
        "adnxs.com",
        "criteo.com",
        "criteo.net",
        "taboola.com",
        "outbrain.com",
        "amazon-adsystem.com",
        "cloudflareinsights.com",
        "statcounter.com",
        "mc.yandex.ru",
        "hs-analytics.net",
    ]
)


def is_tracker(host: str) -> bool:
    """Whether a host, in lower case, is one of them or a subdomain of one."""
    labels = host.rstrip(".").split(".")
    return any(".".join(labels[start:]) in _TRACKERS for start in range(len(labels) - 1))


_MAX_BYTES = 64 * 1024 * 1024
_KEPT_STATUS = 200
_KEPT_TYPES = frozenset({"text/javascript", "application/javascript", "application/x-javascript", "text/css"})

Key: TypeAlias = tuple[bool, str]  # whether requested with the user's credentials, and the URL


class ScriptCache:
    """Scripts and style sheets of a run, in memory: all pages of a site need the same few.

    Each page has a browser context of its own, so without this a site would send its application once per
    page.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, Response] = OrderedDict()
        self._bytes = 0

    def get(self, key: Key) -> Response | None:
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
        return kept

    def put(self, key: Key, response: Response) -> None:
        if not _is_cacheable(response) or key in self._kept:
            return
        self._kept[key] = response
        self._bytes += len(response.body)
        while self._bytes > _MAX_BYTES:
            self._bytes -= len(self._kept.popitem(last=False)[1].body)


def _is_cacheable(response: Response) -> bool:
    """A server that forbids caching is obeyed; a run is short enough for the rest."""
    media_type = (response.header("content-type") or "").partition(";")[0].strip().lower()
    control = (response.header("cache-control") or "").lower()
    asked_not_to = any(word in control for word in ("no-store", "no-cache", "private", "max-age=0"))
    depends = any(word in (response.header("vary") or "").lower() for word in ("*", "origin", "cookie"))
    personal = response.header("set-cookie") is not None
    fit = response.status == _KEPT_STATUS and media_type in _KEPT_TYPES
    return fit and not (asked_not_to or depends or personal)


_VALID_FOR = timedelta(days=365)


class Identity(NamedTuple):
    """The certificate that the proxy presents to the browser for every site.

    The proxy ends the browser's TLS itself. So ``--ca-file``, an upstream proxy and the rules about headers
    apply to the requests of scripts too, and the certificates of sites are checked by the one client that
    always does it. The browser trusts a single key, which is generated for every run and never leaves this
    process.
    """

    context: ssl.SSLContext  # for the server's side
    key_hash: str  # for the browser: SHA-256 of the public key, in Base64


def new_identity() -> Identity:
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sumi")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, public, x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _VALID_FOR)
        .sign(key, hashes.SHA256())
    )
    private_pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    known_by = hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
    context = _context(private_pem + certificate.public_bytes(Encoding.PEM))
    return Identity(context, base64.b64encode(known_by).decode("ascii"))


def _context(pem: bytes) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with (
        tempfile.NamedTemporaryFile() as file
    ):  # OpenSSL loads a key only from a file; other users cannot read it
        file.write(pem)
        file.flush()
        context.load_cert_chain(file.name)
    context.set_alpn_protocols(["http/1.1"])
    return context


# No other methods: a script that changes or deletes something gets no response.
_METHODS = frozenset({"GET", "HEAD", "POST"})
_MAX_BODY = 16 * 1024 * 1024
_AT_ONCE = 8  # requests of one page; with the line above, a bound on its memory
_PROXY_AUTHENTICATION = 407  # is about a proxy, and the browser must not think of ours


class Clients(NamedTuple):
    """Which client sends a request."""

    own: Fetcher  # for a page's own origin, with the cookies and credentials of the run
    others: Fetcher  # for other origins, without any


class Pass:
    """What one page may use, and its running requests."""

    def __init__(self, name: str, secret: str, bytes_left: int) -> None:
        self.name = name
        self.secret = secret
        self.bytes_left = bytes_left
        self.origin: Origin | None = None  # of the page, once it is known
        self.turns = asyncio.Semaphore(_AT_ONCE)
        self.tasks: set[asyncio.Task[None]] = set()

    @property
    def authorization(self) -> str:
        return "Basic " + base64.b64encode(f"{self.name}:{self.secret}".encode()).decode("ascii")

    def spend(self, count: int) -> bool:
        self.bytes_left -= count
        return self.bytes_left >= 0


class FilteringProxy:
    """For use within one running event loop; listens from ``start`` to ``aclose``."""

    def __init__(self, clients: Clients, limits: FetchLimits, tls: ssl.SSLContext) -> None:
        self._clients = clients
        self._limits = limits
        self._tls = tls
        self._scripts = ScriptCache()
        self._passes: dict[str, Pass] = {}
        self._issued = 0
        self._server: asyncio.Server | None = None
        self._starting = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self.url = ""

    async def start(self) -> None:
        """Idempotent, also when called concurrently."""
        async with self._starting:
            if self._server is None:
                self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=HEAD_BYTES)
                self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def issue(self, most_bytes: int) -> Pass:
        self._issued += 1
        issued = Pass(f"page-{self._issued}", secrets.token_urlsafe(24), most_bytes)
        self._passes[issued.authorization] = issued
        return issued

    async def revoke(self, issued: Pass) -> None:
        """The page is done: end its connections and invalidate its pass."""
        self._passes.pop(issued.authorization, None)
        await _ended(issued.tasks)

    async def aclose(self) -> None:
        """Does not close the run's own client, which is the caller's."""
        if self._server is not None:
            self._server.close()
            await _ended(self._tasks)
            await self._server.wait_closed()
        await self._clients.others.aclose()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            # Cancelled only by us, to end the connection; the stream server would log it as an error.
            with suppress(OSError, asyncio.CancelledError, TimeoutError):
                await self._admit(reader, writer, task)
        finally:
            self._tasks.discard(task)
            await _closed(writer)

    async def _admit(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, task: "asyncio.Task[None]"
    ) -> None:
        wanted = await read_request(reader, self._limits.first_byte)
        if wanted is None:
            return
        held = self._passes.get(wanted.authorization)
        if held is None:
            await _say(writer, NEEDS_PASS)
            return
        held.tasks.add(task)
        try:
            if wanted.is_tunnel:
                await self._tunnel(held, wanted, reader, writer)
            else:
                await self._serve_requests(held, wanted, reader, writer)
        finally:
            held.tasks.discard(task)

    async def _tunnel(
        self, held: Pass, wanted: ProxyRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await _say(writer, TUNNEL_OPEN)
        async with asyncio.timeout(self._limits.first_byte):
            await writer.start_tls(self._tls)
        origin = wanted.target.url.removesuffix("/")
        first = await read_request(reader, self._limits.idle, origin)
        if first is not None:
            await self._serve_requests(held, first, reader, writer, origin)

    async def _serve_requests(
        self,
        held: Pass,
        first: ProxyRequest,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        origin: str = "",
    ) -> None:
        """Serve one request after the other. A refused one gets no response: to the page it would look like
        the site's own."""
        wanted: ProxyRequest | None = first
        while wanted is not None and (origin or self._passes.get(wanted.authorization) is held):
            answer = await self._answer(held, wanted)
            if answer is None or not held.spend(len(answer.body)):
                return
            await _say(writer, response_bytes(answer, wanted.method))
            if answer.hold is not None:
                answer.hold.release()  # cached scripts too: the cache has a bound of its own
            wanted = await read_request(reader, self._limits.idle, origin)

    async def _answer(self, held: Pass, wanted: ProxyRequest) -> Response | None:
        target = wanted.target
        if wanted.method not in _METHODS or is_tracker(target.host):
            return None
        is_own = target.origin == held.origin
        kept = self._scripts.get((is_own, target.url)) if wanted.method == "GET" else None
        if kept is not None:
            return kept
        async with held.turns:
            answer = await self._fetched(held, wanted, self._clients.own if is_own else self._clients.others)
        if answer is not None and wanted.method == "GET":
            self._scripts.put((is_own, target.url), answer)
        return answer

    async def _fetched(self, held: Pass, wanted: ProxyRequest, client: Fetcher) -> Response | None:
        most = max(0, min(_MAX_BODY, held.bytes_left))
        answer = await client.fetch(
            Request(
                wanted.target.url,
                wanted.headers,
                max_bytes=most + 1,
                method=wanted.method,
                body=wanted.body,
                plain=True,
                urgent=True,
            )
        )
        if isinstance(answer, Trouble) or answer.status == _PROXY_AUTHENTICATION or len(answer.body) > most:
            return None
        return answer


async def _say(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


async def _ended(tasks: set[asyncio.Task[None]]) -> None:
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError, asyncio.CancelledError):
        await writer.wait_closed()
