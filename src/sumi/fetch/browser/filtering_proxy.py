"""The browser's only way out: a proxy on loopback behind which stands the crawler's own client.

Whatever a page makes the browser ask for (a script, a redirect's target, a worker's request) and the
browser's own chatter arrive here, because the browser knows no other way; in a tunnel, too, since its TLS
ends here. So every request is one of the client's: the same checks of addresses, authorities, proxies and
limits as for any page. Each page has a pass with a secret and a budget; without one nothing is asked for, so
no other program on the machine can use it as a relay.
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
    Wanted,
    answer_bytes,
    read_request,
)
from sumi.fetch.target import Origin
from sumi.model import Request, Response
from sumi.outcomes import Trouble
from sumi.policy import FetchLimits
from sumi.ports import Fetcher

# Hosts that watch readers and bring nothing that a page consists of; a crawler is no reader.

# The usual ones only, by registrable domain. A longer list blocks little more and must be kept up to date.
_DOMAINS: Final = frozenset(
    {
        *("google-analytics.com", "googletagmanager.com", "googletagservices.com", "googlesyndication.com"),
        *(
            "doubleclick.net",
            "googleadservices.com",
            "adservice.google.com",
            "facebook.net",
            "connect.facebook.com",
        ),
        *(
            "hotjar.com",
            "hotjar.io",
            "clarity.ms",
            "bat.bing.com",
            "segment.com",
            "segment.io",
            "mixpanel.com",
        ),
        *("amplitude.com", "heapanalytics.com", "heap.io", "fullstory.com", "mouseflow.com", "crazyegg.com"),
        *(
            "matomo.cloud",
            "plausible.io",
            "usefathom.com",
            "simpleanalyticscdn.com",
            "umami.is",
            "posthog.com",
        ),
        *("newrelic.com", "nr-data.net", "scorecardresearch.com", "quantserve.com", "chartbeat.com"),
        *("chartbeat.net", "adnxs.com", "criteo.com", "criteo.net", "taboola.com", "outbrain.com"),
        *(
            "amazon-adsystem.com",
            "cloudflareinsights.com",
            "statcounter.com",
            "mc.yandex.ru",
            "hs-analytics.net",
        ),
    }
)


def is_tracker(host: str) -> bool:
    """Whether a host, in lower case, is one of them or lies below one."""
    labels = host.rstrip(".").split(".")
    return any(".".join(labels[start:]) in _DOMAINS for start in range(len(labels) - 1))


_MAX_BYTES = 64 * 1024 * 1024
_KEPT_STATUS = 200
_KEPT_TYPES = frozenset({"text/javascript", "application/javascript", "application/x-javascript", "text/css"})

Key: TypeAlias = tuple[bool, str]  # whether asked for with what the user confided, and the URL


class Shelf:
    """Scripts and style sheets of a run, in memory: every page of a site asks for the same few.

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
        if not _may_be_kept(response) or key in self._kept:
            return
        self._kept[key] = response
        self._bytes += len(response.body)
        while self._bytes > _MAX_BYTES:
            self._bytes -= len(self._kept.popitem(last=False)[1].body)


def _may_be_kept(response: Response) -> bool:
    """The server's word on caching is kept where it says no; a run is short enough for the rest."""
    media_type = (response.header("content-type") or "").partition(";")[0].strip().lower()
    control = (response.header("cache-control") or "").lower()
    asked_not_to = any(word in control for word in ("no-store", "no-cache", "private", "max-age=0"))
    depends = any(word in (response.header("vary") or "").lower() for word in ("*", "origin", "cookie"))
    personal = response.header("set-cookie") is not None
    fit = response.status == _KEPT_STATUS and media_type in _KEPT_TYPES
    return fit and not (asked_not_to or depends or personal)


_LASTS = timedelta(days=365)


class Identity(NamedTuple):
    """What the proxy shows the browser when it speaks for a site over TLS.

    The proxy ends the browser's TLS itself: so a custom authority, a proxy further on and the rules about
    headers hold for what scripts ask for, too, and the certificates of sites are checked by the one client
    that always does it. The browser is told to believe one key, which is made anew for every run, exists in
    this process only and never leaves it.
    """

    context: ssl.SSLContext  # for the server's side
    key_hash: str  # by which the browser knows it: SHA-256 of the public key, in Base64


