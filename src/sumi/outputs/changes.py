"""What an update of a mirror came to.

An update has a beginning and an end that outlive the process, so that an interrupted one goes on instead of
starting over, and what it reports covers all of it.
"""

import msgspec

from sumi.model import Kind
from sumi.outcomes import Outcome
from sumi.ports import Ledger, UrlRecord

NOTE = "update"


class Update(msgspec.Struct, frozen=True, omit_defaults=True):
    began: float
    ended: float | None = None


class Changes(msgspec.Struct):
    """What an update came to, in pages."""

    since: float
    added: int = 0
    changed: int = 0
    gone: int = 0
    moved: int = 0
    unchanged: int = 0
    not_checked: int = 0  # the server would not say; the copies are kept

    def sentence(self) -> str:
        parts = [
            f"{self.added:,} added",
            f"{self.changed:,} changed",
            f"{self.moved:,} moved",
            f"{self.gone:,} gone",
            f"{self.unchanged:,} unchanged",
        ]
        if self.not_checked:
            parts.append(f"{self.not_checked:,} could not be checked and were kept as they are")
        return "update: " + ", ".join(parts)


async def end_update(ledger: Ledger, now: float) -> None:
    """Called when nothing is pending any more."""
    last = await last_update(ledger)
    if last is not None and last.ended is None:
        await note_update(ledger, Update(last.began, now))


async def last_update(ledger: Ledger) -> Update | None:
    note = await ledger.get_note(NOTE)
    return None if note is None else msgspec.json.decode(note, type=Update)


async def changes_of(ledger: Ledger) -> Changes | None:
    """None for a mirror that was never updated."""
    last = await last_update(ledger)
    if last is None:
        return None
    changes = Changes(last.began)
    async for record in ledger.records(None):
        if record.kind is Kind.PAGE and not record.facts.asset:
            _count(record, changes)
    return changes


def _count(record: UrlRecord, changes: Changes) -> None:
    facts, since = record.facts, changes.since
    changed = (facts.changed_at or 0.0) >= since
    match record.outcome:
        case Outcome.CAPTURED | Outcome.UNCHANGED | Outcome.DUPLICATE:
            if (facts.first_captured or 0.0) >= since:
                changes.added += 1
            elif changed:
                changes.changed += 1
            else:
                changes.unchanged += 1
        case Outcome.STALE:
            changes.not_checked += 1
        case Outcome.GONE:
            changes.gone += changed
        case Outcome.REDIRECTED:
            changes.moved += changed and facts.was_path is not None


async def note_update(ledger: Ledger, update: Update) -> None:
    await ledger.put_note(NOTE, msgspec.json.encode(update).decode())
