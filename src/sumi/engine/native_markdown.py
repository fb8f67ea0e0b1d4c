"""A site's own Markdown instead of its HTML, if it has some that is at least as good.

A few pages are requested both ways, each request on a turn of its own, and the two are compared. Only if the
Markdown was as good every time are the other pages requested as Markdown alone. A page without Markdown, or
whose Markdown may be another page, is requested as HTML: the result is never worse than from HTML. Sites that
give no sign of having Markdown are not asked.
"""

import asyncio
from collections import defaultdict
from contextlib import AbstractAsyncContextManager, nullcontext
from hashlib import blake2b

import msgspec

from sumi.engine.io import Io
from sumi.engine.visit import HTML, Sample, Variant, Visit
from sumi.events import Warned
from sumi.model import Kind, Response, Timing
from sumi.parse.page.digest import DigestRequest, PageDigest, Undigested
from sumi.parse.page.media_type import Form, form_of, looks_like_html, media_type
from sumi.policy import FollowLinks, Preset, SourceChoice
from sumi.recipe import Recipe
from sumi.urls import origin
from sumi.urls.alternatives import TWIN_FORMS, form_between, twin_of

NEGOTIATED = "negotiated"
FULL_TEXT = "full text"
WANTS_MARKDOWN = ("accept", "text/markdown, text/html;q=0.5")
# Pages that are requested both ways. One may match by chance, three hardly.
SAMPLES = 3
# Rounding, or a heading more or less: a smaller difference does not show which is better.
AS_GOOD = 0.005
MIN_FIDELITY = 0.8
# A whole manual contains every word of each of its pages: too much text is not the page.
MAX_GROWTH, GROWTH_FLOOR = 2, 2000
# Anything shorter may be a notice instead of the page.
MIN_CHARACTERS = 200
# Misses in a row, after which a site is no longer asked for Markdown.
MAX_MISSES = 3
NOTE = "ladder.rungs"  # as stored states call it
# Full texts in memory until the run ends; each may be as large as the largest page.
MAX_SITES = 4
# The only header: the validators of the file are not those of the page.
MARKDOWN_TYPE = ("content-type", "text/markdown; charset=utf-8")


class _Site(msgspec.Struct):
    variant: str = ""  # "": undecided; HTML: no Markdown is as good
    liked: str = ""  # the variant that was as good for a page, and the only one to try for the next
    good: int = 0
    bad: int = 0
    misses: int = 0
    samples: int = 0  # pages being requested both ways
    bodies: set[bytes] = msgspec.field(default_factory=set)


