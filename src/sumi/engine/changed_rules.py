"""A job resumed under other rules: pending and refused URLs are judged again.

Pages that are done stay. The rules for the identity of URLs may not change: a page would be known twice.
"""

from collections.abc import AsyncIterator, Sequence
from hashlib import sha256

import msgspec

from sumi.engine.gate import Gate
from sumi.engine.io import Io
from sumi.errors import StateError
from sumi.events import Warned
from sumi.model import Candidate
from sumi.outcomes import BY_RULE, Outcome
from sumi.policy import Preset
from sumi.ports import Judged, UrlRecord
from sumi.recipe import Recipe

PRESET_NOTE = "rules.preset"
RULES_NOTE = "rules.fingerprint"
BATCH = 1000
# Earlier versions used the rules of a crawl for listed pages; URLs normalized by those stay as they are.
_COMPATIBLE = {Preset.LISTED: (Preset.CRAWL,)}

NOTED = frozenset({Outcome.BLACKLISTED, Outcome.STUBBED})


async def apply_changed_rules(recipe: Recipe, io: Io, gate: Gate) -> None:
    """Compare with the rules that the ledger holds, act on a difference, and store today's."""
    await _refuse_changed_spelling(recipe, io)
    fingerprint = fingerprint_of(recipe)
    before = await io.ledger.get_note(RULES_NOTE)
    if before == fingerprint:
        return
    if before is not None:
        await _report_dropped(io, gate)
        await _lift_refusals(io, gate)
    await io.ledger.put_note(RULES_NOTE, fingerprint)


def fingerprint_of(recipe: Recipe) -> str:
    rules = (recipe.scope, recipe.follow_links, recipe.traps, recipe.caps)
    return sha256(msgspec.json.encode(rules)).hexdigest()


async def _refuse_changed_spelling(recipe: Recipe, io: Io) -> None:
    before = await io.ledger.get_note(PRESET_NOTE)
    spelling = _spelling(recipe)
    if before is None or (
        before != spelling and before.partition(" ")[0] in _COMPATIBLE.get(recipe.preset, ())
    ):
        await io.ledger.put_note(PRESET_NOTE, spelling)
    elif before != spelling:
        raise StateError(
            f"this job was started with the {before} rules for URLs and cannot continue with the {spelling} "
            "rules: start over with --fresh, or choose another folder with --output"
        )


def _spelling(recipe: Recipe) -> str:
    kept = ", ".join(sorted(recipe.keep_params))
    return f"{recipe.preset} (keeping {kept})" if kept else str(recipe.preset)


async def _report_dropped(io: Io, gate: Gate) -> None:
    """They leave the queue by themselves: every lease is judged again before anything is fetched."""
    dropped = 0
    async for candidates in _batches(io, frozenset({Outcome.PENDING})):
        dropped += sum(gate.refuses_now(candidate) is not None for candidate in candidates)
    if dropped:
        what = "one pending page is" if dropped == 1 else f"{dropped:,} pending pages are"
        io.tell(Warned(f"the rules have changed: {what} no longer wanted and dropped"))


async def _lift_refusals(io: Io, gate: Gate) -> None:
    lifted = 0
    for before in sorted(BY_RULE):
        async for candidates in _batches(io, frozenset({before})):
            judged = await gate.judge(candidates)
            lifted += await _enqueue(io, [item for item in judged if item.refusal is None])
            await _record_new_refusals(io, before, judged)
    if lifted:
        what = "one page that was" if lifted == 1 else f"{lifted:,} pages that were"
        io.tell(Warned(f"the rules have changed: {what} refused before will be fetched"))


async def _record_new_refusals(io: Io, before: Outcome, judged: Sequence[Judged]) -> None:
    """Where the kind of a refusal is on record (blacklisted, stub) and would be another one now. They join
    the queue, and their lease records today's verdict before anything is fetched."""
    changed = [
        Judged(item.candidate, None)
        for item in judged
        if item.refusal is not None and item.refusal.outcome is not before and before in NOTED
    ]
    await _enqueue(io, changed)


async def _enqueue(io: Io, wanted: list[Judged]) -> int:
    added = sum(await io.frontier.add(wanted))
    # Those that were accepted when found and dropped from the queue later are settled.
    urls = [judged.candidate.url for judged in wanted]
    return added + await io.frontier.requeue(urls, io.clock.now())


async def _batches(io: Io, outcomes: frozenset[Outcome]) -> AsyncIterator[list[Candidate]]:
    batch: list[Candidate] = []
    async for record in io.ledger.records(outcomes):
        batch.append(_candidate(record))
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


def _candidate(record: UrlRecord) -> Candidate:
    return Candidate(
        record.url, record.hop, record.kind, record.depth, record.referrer, address=record.address
    )
