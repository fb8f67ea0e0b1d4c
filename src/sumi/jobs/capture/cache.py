"""Pages of earlier captures, used instead of the network, or to ask the server only whether they changed.

The pages of all jobs in a folder are the cache. A base URL is always requested, so that its site's robots.txt
and sitemaps are read again and a later capture finds new pages.
"""

from collections.abc import Iterable
from hashlib import blake2b, scrypt, sha256
from itertools import product
from typing import Final, NamedTuple

import msgspec

from sumi import __version__
from sumi.fetch.headers import CredentialBook, Fields
from sumi.fetch.target import parse_target
from sumi.frontier.freshness import NOT_MODIFIED, conditional_headers, varied_by
from sumi.jobs.capture.database import CaptureDatabase
from sumi.jobs.capture.rows import CacheLevel, CapturedPage, StoredDigest
from sumi.model import Hop, Kind, Lease, Request, Response, Timing
from sumi.outcomes import CAME, Trouble
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.parse.page.raw import packed, unpacked
from sumi.policy import NetworkPolicy, RenderMode
from sumi.ports import Clock, Digester, Enqueue, Fetcher, Remains, Settlement

OK = 200
DAY = 86_400.0
MOST_BODIES = 32  # more than the pages in flight at once
# Headers that a 304 updates: the validators, and how long the page may be reused.
UPDATED_BY_304 = frozenset(
    {"etag", "last-modified", "cache-control", "expires", "pragma", "date", "age", "vary"}
)
FRESHNESS = frozenset({"cache-control", "expires", "pragma"})


# ── which requests get the same response ─────────────────────────────────────────────────────────────────


AGENT, COOKIE = "user-agent", "cookie"
# Which headers, besides the user's own, a response may vary by. All others are the same in every request.
_VARIANTS: Final = tuple(
    frozenset(name for name, is_named in zip((AGENT, COOKIE), chosen, strict=True) if is_named)
    for chosen in product((False, True), repeat=2)
)
# Takes 16 MiB and some hundredths of a second, once for each site that the user has a header for.
_SCRYPT: Final = {"n": 2**14, "r": 8, "p": 1, "dklen": 16}


class VaryKeys:
    """Identifies requests that get the same response: by the user's own headers, and by user agent and
    cookies if the response varies by them.

    A key is stored with its page, and the user's headers may be secret: it contains a salted hash of them
    that is slow to compute, so that a password cannot be found by trying many. ``hidden_cookies``: others
    receive cookies, too, as a browser does from what its pages load.
    """

    def __init__(self, network: NetworkPolicy, salt: bytes, *, hidden_cookies: bool) -> None:
        self._book = CredentialBook(network.credentials)
        self._agent = blake2b(network.user_agent.encode(), digest_size=8).hexdigest()
        self._keeps_cookies = network.cookies
        self._has_cookies = network.cookies and hidden_cookies
        self._salt = salt
        self._hashes: dict[Fields, str] = {}

    def note_cookies(self, response: Response) -> None:
        """After the first cookie it is unknown which cookies a request sends."""
        if self._keeps_cookies and not self._has_cookies:
            self._has_cookies = any(name == "set-cookie" for name, _ in response.headers)

    def key(self, address: str, varied: Iterable[str]) -> str | None:
        """Equal for requests with the same response, which varies by these headers; None if none has it."""
        named = frozenset(varied)
        if COOKIE in named and self._has_cookies:
            return None
        agent = self._agent if AGENT in named else ""
        return f"{self._own_headers(address)}/{agent}/{COOKIE if COOKIE in named else ''}"

    def keys(self, address: str) -> tuple[str | None, ...]:
        """The keys of a request made now, for each set of headers its response may vary by."""
        return tuple(self.key(address, variant) for variant in _VARIANTS)

    def _own_headers(self, address: str) -> str:
        """A hash of the user's headers for the address. All count: any may give access to other pages."""
        target = parse_target(address) if self._book else None
        fields = self._book.fields_for(target) if target is not None else ()
        if fields and fields not in self._hashes:
            text = "\n".join(f"{name.lower()}:{value}" for name, value in fields)
            self._hashes[fields] = scrypt(text.encode(), salt=self._salt, **_SCRYPT).hex()
        return self._hashes[fields] if fields else ""


def vary_header(key: str) -> str:
    """The ``Vary`` header of a response that was stored under this key."""
    named = zip((AGENT, COOKIE), key.split("/")[1:], strict=False)
    return ", ".join(name for name, is_named in named if is_named)


# ── the cache ────────────────────────────────────────────────────────────────────────────────────────────


