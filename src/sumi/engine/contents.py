"""What is kept: pages, each content once, and images and files unchanged.

The first page with a content is kept, the others are recorded as its duplicates. Their links are followed
too.
"""

import asyncio
import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

import msgspec

from sumi.engine.answers import bare_facts, with_permissions
from sumi.engine.gate import Gate
from sumi.engine.io import Io
from sumi.engine.revisit import revision_of, unchanged_facts
from sumi.engine.visit import Visit
from sumi.model import ASSETS, Kind, PageFacts, Response
from sumi.outcomes import CAME, KEPT, Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.parse.page.media_type import named_like_a_file
from sumi.ports import Judged
from sumi.recipe import Recipe

_INDEX: Final = re.compile(r"/(?:index|default)\.(?:x?html?|php)\Z", re.IGNORECASE)
SAME_CONTENT = Verdict(Outcome.UNCHANGED, "fetched again with the same content")
SAME_ASSET = Verdict(Outcome.STORED, "fetched again with the same content")


class ContentIndex:
    """Which page brought each content first: a visit while it is in flight, its URL from then on. In memory a
    content takes eight bytes and a reference."""

    def __init__(self) -> None:
        self._first: dict[int, Visit | str] = {}

    def first_of(self, key: str | None, url: str) -> str | None:
        """Another page with the same content; None: ``url`` is now the first."""
        first = url if key is None else self._first.setdefault(int(key, 16), url)
        return None if first == url or isinstance(first, Visit) else first

    async def original_of(self, key: str | None, visit: Visit) -> str | None:
        """Another page with the same content; None: ``visit`` is now the first.

        Waits for a first that is still in flight. So a duplicate is never recorded before its original, and
        no crash can leave one without the other.
        """
        if key is None:
            return None
        number = int(key, 16)
        while isinstance(first := self._first.setdefault(number, visit), Visit) and first is not visit:
            first.decided = first.decided or asyncio.Event()
            await first.decided.wait()
        if isinstance(first, str) and first != visit.url:
            return first
        self._first[number] = visit
        visit.content = number
        return None

    def settled(self, visit: Visit, *, kept: bool) -> None:
        """Ends what ``original_of`` began; not ``kept``: another page may become the first."""
        if visit.content is None:
            return
        if kept:
            self._first[visit.content] = visit.url
        else:
            self._first.pop(visit.content, None)
        if visit.decided is not None:
            visit.decided.set()

    def restore(self, key: str, url: str) -> None:
        self._first.setdefault(int(key, 16), url)


class Contents:
    def __init__(self, recipe: Recipe, io: Io, gate: Gate) -> None:
        self._recipe = recipe
        self._io = io
        self._gate = gate
        self._index = ContentIndex()

    async def load(self) -> None:
        """Load what earlier runs learnt about traps and contents."""
        async for record in self._io.ledger.records(CAME):
            if record.kind is not Kind.PAGE:
                continue
            self._gate.traps.restore(record.url, record.at or 0.0, record.facts)
            if record.outcome in KEPT:
                self._gate.quota.restore(record.url)
            if record.outcome in KEPT and record.facts.content_key is not None:
                self._index.restore(record.facts.content_key, record.url)

    async def keep(self, visit: Visit, response: Response, digest: PageDigest) -> tuple[Verdict, PageFacts]:
        """Write the page unless its content is there already; returns its verdict and what to record."""
        before = visit.before
        revision = revision_of(digest)
        if before is not None and before.revision == revision:
            return SAME_CONTENT, unchanged_facts(before, response)
        key = content_key(digest, titles_count=self._recipe.titles_count)
        if self._recipe.keep_duplicates:
            original = self._index.first_of(key, visit.url)
        else:
            original = await self._index.original_of(key, visit)
        is_other_name = original is not None and self._recipe.markdown and are_one_place(original, visit.url)
        if original is None or (self._recipe.keep_duplicates and not is_other_name):
            verdict = Verdict(Outcome.CAPTURED, f"HTTP {response.status}")
            facts = await self._io.output.accept(visit.lease, response, digest)
        else:
            what = "title and text" if self._recipe.titles_count else "text"
            verdict = Verdict(Outcome.DUPLICATE, f"the same {what} as {original}")
            facts = msgspec.structs.replace(
                bare_facts(response, None),
                canonical=digest.canonical,
                was_path=None if before is None else before.path or before.was_path,
            )
        now = self._io.clock.now()
        return verdict, msgspec.structs.replace(
            with_permissions(facts, response, digest, *self._gate.permission(visit.lease.target)),
            content_key=key,
            revision=revision,
            first_captured=before.first_captured if before is not None else now,
            changed_at=now,
            duplicate_of=original,
            links_dropped=digest.links_dropped,
            simhash=None if digest.simhash is None else f"{digest.simhash:016x}",
            rendered=response.rendered or None,
            render_note=response.render_note or None,
            fruitless=self._gate.traps.observe(visit.url, digest, known_content=original is not None),
        )

    def settled(self, visit: Visit, *, kept: bool) -> None:
        """Not ``kept``: also if the store dropped the result because the lease had expired."""
        self._index.settled(visit, kept=kept)

    def confirmed(self, url: str, key: str) -> None:
        """An update found the page as it was, so others with its content are its duplicates still. Not known
        before: what an update asks for may have changed."""
        self._index.restore(key, url)