def new_identity() -> Identity:
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sumi")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, public, x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _LASTS)
        .sign(key, hashes.SHA256())
    )
    private_pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    known_by = hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
    context = _context(private_pem + certificate.public_bytes(Encoding.PEM))
    return Identity(context, base64.b64encode(known_by).decode("ascii"))


def _context(pem: bytes) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile() as file:  # OpenSSL takes a key from a file only; others cannot read it
        file.write(pem)
        file.flush()
        context.load_cert_chain(file.name)
    context.set_alpn_protocols(["http/1.1"])
    return context


# What reads. A script that means to change or delete something gets no answer.
_METHODS = frozenset({"GET", "HEAD", "POST"})
_MAX_OF_ONE = 16 * 1024 * 1024  # bytes of one answer
_AT_ONCE = 8  # requests of one page; with the line above, what they can take of our memory
_WORTHLESS = 407  # about a proxy, and there is none between the site and the browser but this


class Clients(NamedTuple):
    """Who makes the requests."""

    own: Fetcher  # of the run, with its cookies and credentials: for a page's own origin
    others: Fetcher  # without any: a page of one site speaks for nobody at another


class Pass:
    """What one page may use, and what it is using."""

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
    """To be used within one running event loop; listens from ``start`` to ``aclose``."""

    def __init__(self, clients: Clients, limits: FetchLimits, tls: ssl.SSLContext) -> None:
        self._clients = clients
        self._limits = limits
        self._tls = tls
        self._shelf = Shelf()
        self._passes: dict[str, Pass] = {}
        self._issued = 0
        self._server: asyncio.Server | None = None
        self._starting = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self.url = ""

    async def start(self) -> None:
        """Idempotent, also for several at once."""
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
        """The page is done: its connections end, and its name opens nothing any more."""
        self._passes.pop(issued.authorization, None)
        await _ended(issued.tasks)

    async def aclose(self) -> None:
        """The run's own client is the caller's to close."""
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
                await self._converse(held, wanted, reader, writer)
        finally:
            held.tasks.discard(task)

    async def _tunnel(
        self, held: Pass, wanted: Wanted, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await _say(writer, TUNNEL_OPEN)
        async with asyncio.timeout(self._limits.first_byte):
            await writer.start_tls(self._tls)
        origin = wanted.target.url.removesuffix("/")
        first = await read_request(reader, self._limits.idle, origin)
        if first is not None:
            await self._converse(held, first, reader, writer, origin)

    async def _converse(
        self,
        held: Pass,
        first: Wanted,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        origin: str = "",
    ) -> None:
        """One request after the other, each looked at by itself. To what is refused there is no answer: it
        would look to the page like the site's own."""
        wanted: Wanted | None = first
        while wanted is not None and (origin or self._passes.get(wanted.authorization) is held):
            answer = await self._answer(held, wanted)
            if answer is None or not held.spend(len(answer.body)):
                return
            await _say(writer, answer_bytes(answer, wanted.method))
            if answer.hold is not None:
                answer.hold.release()  # also of what goes on to the shelf, which has a bound of its own
            wanted = await read_request(reader, self._limits.idle, origin)

    async def _answer(self, held: Pass, wanted: Wanted) -> Response | None:
        target = wanted.target
        if wanted.method not in _METHODS or is_tracker(target.host):
            return None
        is_own = target.origin == held.origin
        kept = self._shelf.get((is_own, target.url)) if wanted.method == "GET" else None
        if kept is not None:
            return kept
        async with held.turns:
            answer = await self._fetched(held, wanted, self._clients.own if is_own else self._clients.others)
        if answer is not None and wanted.method == "GET":
            self._shelf.put((is_own, target.url), answer)
        return answer

    async def _fetched(self, held: Pass, wanted: Wanted, client: Fetcher) -> Response | None:
        most = max(0, min(_MAX_OF_ONE, held.bytes_left))
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
        if isinstance(answer, Trouble) or answer.status == _WORTHLESS or len(answer.body) > most:
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
