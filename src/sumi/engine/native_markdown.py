"""The source native: a site's own Markdown instead of its HTML, where it has some that is at least as good.

A few pages are asked for both ways, each request on a polite turn of its own, and the two are held against
each other. Only if the site's Markdown was as good every time are the other pages asked for that way alone.
What has a page as HTML only, or something that may not be that page, is asked for as HTML: nothing is ever
made of a page that its HTML would have made better. Sites that give no sign of having Markdown are not asked.
"""

import asyncio
from collections import defaultdict, deque
from contextlib import AbstractAsyncContextManager, nullcontext
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from sumi.engine.io import Io
from sumi.events import Warned
from sumi.model import Kind, Lease, PageFacts, Response, Timing
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.parse.page.media_type import Form, form_of, looks_like_html, media_type
from sumi.policy import FollowLinks, Preset, SourceChoice
from sumi.recipe import Recipe
from sumi.urls import origin
from sumi.urls.alternatives import TWIN_FORMS, form_between, twin_of

NEGOTIATED = "negotiated"
FULL_TEXT = "full text"
HTML = "html"
WANTS_MARKDOWN = ("accept", "text/markdown, text/html;q=0.5")
# Pages that are asked for both ways. One may be like its Markdown by chance, three hardly.
SAMPLES = 3
# Rounding, a heading more or less: below this a difference says nothing about which is better.
AS_GOOD = 0.005
LEAST_FIDELITY = 0.8
# A whole manual holds every word of each of its pages.
MOST_GROWTH, GROWTH_FLOOR = 2, 2000
# What is shorter may be a notice instead of a page.
LEAST_CHARACTERS = 200
# In a row, after which a site is no longer asked for Markdown.
MOST_MISSES = 3
NOTE = "native.rungs"
# Each may be as large as a page may be, and stays in memory until the run ends.
MOST_SITES = 4
# Nothing else of the file's headers: its validators would be taken for the page's.
MARKDOWN_TYPE = ("content-type", "text/markdown; charset=utf-8")


class Way(NamedTuple):
    """How a page is asked for."""

    target: str
    headers: tuple[tuple[str, str], ...] = ()
    rung: str = HTML
    at_hand: Response | None = None  # the answer, of what need not be asked for


class Held(NamedTuple):
    """A page that came as HTML and waits for its Markdown."""

    request: DigestRequest
    response: Response
    digest: PageDigest


class _Site(msgspec.Struct):
    rung: str = ""  # "": not decided; HTML: nothing better
    liked: str = ""  # the rung that was as good for a page; the next pages are asked for that one only
    good: int = 0
    bad: int = 0
    misses: int = 0
    held: int = 0  # pages being asked for both ways
    bodies: set[bytes] = msgspec.field(default_factory=set)