class NativeMarkdown:
    def __init__(self, recipe: Recipe, io: Io) -> None:
        self._choice = recipe.source
        self._follow_links = recipe.follow_links
        self._io = io
        self._full_texts = FullTexts(io)
        self._sites: defaultdict[str, _Site] = defaultdict(_Site)

    @property
    def active(self) -> bool:
        return self._choice is not SourceChoice.HTML

    async def load(self) -> None:
        """Load what earlier runs decided about each site."""
        note = await self._io.ledger.get_note(NOTE)
        for site, variant in (msgspec.json.decode(note, type=dict[str, str]) if note else {}).items():
            self._sites[site].variant = variant

    def variant(self, visit: Visit) -> Variant:
        """What to request for a page."""
        plain = Variant(visit.lease.target)
        if visit.candidate.kind is not Kind.PAGE or visit.candidate.address or visit.tried.markdown:
            return plain
        if visit.before is not None and visit.before.source is None:
            return plain  # it was kept as HTML: its Markdown was worse, or not looked for
        name = self._next_variant(visit)
        if name == FULL_TEXT:
            # A sample must be compared, even with nothing.
            if visit.tried.sample is None and not self._full_texts.may_have(visit.url):
                return plain
            answer = self._full_texts.answer_for(visit.url)
            return Variant(place_of_full_text(visit.url), (), name, answer)
        return _variant(visit.url, name) or plain

    def turn(self, visit: Visit) -> AbstractAsyncContextManager[None]:
        """A lock to hold from ``variant`` until ``taken``."""
        by_full_text = self._next_variant(visit) == FULL_TEXT
        return self._full_texts.turn(visit.url) if by_full_text else nullcontext()

    async def taken(self, visit: Visit, response: Response | None) -> Response | None:
        """The page's part of the site's full text; None if it is not there."""
        usable = response is not None and is_markdown(response)
        await self._full_texts.take(visit.url, response if usable else None)
        return self._full_texts.answer_for(visit.url)

    def _next_variant(self, visit: Visit) -> str:
        sample = visit.tried.sample
        return sample.to_try[0] if sample is not None else self._sites[origin(visit.url)].variant

    async def wants_markdown_of(self, visit: Visit, sample: Sample) -> bool:
        """Whether to request a page that came as HTML as Markdown too; the sample is kept until then."""
        site = self._sites[origin(visit.url)]
        if not await self._may_sample(visit, site):
            return False
        sample.to_try.extend(self._variants(visit.url, sample))
        if not sample.to_try:
            return False
        site.samples += 1
        visit.tried.sample = sample
        return True

    async def compared(
        self, visit: Visit, sample: Sample, response: Response | None
    ) -> Sample | Response | None:
        """The better of the two: the sample, or its Markdown. None: there is another variant to try first."""
        good = response is not None and await self._is_as_good(sample, response)
        sample.to_try.popleft()
        if not good and sample.to_try:
            return None
        visit.tried.sample = None
        site = origin(visit.url)
        if good and response is not None:
            self._sites[site].bodies.add(_hash(response))
        await self._decide(site, visit.variant.name, good=good)
        visit.tried.markdown = True
        return response if good else sample

    def believes(self, visit: Visit, response: Response, digest: PageDigest) -> bool:
        """Whether Markdown that came without HTML to compare it with is the page."""
        site = self._sites[origin(visit.url)]
        text = digest.markdown or ""
        body = _hash(response)
        fine = len(text) >= MIN_CHARACTERS and body not in site.bodies
        fine = fine and not digest.looks_missing and not digest.challenge
        if fine:
            site.bodies.add(body)
            site.misses = 0
        return fine

    async def missed(self, visit: Visit) -> None:
        """There is no credible Markdown of a page: it is requested as HTML next."""
        visit.tried.markdown = True
        site = self._sites[origin(visit.url)]
        site.misses += 1
        if site.misses >= MAX_MISSES:
            await self._settle_on(origin(visit.url), HTML)

    async def _may_sample(self, visit: Visit, site: _Site) -> bool:
        if site.variant or site.samples + site.good >= SAMPLES or visit.tried.markdown:
            return False
        if self._choice is SourceChoice.MARKDOWN:
            return True
        # Where links are followed, HTML is needed: Markdown lacks the links of the navigation.
        if self._follow_links is FollowLinks.ALWAYS:
            return False
        return (await self._io.frontier.stats()).listed > 0

    def _variants(self, url: str, sample: Sample) -> list[str]:
        """Where its Markdown may be: where a sampled page had it, where the page says, or by guessing."""
        liked = self._sites[origin(url)].liked
        if liked:
            return [liked] if self._fits(url, liked) else []
        alternate = sample.digest.alternate
        said = form_between(url, alternate) if alternate else None
        if said is not None:
            return [said]
        varies = (sample.response.header("vary") or "").lower().replace(" ", "").split(",")
        variants = [NEGOTIATED] if "accept" in varies else []
        if self._choice is SourceChoice.MARKDOWN:
            variants = [NEGOTIATED, *(form for form in TWIN_FORMS if twin_of(url, form))]
        is_likely = self._choice is SourceChoice.MARKDOWN or place_of_full_text(url) in sample.digest.links
        return [*variants, FULL_TEXT] if is_likely and self._fits(url, FULL_TEXT) else variants

    def _fits(self, url: str, variant: str) -> bool:
        if variant == FULL_TEXT:
            return self._full_texts.may_have(url)
        return variant == NEGOTIATED or twin_of(url, variant) is not None

    async def _is_as_good(self, sample: Sample, response: Response) -> bool:
        if not is_markdown(response) or sample.digest.fidelity is None:
            return False
        rival = msgspec.structs.replace(sample.request, rival=response.body, raw=False)
        judged = await self._io.digester.digest(rival)
        if isinstance(judged, Undigested) or judged.rival_fidelity is None:
            return False
        most = MAX_GROWTH * len(sample.digest.markdown or "") + GROWTH_FLOOR
        least = max(MIN_FIDELITY, sample.digest.fidelity - AS_GOOD)
        return judged.rival_fidelity >= least and len(response.body) <= most

    async def _decide(self, site_name: str, variant: str, *, good: bool) -> None:
        site = self._sites[site_name]
        site.samples -= 1
        site.good += good
        site.bad += not good
        if good and not site.liked:
            site.liked = variant
        if site.variant:
            return
        # Where Markdown is only guessed at, one page without it says little about the others.
        bad_enough = 1 if site.good or self._choice is SourceChoice.AUTO else SAMPLES
        if site.bad >= bad_enough and not good:
            await self._settle_on(site_name, HTML)
        elif site.good >= SAMPLES:
            await self._settle_on(site_name, site.liked)

    async def _settle_on(self, site_name: str, variant: str) -> None:
        self._sites[site_name].variant = variant
        decided = {name: site.variant for name, site in self._sites.items() if site.variant}
        await self._io.ledger.put_note(NOTE, msgspec.json.encode(decided).decode())


