"""What earlier captures have of a page, used instead of the network or to ask whether it still holds.

The pages of all jobs in a folder are the cache. A base URL is always asked for, so that its site's robots.txt
and sitemaps are read again and a second capture finds what the first did not.
"""

from collections.abc import Iterable
from hashlib import blake2b, scrypt, sha256
from itertools import product
from typing import Final

import msgspec

from sumi.fetch.headers import CredentialBook, Fields
from sumi.fetch.target import parse_target
from sumi.frontier.freshness import NOT_MODIFIED, conditional_headers, varied_by
from sumi.jobs.capture.database import CaptureDatabase
from sumi.jobs.capture.rows import CacheLevel, CapturedPage
from sumi.model import Hop, Kind, Lease, Request, Response, Timing
from sumi.outcomes import CAME, Trouble
from sumi.policy import NetworkPolicy, RenderMode
from sumi.ports import Clock, Enqueue, Fetcher, Remains, Settlement

OK = 200
DAY = 86_400.0
MOST_HELD = 32  # more than the pages that are in flight at once
# What a 304 says anew: the validators, and for how long it vouches.
RENEWED = frozenset({"etag", "last-modified", "cache-control", "expires", "pragma", "date", "age", "vary"})
VOUCHING = frozenset({"cache-control", "expires", "pragma"})


AGENT, COOKIE = "user-agent", "cookie"
# Which of the headers that are not the user's own an answer may vary by. All others are always the same.
_WAYS: Final = tuple(
    frozenset(name for name, is_named in zip((AGENT, COOKIE), chosen, strict=True) if is_named)
    for chosen in product((False, True), repeat=2)
)
# 16 MiB and some hundredths of a second, once for each site that the user has a header for.
_SCRYPT: Final = {"n": 2**14, "r": 8, "p": 1, "dklen": 16}


class RequestForms:
    """``hidden_cookies``: others than us may be handed cookies, as a browser is by what its pages load."""

    def __init__(self, network: NetworkPolicy, salt: bytes, *, hidden_cookies: bool) -> None:
        self._book = CredentialBook(network.credentials)
        self._agent = blake2b(network.user_agent.encode(), digest_size=8).hexdigest()
        self._keeps_cookies = network.cookies
        self._has_cookies = network.cookies and hidden_cookies
        self._salt = salt
        self._digests: dict[Fields, str] = {}

    def hear(self, answer: Response) -> None:
        """From the first cookie on nobody knows which are sent where."""
        if self._keeps_cookies and not self._has_cookies:
            self._has_cookies = any(name == "set-cookie" for name, _ in answer.headers)

    def form(self, address: str, varied: Iterable[str]) -> str | None:
        """Of a request whose answer varies by these headers; None if no other is known to be like it."""
        named = frozenset(varied)
        if COOKIE in named and self._has_cookies:
            return None
        agent = self._agent if AGENT in named else ""
        return f"{self._own(address)}/{agent}/{COOKIE if COOKIE in named else ''}"

    def forms(self, address: str) -> tuple[str | None, ...]:
        """All that a request made now is like, whatever its answer varies by."""
        return tuple(self.form(address, way) for way in _WAYS)

    def _own(self, address: str) -> str:
        """Of the user's headers for the address; all of them count, as any may be a key to other pages."""
        target = parse_target(address) if self._book else None
        fields = self._book.fields_for(target) if target is not None else ()
        if fields and fields not in self._digests:
            text = "\n".join(f"{name.lower()}:{value}" for name, value in fields)
            self._digests[fields] = scrypt(text.encode(), salt=self._salt, **_SCRYPT).hex()
        return self._digests[fields] if fields else ""


def varied_in(form: str) -> str:
    """By what the answer to a request of this form varies, as a server would say it."""
    named = zip((AGENT, COOKIE), form.split("/")[1:], strict=False)
    return ", ".join(name for name, is_named in named if is_named)