class NativeMarkdown:
    def __init__(self, recipe: Recipe, io: Io) -> None:
        self._choice = recipe.source
        self._follow_links = recipe.follow_links
        self._io = io
        self._full_texts = FullTexts(io)
        self._sites: defaultdict[str, _Site] = defaultdict(_Site)
        self._held: dict[str, Held] = {}
        self._to_try: dict[str, deque[str]] = {}  # rungs, of a page that is held
        self._as_html: set[str] = set()  # pages whose Markdown was tried in vain

    @property
    def active(self) -> bool:
        return self._choice is not SourceChoice.HTML

    async def load(self) -> None:
        """What earlier runs found out about the site."""
        note = await self._io.ledger.get_note(NOTE)
        for site, rung in (msgspec.json.decode(note, type=dict[str, str]) if note else {}).items():
            self._sites[site].rung = rung

    def way(self, lease: Lease, before: PageFacts | None) -> Way:
        """Where to ask for a page, and what for."""
        plain = Way(lease.target)
        if lease.candidate.kind is not Kind.PAGE:
            return plain
        if lease.candidate.address or lease.url in self._as_html:
            return plain
        if before is not None and before.source is None:
            return plain  # of a page that is here as HTML the Markdown was no good, or not looked for
        rung = self._next_rung(lease.url)
        if rung == FULL_TEXT:
            # A page that is held must be compared, be it with nothing.
            if not self.holds(lease.url) and not self._full_texts.may_have(lease.url):
                return plain
            answer = self._full_texts.answer_for(lease.url)
            return Way(place_of_full_text(lease.url), (), rung, answer)
        return _way(lease.url, rung) or plain

    def turn(self, lease: Lease) -> AbstractAsyncContextManager[None]:
        """To be held from ``way`` on until the answer was ``taken``."""
        by_full_text = self._next_rung(lease.url) == FULL_TEXT
        return self._full_texts.turn(lease.url) if by_full_text else nullcontext()

    async def taken(self, lease: Lease, response: Response | None) -> Response | None:
        """Of the site's full text, the page; None if it is not in it."""
        usable = response is not None and is_markdown(response)
        await self._full_texts.take(lease.url, response if usable else None)
        return self._full_texts.answer_for(lease.url)

    def _next_rung(self, url: str) -> str:
        rungs = self._to_try.get(url)
        return rungs[0] if rungs else self._sites[origin(url)].rung

    async def wants_markdown_of(self, lease: Lease, held: Held) -> bool:
        """Whether a page that came as HTML is to be asked for as Markdown too; it is then held meanwhile."""
        site = self._sites[origin(lease.url)]
        if not await self._may_sample(lease, site):
            return False
        rungs = self._rungs(lease.url, held)
        if not rungs:
            return False
        site.held += 1
        self._held[lease.url] = held
        self._to_try[lease.url] = deque(rungs)
        return True

    def holds(self, url: str) -> bool:
        return url in self._held

    async def compared(self, lease: Lease, way: Way, response: Response | None) -> Held | Response | None:
        """The better of the two: the page as it was held, or its Markdown. None: there is another place to
        look for it first."""
        held = self._held[lease.url]
        good = response is not None and await self._is_as_good(held, response)
        rungs = self._to_try[lease.url]
        rungs.popleft()
        if not good and rungs:
            return None
        del self._held[lease.url], self._to_try[lease.url]
        if good and response is not None:
            self._sites[origin(lease.url)].bodies.add(_hash(response))
        await self._decide(origin(lease.url), way.rung, good=good)
        self._as_html.add(lease.url)
        return response if good else held

    def believes(self, lease: Lease, response: Response, digest: PageDigest) -> bool:
        """Whether what came as Markdown, without HTML to compare it with, is the page."""
        site = self._sites[origin(lease.url)]
        text = digest.markdown or ""
        body = _hash(response)
        fine = len(text) >= LEAST_CHARACTERS and body not in site.bodies
        fine = fine and not digest.looks_missing and not digest.challenge
        if fine:
            site.bodies.add(body)
            site.misses = 0
        return fine

    async def missed(self, lease: Lease) -> None:
        """There is no Markdown of a page, or none that can be believed: it is asked for as HTML next."""
        self._as_html.add(lease.url)
        site = self._sites[origin(lease.url)]
        site.misses += 1
        if site.misses >= MOST_MISSES:
            await self._settle_on(origin(lease.url), HTML)

    def settled(self, url: str) -> None:
        self._as_html.discard(url)

    async def _may_sample(self, lease: Lease, site: _Site) -> bool:
        if site.rung or site.held + site.good >= SAMPLES or lease.url in self._as_html:
            return False
        if self._choice is SourceChoice.MARKDOWN:
            return True
        # HTML has the links of navigation, which Markdown lacks: where they are followed they are needed.
        if self._follow_links is FollowLinks.ALWAYS:
            return False
        return (await self._io.frontier.stats()).listed > 0

    def _rungs(self, url: str, held: Held) -> list[str]:
        """Where its Markdown may be: where the page says, or where a sampled page had it, or by guessing."""
        liked = self._sites[origin(url)].liked
        if liked:
            return [liked] if self._fits(url, liked) else []
        alternate = held.digest.alternate
        said = form_between(url, alternate) if alternate else None
        if said is not None:
            return [said]
        varies = (held.response.header("vary") or "").lower().replace(" ", "").split(",")
        rungs = [NEGOTIATED] if "accept" in varies else []
        if self._choice is SourceChoice.MARKDOWN:
            rungs = [NEGOTIATED, *(form for form in TWIN_FORMS if twin_of(url, form))]
        told = self._choice is SourceChoice.MARKDOWN or place_of_full_text(url) in held.digest.links
        return [*rungs, FULL_TEXT] if told and self._fits(url, FULL_TEXT) else rungs

    def _fits(self, url: str, rung: str) -> bool:
        if rung == FULL_TEXT:
            return self._full_texts.may_have(url)
        return rung == NEGOTIATED or twin_of(url, rung) is not None

    async def _is_as_good(self, held: Held, response: Response) -> bool:
        if not is_markdown(response) or held.digest.fidelity is None:
            return False
        rival = msgspec.structs.replace(held.request, rival=response.body, raw=False)
        judged = await self._io.digester.digest(rival)
        if isinstance(judged, Undigested) or judged.rival_fidelity is None:
            return False
        most = MOST_GROWTH * len(held.digest.markdown or "") + GROWTH_FLOOR
        least = max(LEAST_FIDELITY, held.digest.fidelity - AS_GOOD)
        return judged.rival_fidelity >= least and len(response.body) <= most

    async def _decide(self, site_name: str, rung: str, *, good: bool) -> None:
        site = self._sites[site_name]
        site.held -= 1
        site.good += good
        site.bad += not good
        if good and not site.liked:
            site.liked = rung
        if site.rung:
            return
        # Where Markdown is only guessed at, one page without says little about the others.
        bad_enough = 1 if site.good or self._choice is SourceChoice.AUTO else SAMPLES
        if site.bad >= bad_enough and not good:
            await self._settle_on(site_name, HTML)
        elif site.good >= SAMPLES:
            await self._settle_on(site_name, site.liked)

    async def _settle_on(self, site_name: str, rung: str) -> None:
        self._sites[site_name].rung = rung
        decided = {name: site.rung for name, site in self._sites.items() if site.rung}
        await self._io.ledger.put_note(NOTE, msgspec.json.encode(decided).decode())