def is_markdown(response: Response) -> bool:
    """Some servers label it plain text, and some label an error page Markdown."""
    declared = response.header("content-type") or ""
    if not 200 <= response.status < 300 or looks_like_html(response.body):
        return False
    return form_of(declared, b"")[0] is Form.MARKDOWN or media_type(declared) == "text/plain"


def as_markdown(response: Response) -> str:
    """The content type to digest it with: Markdown, with the declared encoding."""
    return f"text/markdown;{(response.header('content-type') or '').partition(';')[2]}"


def _hash(response: Response) -> bytes:
    return blake2b(response.body, digest_size=8).digest()


def _variant(url: str, name: str) -> Variant | None:
    if name == NEGOTIATED:
        return Variant(url, (WANTS_MARKDOWN,), name)
    twin = twin_of(url, name)
    return None if twin is None else Variant(twin, (), name)


class FullTexts:
    """A site's ``llms-full.txt``: requested once per run, split, and served page by page."""

    def __init__(self, io: Io) -> None:
        self._io = io
        self._parts: dict[str, dict[str, str]] = {}  # by site; empty if the file is unusable
        self._locks: dict[str, asyncio.Lock] = {}

    def may_have(self, url: str) -> bool:
        """Whether the page may be in it, by what is known."""
        if origin(url) not in self._parts:
            return len(self._parts) < MAX_SITES
        return self._part(url) is not None

    def turn(self, url: str) -> AbstractAsyncContextManager[None]:
        """A lock to hold while the file is requested, so that only one visit does."""
        site = origin(url)
        return nullcontext() if site in self._parts else self._locks.setdefault(site, asyncio.Lock())

    def answer_for(self, url: str) -> Response | None:
        """A response as if the page had been requested alone. None: the file was not requested yet."""
        if origin(url) not in self._parts:
            return None
        part, now = self._part(url), self._io.clock.now()
        timing = Timing(now, now, now)
        if part is None:
            return Response(url, 404, (), b"", timing)
        return Response(url, 200, (MARKDOWN_TYPE,), part.encode("utf-8", "replace"), timing)

    async def take(self, url: str, response: Response | None) -> None:
        """The response for the file; None: none that is usable."""
        self._parts[origin(url)] = {} if response is None else await self._split(response)

    async def _split(self, response: Response) -> dict[str, str]:
        request = DigestRequest(
            response.url, response.body, "text/markdown", Kind.PAGE, Preset.MIRROR, full_text=True
        )
        digest = await self._io.digester.digest(request)
        parts = digest.parts if isinstance(digest, PageDigest) else {}
        if not parts:
            useless = "does not say which page each part comes from: not used"
            self._io.tell(Warned(f"{response.url} {useless}"))
        return parts

    def _part(self, url: str) -> str | None:
        """Under the URL of the page, or of its Markdown."""
        parts = self._parts[origin(url)]
        names = (url, url.removesuffix("/"), *(twin_of(url, form) for form in TWIN_FORMS))
        return next((parts[name] for name in names if name in parts), None)


def place_of_full_text(url: str) -> str:
    return f"{origin(url)}/llms-full.txt"
