"""Images that pages show and files that they link to: which are wanted, and what is recorded of them."""

from collections.abc import Iterable

import msgspec

from sumi.engine.gate import Gate
from sumi.engine.io import Io
from sumi.engine.revisit import unchanged_facts
from sumi.engine.visit import Visit
from sumi.model import ASSETS, PageFacts, Response
from sumi.outcomes import Outcome, Verdict
from sumi.parse.page.digest import PageDigest
from sumi.parse.page.media_type import named_like_a_file
from sumi.ports import Judged
from sumi.recipe import Recipe

SAME_CONTENT = Verdict(Outcome.STORED, "it came again, with the same content")


class Assets:
    def __init__(self, recipe: Recipe, io: Io, gate: Gate) -> None:
        self._most_bytes = recipe.asset_bytes
        self._io = io
        self._gate = gate

    def wanted_of(self, digest: PageDigest, links: Iterable[Judged]) -> list[str]:
        """Files that a page links to and that are not to be had as pages: a sitemap lists pages only."""
        unlisted = [
            judged.candidate.url
            for judged in links
            if judged.refusal is not None and judged.refusal.outcome is Outcome.UNLISTED
        ]
        return [*digest.downloads, *filter(named_like_a_file, unlisted)]

    def takes(self, verdict: Verdict) -> bool:
        """Whether what turned out to be no page is kept as what it is."""
        return bool(self._most_bytes) and verdict.outcome is Outcome.NOT_HTML

    def verdict_on(self, visit: Visit, verdict: Verdict) -> Verdict:
        """What went wrong, in the words for assets where it was one."""
        is_asset = visit.candidate.kind in ASSETS or (self._most_bytes and named_like_a_file(visit.url))
        if verdict.outcome is Outcome.TOO_LARGE and is_asset:
            return Verdict(Outcome.ASSET_TOO_LARGE, verdict.rule)
        return verdict

    async def keep(self, visit: Visit, response: Response) -> tuple[Verdict, PageFacts] | Verdict:
        """How it ends and what is recorded of it; a verdict alone if it is not kept."""
        if self._io.assets is None or len(response.body) > self._most_bytes:
            return Verdict(Outcome.ASSET_TOO_LARGE, f"larger than {self._most_bytes} bytes")
        facts = await self._io.assets.keep(visit.lease, response)
        if isinstance(facts, Verdict):
            return facts
        before = visit.before
        if before is not None and before.revision is not None and before.sha256 == facts.sha256:
            return SAME_CONTENT, unchanged_facts(before, response)
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
    """Where it was until now, if elsewhere: what comes in another format has another name."""
    if before is None or before.path == now.path:
        return None
    return before.path or before.was_path