def is_markdown(response: Response) -> bool:
    """Some servers call it plain text, and some call an error page Markdown."""
    declared = response.header("content-type") or ""
    if not 200 <= response.status < 300 or looks_like_html(response.body):
        return False
    return form_of(declared, b"")[0] is Form.MARKDOWN or media_type(declared) == "text/plain"


def as_markdown(response: Response) -> str:
    """The type that it has, whatever it is called; with what was said of its encoding."""
    return f"text/markdown;{(response.header('content-type') or '').partition(';')[2]}"


def _hash(response: Response) -> bytes:
    return blake2b(response.body, digest_size=8).digest()


def _way(url: str, rung: str) -> Way | None:
    if rung == NEGOTIATED:
        return Way(url, (WANTS_MARKDOWN,), rung)
    twin = twin_of(url, rung)
    return None if twin is None else Way(twin, (), rung)


class FullTexts:
    """A site's ``llms-full.txt``: asked for once a run, kept in parts, and handed out page by page."""

    def __init__(self, io: Io) -> None:
        self._io = io
        self._parts: dict[str, dict[str, str]] = {}  # by site; empty of one whose file is of no use
        self._locks: dict[str, asyncio.Lock] = {}

    def may_have(self, url: str) -> bool:
        """Whether the page may be in it, as far as is known."""
        if origin(url) not in self._parts:
            return len(self._parts) < MOST_SITES
        return self._part(url) is not None

    def turn(self, url: str) -> AbstractAsyncContextManager[None]:
        """To be held by who asks for the file, so that only one does."""
        site = origin(url)
        return nullcontext() if site in self._parts else self._locks.setdefault(site, asyncio.Lock())

    def answer_for(self, url: str) -> Response | None:
        """As if the page had been asked for alone. None: the file was not asked for yet."""
        if origin(url) not in self._parts:
            return None
        part, now = self._part(url), self._io.clock.now()
        timing = Timing(now, now, now)
        if part is None:
            return Response(url, 404, (), b"", timing)
        return Response(url, 200, (MARKDOWN_TYPE,), part.encode("utf-8", "replace"), timing)

    async def take(self, url: str, response: Response | None) -> None:
        """What came when it was asked for; None: nothing that could be one."""
        self._parts[origin(url)] = {} if response is None else await self._split(response)

    async def _split(self, response: Response) -> dict[str, str]:
        request = DigestRequest(
            response.url, response.body, "text/markdown", Kind.PAGE, Preset.MIRROR, full_text=True
        )
        digest = await self._io.digester.digest(request)
        parts = digest.parts if isinstance(digest, PageDigest) else {}
        if not parts:
            useless = "does not say which page each of its parts is from: it is not used"
            self._io.tell(Warned(f"{response.url} {useless}"))
        return parts

    def _part(self, url: str) -> str | None:
        """Under the page's own address, or that of its Markdown."""
        parts = self._parts[origin(url)]
        names = (url, url.removesuffix("/"), *(twin_of(url, form) for form in TWIN_FORMS))
        return next((parts[name] for name in names if name in parts), None)


def place_of_full_text(url: str) -> str:
    return f"{origin(url)}/llms-full.txt"