def are_one_place(url: str, other: str) -> bool:
    """``/a/`` and ``/a/index.html``: the file that servers show for a folder."""
    return _INDEX.sub("/", url) == _INDEX.sub("/", other)


def content_key(digest: PageDigest, *, titles_count: bool = True) -> str | None:
    """A hash of title and text, or of the text alone. None for a page without text: two empty pages are not
    duplicates."""
    if digest.sha256 is None or not (digest.markdown or "").strip():
        return None
    if not titles_count:
        return digest.sha256
    return blake2b(
        f"{digest.title or ''}\0{digest.sha256}".encode("utf-8", "replace"), digest_size=8
    ).hexdigest()


class Assets:
    """Images that pages embed and files that they link to: which are wanted, and what is recorded."""

    def __init__(self, recipe: Recipe, io: Io, gate: Gate) -> None:
        self._most_bytes = recipe.asset_bytes
        self._io = io
        self._gate = gate

    def wanted_of(self, digest: PageDigest, links: Iterable[Judged]) -> list[str]:
        """Files that a page links to, also those that as pages are refused because no sitemap lists them."""
        unlisted = [
            judged.candidate.url
            for judged in links
            if judged.refusal is not None and judged.refusal.outcome is Outcome.UNLISTED
        ]
        return [*digest.downloads, *filter(named_like_a_file, unlisted)]

    def takes(self, verdict: Verdict) -> bool:
        """Whether something that turned out not to be a page is kept as a file."""
        return bool(self._most_bytes) and verdict.outcome is Outcome.NOT_HTML

    def verdict_on(self, visit: Visit, verdict: Verdict) -> Verdict:
        """The verdict, with the outcome for assets if it is one."""
        is_asset = visit.candidate.kind in ASSETS or (self._most_bytes and named_like_a_file(visit.url))
        if verdict.outcome is Outcome.TOO_LARGE and is_asset:
            return Verdict(Outcome.ASSET_TOO_LARGE, verdict.rule)
        return verdict

    async def keep(self, visit: Visit, response: Response) -> tuple[Verdict, PageFacts] | Verdict:
        """Its verdict and what to record; a verdict alone if it is not kept."""
        if self._io.assets is None or len(response.body) > self._most_bytes:
            return Verdict(Outcome.ASSET_TOO_LARGE, f"larger than {self._most_bytes} bytes")
        facts = await self._io.assets.keep(visit.lease, response)
        if isinstance(facts, Verdict):
            return facts
        before = visit.before
        if before is not None and before.revision is not None and before.sha256 == facts.sha256:
            return SAME_ASSET, unchanged_facts(before, response)
        now = self._io.clock.now()
        return Verdict(Outcome.STORED, f"HTTP {response.status}"), msgspec.structs.replace(
            facts,
            revision=facts.sha256,
            robots_rule=self._gate.permission(visit.lease.target)[0],
            first_captured=before.first_captured if before is not None else now,
            changed_at=now,
            was_path=_former_path(before, facts),
        )


def _former_path(before: PageFacts | None, now: PageFacts) -> str | None:
    """Its earlier path, if that differs: another format has another name."""
    if before is None or before.path == now.path:
        return None
    return before.path or before.was_path