class PageCache:
    """``max_age``: seconds for which a page is used without asking, unless its server wants to be asked every
    time. None: as long as the server allows, and at most a day."""

    def __init__(
        self,
        database: CaptureDatabase,
        vary_keys: VaryKeys,
        *,
        active: bool,
        max_age: float | None,
        mode: RenderMode,
    ) -> None:
        self._database = database
        self.vary_keys = vary_keys
        self.active = active
        self._max_age = max_age
        self._mode = mode
        # By address in flight: its response, and whether the server confirmed it with a 304.
        self.responses: dict[str, Response] = {}
        self.confirmed: set[str] = set()
        self._bodies: dict[str, tuple[bytes, str]] = {}  # with their SHA-256

    def fresh(self, lease: Lease, now: float) -> Response | None:
        """The page, if it need not be requested."""
        page = self._cached(lease)
        return self.response_of(page) if page is not None and self._is_fresh(page, now) else None

    def at(self, address: str) -> CapturedPage | None:
        """The page at an address, however old."""
        page = self._database.cached_at(address, self.vary_keys.keys(address)) if self.active else None
        return page if page is not None and self._fits(page) else None

    def has_only_text_of(self, lease: Lease) -> bool:
        page = self._cached(lease)
        if page is None or not self._database.has_content(page.text_sha256):
            return False
        return page.body_sha256 is None or not self._database.has_content(page.body_sha256)

    def vary_key_of(self, response: Response) -> str | None:
        return self.vary_keys.key(response.url, varied_by(response.headers))

    def response_of(self, page: CapturedPage) -> Response | None:
        """The response that was stored; None if its body is missing."""
        body = self._database.content(page.body_sha256) if page.body_sha256 is not None else None
        if body is None or page.body_sha256 is None:
            return None
        if len(self._bodies) >= MOST_BODIES:  # of pages that failed; a hash that is missing is computed
            self._bodies.clear()
        self._bodies[page.address] = body, page.body_sha256
        fields = (
            ("content-type", page.content_type),
            ("etag", page.etag),
            ("last-modified", page.last_modified),
            ("cache-control", None if page.fresh_for is None else f"max-age={page.fresh_for:.0f}"),
            ("vary", vary_header(page.vary_key or "") or None),
        )
        when = page.fetched_at
        return Response(
            url=page.address,
            status=page.status,
            headers=tuple((name, value) for name, value in fields if value is not None),
            body=body,
            timing=Timing(when, when, when),
            rendered=page.rendered or "",
        )

    def sha256_of(self, address: str, body: bytes) -> str:
        """Known already for a body that was read from the cache."""
        cached, known = self._bodies.pop(address, (b"", ""))
        return known if cached is body else sha256(body).hexdigest()

    def _is_fresh(self, page: CapturedPage, now: float) -> bool:
        if page.fresh_for == 0:
            return False
        allowed = DAY if page.fresh_for is None else min(page.fresh_for, DAY)
        return 0 <= now - page.fetched_at < (allowed if self._max_age is None else self._max_age)

    def _cached(self, lease: Lease) -> CapturedPage | None:
        """Looked up by identity, so that spelling does not matter."""
        keys = self.vary_keys.keys(lease.target)
        page = self._database.cached(lease.url, keys) if self.active else None
        return page if page is not None and self._fits(page) else None

    def _fits(self, page: CapturedPage) -> bool:
        """Not if it was rendered otherwise, or if the request would now have other headers."""
        if page.vary_key not in self.vary_keys.keys(page.address):
            return False
        if self._mode is RenderMode.NONE:
            return not page.rendered
        return self._mode is RenderMode.AUTO or page.rendered == self._mode.value


class CacheSource:
    """Implements ``sumi.ports.Source``: fresh pages come from the cache, without a request to their host."""

    more_to_come = False

    def __init__(self, cache: PageCache, clock: Clock) -> None:
        self._cache = cache
        self._clock = clock
        self.visited: dict[str, CacheLevel] = {}  # pages in flight

    async def resume(self, enqueue: Enqueue) -> None:
        """Nothing to add: every known page is in the frontier."""

    async def feed(self, enqueue: Enqueue) -> None:
        """Nothing to add: pages are found by links."""

    def at_hand(self, lease: Lease) -> Response | None:
        candidate = lease.candidate
        if candidate.kind is not Kind.PAGE:
            return None
        stored = None if candidate.hop is Hop.SEED else self._cache.fresh(lease, self._clock.now())
        if stored is not None:
            self.visited[lease.url] = CacheLevel.FULL
            self._cache.responses[lease.target] = stored
        else:
            has_text = self._cache.has_only_text_of(lease)
            self.visited[lease.url] = CacheLevel.PARTIAL if has_text else CacheLevel.MISS
        return stored

    def remains(self) -> Remains:
        return Remains()

    def signed(self, settlement: Settlement) -> Settlement:
        level = self.visited.get(settlement.lease.url, CacheLevel.MISS)
        if settlement.lease.target in self._cache.confirmed:
            self._cache.confirmed.discard(settlement.lease.target)
            level = CacheLevel.FULL
        if level is CacheLevel.MISS or settlement.verdict.outcome not in CAME:
            return settlement
        facts = msgspec.structs.replace(settlement.facts, cached=level.value)
        return msgspec.structs.replace(settlement, facts=facts)


