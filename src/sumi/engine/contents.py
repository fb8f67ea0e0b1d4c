"""Pages with content: written once, even if several URLs hold the same, and remembered by what they are like.

The first page of a content is kept and the others are recorded as its duplicates. Their links are followed
all the same.
"""

import asyncio
from hashlib import blake2b

import msgspec

from sumi.engine.facts import bare_facts, with_permissions
from sumi.engine.gate import Gate
from sumi.engine.io import Io
from sumi.engine.revisit import Revisits, revision_of, unchanged_facts
from sumi.model import Kind, Lease, PageFacts, Response
from sumi.outcomes import CAME, KEPT, Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.ports import Settlement
from sumi.recipe import Recipe

SAME_CONTENT = Verdict(Outcome.UNCHANGED, "it came again, with the same content")


class ContentIndex:
    """Who brought a content first. In memory eight bytes and a reference to the URL for each."""

    def __init__(self) -> None:
        self._first: dict[int, str] = {}
        self._unsettled: dict[str, asyncio.Event] = {}

    def first_of(self, key: str | None, url: str) -> str | None:
        """Another page that holds the same; None: ``url`` is the first from now on."""
        first = url if key is None else self._first.setdefault(int(key, 16), url)
        return None if first == url else first

    async def original_of(self, key: str | None, url: str) -> str | None:
        """The page that holds the same, if there is one; otherwise ``url`` is the first from now on.

        Waits for a first that is still in flight. So a duplicate is never recorded before its original, and
        no crash can leave the one without the other.
        """
        if key is None:
            return None
        number = int(key, 16)
        while (first := self._first.setdefault(number, url)) != url:
            if (in_flight := self._unsettled.get(first)) is None:
                return first
            await in_flight.wait()
        self._unsettled[url] = asyncio.Event()
        return None

    def settled(self, url: str, key: str | None, *, kept: bool) -> None:
        """The end of what ``original_of`` began; not ``kept``: somebody else may be the first."""
        in_flight = self._unsettled.pop(url, None)
        if in_flight is None:
            return
        if not kept and key is not None:
            self._first.pop(int(key, 16), None)
        in_flight.set()

    def restore(self, key: str, url: str) -> None:
        self._first.setdefault(int(key, 16), url)


class Contents:
    def __init__(self, recipe: Recipe, io: Io, gate: Gate, revisits: Revisits) -> None:
        self._recipe = recipe
        self._io = io
        self._gate = gate
        self._revisits = revisits
        self._index = ContentIndex()

    async def load(self) -> None:
        """Take up what earlier runs learnt about traps and contents."""
        async for record in self._io.ledger.records(CAME):
            if record.kind is not Kind.PAGE:
                continue
            self._gate.traps.restore(record.url, record.at or 0.0, record.facts)
            if record.outcome in KEPT:
                self._gate.quota.restore(record.url)
            if record.outcome in KEPT and record.facts.content_key is not None:
                self._index.restore(record.facts.content_key, record.url)

    async def keep(self, lease: Lease, response: Response, digest: PageDigest) -> tuple[Verdict, PageFacts]:
        """Write the page unless it is there already; what is to be recorded of it."""
        before = await self._revisits.before(lease)
        revision = revision_of(digest)
        if before is not None and before.revision == revision:
            return SAME_CONTENT, unchanged_facts(before, response)
        key = content_key(digest, titles_count=self._recipe.titles_count)
        if self._recipe.keep_duplicates:
            original = self._index.first_of(key, lease.url)
        else:
            original = await self._index.original_of(key, lease.url)
        if original is None or self._recipe.keep_duplicates:
            verdict = Verdict(Outcome.CAPTURED, f"HTTP {response.status}")
            facts = await self._io.output.accept(lease, response, digest)
        else:
            what = "title and text" if self._recipe.titles_count else "text"
            verdict = Verdict(Outcome.DUPLICATE, f"the same {what} as {original}")
            facts = bare_facts(response, None)
        now = self._io.clock.now()
        return verdict, msgspec.structs.replace(
            with_permissions(facts, response, digest, *self._gate.permission(lease.target)),
            content_key=key,
            revision=revision,
            first_captured=before.first_captured if before is not None else now,
            changed_at=now,
            duplicate_of=original,
            links_dropped=digest.links_dropped,
            simhash=None if digest.simhash is None else f"{digest.simhash:016x}",
            rendered=response.rendered or None,
            render_note=response.render_note or None,
            fruitless=self._gate.traps.observe(lease.url, digest, known_content=original is not None),
        )

    def settled(self, unit: Settlement, accepted: bool) -> None:
        """What became of a page: accepted by the store, or dropped because its lease had run out."""
        kept = accepted and unit.verdict.outcome in KEPT
        self._index.settled(unit.lease.url, unit.facts.content_key, kept=kept)


def content_key(digest: PageDigest, *, titles_count: bool = True) -> str | None:
    """Of title and text, or of the text alone. None for a page without text: that two pages say nothing does
    not make them one."""
    if digest.sha256 is None or not (digest.markdown or "").strip():
        return None
    if not titles_count:
        return digest.sha256
    return blake2b(
        f"{digest.title or ''}\0{digest.sha256}".encode("utf-8", "replace"), digest_size=8
    ).hexdigest()
