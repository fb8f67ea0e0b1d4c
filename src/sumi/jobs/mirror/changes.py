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

    def take(self, record: UrlRecord) -> None:
        facts = record.facts
        if record.kind is not Kind.PAGE or facts.asset:
            return
        changed = (facts.changed_at or 0.0) >= self.since
        match record.outcome:
            case Outcome.CAPTURED | Outcome.UNCHANGED | Outcome.DUPLICATE:
                if (facts.first_captured or 0.0) >= self.since:
                    self.added += 1
                elif changed:
                    self.changed += 1
                else:
                    self.unchanged += 1
            case Outcome.STALE:
                self.not_checked += 1
            case Outcome.GONE:
                self.gone += changed
            case Outcome.REDIRECTED:
                self.moved += changed and facts.was_path is not None

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


async def changes_to_count(ledger: Ledger) -> Changes | None:
    """By the last update, none counted yet; None for a mirror that was never updated."""
    last = await last_update(ledger)
    if last is None:
        return None
    return Changes(last.began)


async def note_update(ledger: Ledger, update: Update) -> None:
    await ledger.put_note(NOTE, msgspec.json.encode(update).decode())