class CachingFetcher:
    """Implements ``sumi.ports.Fetcher``: makes a conditional request for a page that is in the cache."""

    def __init__(self, fetcher: Fetcher, cache: PageCache) -> None:
        self._fetcher = fetcher
        self._cache = cache

    async def fetch(self, request: Request) -> Response | Trouble:
        if request.plain or request.headers or request.method != "GET":
            return await self._fetch(request)
        answer = await self._fetch_if_changed(request)
        if isinstance(answer, Response) and answer.status == OK:
            self._cache.responses[request.url] = answer
        return answer

    async def aclose(self) -> None:
        await self._fetcher.aclose()

    async def _fetch_if_changed(self, request: Request) -> Response | Trouble:
        page = self._cache.at(request.url)
        headers = conditional_headers(page.etag, page.last_modified) if page is not None else ()
        stored = self._cache.response_of(page) if page is not None and headers else None
        if stored is None:
            return await self._fetch(request)
        answer = await self._fetch(msgspec.structs.replace(request, headers=headers))
        if isinstance(answer, Trouble) or answer.status != NOT_MODIFIED:
            return answer
        self._cache.confirmed.add(request.url)
        return _confirmed(stored, answer)

    async def _fetch(self, request: Request) -> Response | Trouble:
        answer = await self._fetcher.fetch(request)
        if isinstance(answer, Response):
            self._cache.vary_keys.note_cookies(answer)
        return answer


def _confirmed(stored: Response, answer: Response) -> Response:
    """The stored response, updated by the 304 that confirmed it."""
    updates = {name: value for name, value in answer.headers if name in UPDATED_BY_304}
    outdated = updates.keys() | (FRESHNESS if FRESHNESS & updates.keys() else frozenset())
    kept = {name: value for name, value in stored.headers if name not in outdated}
    return msgspec.structs.replace(
        stored,
        headers=(*kept.items(), *updates.items()),
        timing=answer.timing,
        http_version=answer.http_version,
        peer=answer.peer,
    )


_MOST_BYTES: Final = 128 * 1024 * 1024  # the largest answer of a digest worker
_decoder = msgspec.msgpack.Decoder(PageDigest)


class DigestInFlight(NamedTuple):
    """The digest of a page that is not settled yet. ``new``: what to store; None if it was cached."""

    body_sha256: str
    new: StoredDigest | None


class DigestCache:
    """Page digests of earlier captures: the same body is not parsed twice.

    A digest depends on its request alone. It is stored under the hash of the body and a hash of everything
    else it depends on, this version of Sumi included. Its text is stored with the texts of all pages.
    """

    def __init__(self, database: CaptureDatabase, cache: PageCache) -> None:
        self._database = database
        self._cache = cache
        self._in_flight: dict[str, DigestInFlight] = {}

    def get(self, request: DigestRequest) -> PageDigest | None:
        """Without the packed body, which is stored already."""
        if not self._cache.active:
            return None
        body_sha256 = self._cache.sha256_of(request.url, request.body)
        frame = self._database.digest(body_sha256, _request_hash(request))
        digest = None if frame is None else _unpacked(frame)
        if digest is None or digest.sha256 is None or (request.vocabulary and not digest.vocabulary):
            return None
        text = self._database.content(digest.sha256)
        if text is None:
            return None
        self._in_flight[request.url] = DigestInFlight(body_sha256, None)
        return msgspec.structs.replace(
            digest,
            markdown=text.decode("utf-8", "replace"),
            raw_sha256=body_sha256,
            vocabulary=digest.vocabulary if request.vocabulary else b"",
        )

    def add(self, request: DigestRequest, digest: PageDigest) -> None:
        if digest.raw_sha256 is not None:
            new = StoredDigest(digest.raw_sha256, _request_hash(request), _packed(digest))
            self._in_flight[request.url] = DigestInFlight(digest.raw_sha256, new)

    def take(self, address: str) -> DigestInFlight | None:
        """Remove and return the digest of the page at an address."""
        return self._in_flight.pop(address, None)


class CachingDigester:
    """Implements ``sumi.ports.Digester``."""

    def __init__(self, digester: Digester, cache: DigestCache) -> None:
        self._digester = digester
        self._cache = cache

    async def digest(self, request: DigestRequest) -> PageDigest | Undigested:
        if not request.raw:  # without a stored body there is nothing to store a digest with
            return await self._digester.digest(request)
        known = self._cache.get(request)
        if known is not None:
            return known
        digest = await self._digester.digest(request)
        if isinstance(digest, PageDigest):
            self._cache.add(request, digest)
        return digest

    async def aclose(self) -> None:
        await self._digester.aclose()


def _request_hash(request: DigestRequest) -> str:
    """Covers everything but the body, and the vocabulary, which does not affect the rest."""
    rest = msgspec.structs.replace(request, body=b"", vocabulary=False)
    return blake2b(msgspec.msgpack.encode((__version__, rest)), digest_size=16).hexdigest()


def _packed(digest: PageDigest) -> bytes:
    rest = msgspec.structs.replace(digest, markdown=None, raw=b"", raw_sha256=None)
    return packed(msgspec.msgpack.encode(rest))[1]


def _unpacked(frame: bytes) -> PageDigest | None:
    data = unpacked(frame, _MOST_BYTES)
    try:
        return None if data is None else _decoder.decode(data)
    except msgspec.MsgspecError:
        return None