class PageCache:
    """``max_age``: for so many seconds a page is used unasked, unless its server wants to be asked every
    time. None: for as long as its server vouches for it, and at most a day."""

    def __init__(
        self,
        database: CaptureDatabase,
        forms: RequestForms,
        *,
        active: bool,
        max_age: float | None,
        mode: RenderMode,
    ) -> None:
        self._database = database
        self._forms = forms
        self.active = active
        self._max_age = max_age
        self._mode = mode
        # Of addresses in flight: what came for them, and whose server said that nothing changed.
        self.answers: dict[str, Response] = {}
        self._bodies: dict[str, tuple[bytes, str]] = {}
        self.confirmed: set[str] = set()

    def fresh(self, lease: Lease, now: float) -> Response | None:
        """The page, if it need not be asked for."""
        page = self._cached(lease)
        return self.response_of(page) if page is not None and self._is_fresh(page, now) else None

    def at(self, address: str) -> CapturedPage | None:
        """What there is at an address, however old."""
        page = self._database.cached_at(address, self._forms.forms(address)) if self.active else None
        return page if page is not None and self._fits(page) else None

    def has_only_text_of(self, lease: Lease) -> bool:
        page = self._cached(lease)
        if page is None or not self._database.has_content(page.text):
            return False
        return page.body is None or not self._database.has_content(page.body)

    def hear(self, answer: Response) -> None:
        """Whatever comes from a server may bring cookies."""
        self._forms.hear(answer)

    def form_of(self, answer: Response) -> str | None:
        """Which requests an answer may stand for later."""
        return self._forms.form(answer.url, varied_by(answer.headers))

    def response_of(self, page: CapturedPage) -> Response | None:
        """As it came then; None if its body is not here."""
        body = self._database.content(page.body) if page.body is not None else None
        if body is None or page.body is None:
            return None
        if len(self._bodies) >= MOST_HELD:  # of pages that came to nothing; whose hash is wanted is hashed
            self._bodies.clear()
        self._bodies[page.address] = body, page.body
        fields = (
            ("content-type", page.content_type),
            ("etag", page.etag),
            ("last-modified", page.last_modified),
            ("cache-control", None if page.fresh_for is None else f"max-age={page.fresh_for:.0f}"),
            ("vary", varied_in(page.asked_with or "") or None),
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

    def hash_of(self, address: str, body: bytes) -> str:
        """Of a body that was read here it is known."""
        held, name = self._bodies.pop(address, (b"", ""))
        return name if held is body else sha256(body).hexdigest()

    def _is_fresh(self, page: CapturedPage, now: float) -> bool:
        if page.fresh_for == 0:
            return False
        vouched = DAY if page.fresh_for is None else min(page.fresh_for, DAY)
        return 0 <= now - page.fetched_at < (vouched if self._max_age is None else self._max_age)

    def _cached(self, lease: Lease) -> CapturedPage | None:
        """However it was spelled when it came: a page is known by its identity."""
        forms = self._forms.forms(lease.target)
        page = self._database.cached(lease.url, forms) if self.active else None
        return page if page is not None and self._fits(page) else None

    def _fits(self, page: CapturedPage) -> bool:
        """What a browser made of a page is another page than what the server sent; and so is what came from
        an address that we would now ask with something else."""
        if page.asked_with not in self._forms.forms(page.address):
            return False
        if self._mode is RenderMode.NONE:
            return not page.rendered
        return self._mode is RenderMode.AUTO or page.rendered == self._mode.value


class CacheSource:
    """Implements ``sumi.ports.Source``: fresh pages come from here, and their hosts are not asked."""

    more_to_come = False

    def __init__(self, cache: PageCache, clock: Clock) -> None:
        self._cache = cache
        self._clock = clock
        self.visited: dict[str, CacheLevel] = {}  # pages in flight

    async def resume(self, enqueue: Enqueue) -> None:
        """Whatever was taken in is in the frontier."""

    async def feed(self, enqueue: Enqueue) -> None:
        """Pages lead to one another."""

    def at_hand(self, lease: Lease) -> Response | None:
        candidate = lease.candidate
        if candidate.kind is not Kind.PAGE:
            return None
        held = None if candidate.hop is Hop.SEED else self._cache.fresh(lease, self._clock.now())
        if held is not None:
            self.visited[lease.url] = CacheLevel.FULL
            self._cache.answers[lease.target] = held
        else:
            known = self._cache.has_only_text_of(lease)
            self.visited[lease.url] = CacheLevel.PARTIAL if known else CacheLevel.MISS
        return held

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
    """Implements ``sumi.ports.Fetcher``: asks for a page that is here only whether it changed."""

    def __init__(self, fetcher: Fetcher, cache: PageCache) -> None:
        self._fetcher = fetcher
        self._cache = cache

    async def fetch(self, request: Request) -> Response | Trouble:
        if request.plain or request.headers or request.method != "GET":
            return await self._fetched(request)
        answer = await self._asked(request)
        if isinstance(answer, Response) and answer.status == OK:
            self._cache.answers[request.url] = answer
        return answer

    async def aclose(self) -> None:
        await self._fetcher.aclose()

    async def _asked(self, request: Request) -> Response | Trouble:
        page = self._cache.at(request.url)
        headers = conditional_headers(page.etag, page.last_modified) if page is not None else ()
        stored = self._cache.response_of(page) if page is not None and headers else None
        if stored is None:
            return await self._fetched(request)
        answer = await self._fetched(msgspec.structs.replace(request, headers=headers))
        if isinstance(answer, Trouble) or answer.status != NOT_MODIFIED:
            return answer
        self._cache.confirmed.add(request.url)
        return _confirmed(stored, answer)

    async def _fetched(self, request: Request) -> Response | Trouble:
        answer = await self._fetcher.fetch(request)
        if isinstance(answer, Response):
            self._cache.hear(answer)
        return answer


def _confirmed(stored: Response, answer: Response) -> Response:
    """The stored page as an answer of today: its server has just said that it still holds."""
    told = {name: value for name, value in answer.headers if name in RENEWED}
    outdated = told.keys() | (VOUCHING if VOUCHING & told.keys() else frozenset())
    kept = {name: value for name, value in stored.headers if name not in outdated}
    return msgspec.structs.replace(
        stored,
        headers=(*kept.items(), *told.items()),
        timing=answer.timing,
        http_version=answer.http_version,
        peer=answer.peer,
    )
