"""``--update``: requests everything in the mirror again that may have changed, and counts what did.

The ledger has the start and end of the update, so that an interrupted one resumes instead of starting over
and reports all of its changes.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from sumi.assembly.parts import STATE_FOLDER
from sumi.engine.completeness import ABORTED, INTERRUPTED
from sumi.engine.revisit import facts_of_lost_file
from sumi.errors import StateError
from sumi.events import Summary
from sumi.frontier.freshness import RevisitBounds, ask_again_at
from sumi.history.recorder import FOLDER as HISTORY
from sumi.history.rows import ChangeKind
from sumi.history.store import DATABASE, History
from sumi.jobs.mirror.recipe import mirror_home
from sumi.jobs.mirror.settings import MirrorSettings
from sumi.model import Kind, PageFacts
from sumi.outcomes import ASKED_AGAIN, Outcome
from sumi.policy import Revisit
from sumi.ports import Frontier, Ledger, UrlRecord

NOTE = "update"
BATCH = 1000
UNFINISHED = frozenset({INTERRUPTED, ABORTED})  # of a run that another one continues
_KEPT = frozenset({Outcome.CAPTURED, Outcome.UNCHANGED})


class Update(msgspec.Struct, frozen=True, omit_defaults=True):
    began: float
    ended: float | None = None


class Changes(msgspec.Struct):
    """Counts of pages since an update began."""

    since: float
    added: int = 0
    changed: int = 0
    gone: int = 0
    moved: int = 0
    unchanged: int = 0
    not_checked: int = 0  # the server did not answer; the copies stay
    not_asked: int = 0  # by --revisit adaptive; part of the unchanged

    def add(self, record: UrlRecord) -> None:
        facts = record.facts
        if record.kind is not Kind.PAGE or facts.asset:
            return
        changed = (facts.changed_at or 0.0) >= self.since
        match record.outcome:
            case Outcome.CAPTURED | Outcome.UNCHANGED:  # a duplicate is counted as the page that it is
                if (facts.first_captured or 0.0) >= self.since:
                    self.added += 1
                elif changed:
                    self.changed += 1
                else:
                    self.unchanged += 1
                    self.not_asked += (record.at or 0.0) < self.since
            case Outcome.STALE:
                self.not_checked += 1
            case Outcome.GONE:
                self.gone += changed
            case Outcome.REDIRECTED:
                self.moved += changed

    def sentence(self) -> str:
        parts = [
            f"{self.added:,} added",
            f"{self.changed:,} changed",
            f"{self.moved:,} moved",
            f"{self.gone:,} gone",
            f"{self.unchanged:,} unchanged",
        ]
        if self.not_asked:
            parts.append(f"{self.not_asked:,} of these not asked for, as they are not due")
        if self.not_checked:
            parts.append(f"{self.not_checked:,} could not be checked and were kept")
        return "update: " + ", ".join(parts)


async def begin_update(
    ledger: Ledger,
    frontier: Frontier,
    now: float,
    is_whole: Callable[[UrlRecord], bool],
    is_due: Callable[[UrlRecord], bool] = lambda record: True,
) -> None:
    """Queue what to request again, unless an interrupted update resumes. Lost files are fetched in full."""
    last = await last_update(ledger)
    if last is not None and last.ended is None:
        return
    urls: list[str] = []
    lost: dict[str, PageFacts] = {}
    async for record in ledger.records(ASKED_AGAIN):
        whole = is_whole(record)
        if not whole:
            lost[record.url] = facts_of_lost_file(record.facts)
        if not whole or is_due(record):
            urls.append(record.url)
    await frontier.amend(lost)
    for start in range(0, len(urls), BATCH):
        await frontier.requeue(urls[start : start + BATCH], now)
    # Last: after a kill before this line the update has not begun, and the next attempt queues the rest.
    await note_update(ledger, Update(now))


@contextmanager
def due_for_update(settings: MirrorSettings, now: float) -> Iterator[Callable[[UrlRecord], bool]]:
    """Whether an update asks for a page."""
    if settings.revisit is Revisit.ALL:
        yield lambda record: True
        return
    folder = Path(settings.output) / mirror_home(settings) / STATE_FOLDER / HISTORY
    history = None
    with suppress(StateError):  # a damaged history is set aside when the run writes to it
        history = History(folder) if (folder / DATABASE).is_file() else None
    try:
        yield Adaptive(history, now, RevisitBounds(settings.revisit_min, settings.revisit_max))
    finally:
        if history is not None:
            history.close()


class Adaptive:
    """``--revisit adaptive``: whether a page is due, by the versions in its history."""

    def __init__(self, history: History | None, now: float, bounds: RevisitBounds) -> None:
        self._history = history
        self._now = now
        self._bounds = bounds

    def __call__(self, record: UrlRecord) -> bool:
        facts = record.facts
        if record.kind is not Kind.PAGE or record.outcome not in _KEPT or record.at is None:
            return True
        if facts.lastmod is not None:
            return True  # its sitemap says whether it changed, for nothing
        return self._now >= ask_again_at(record.at, self._seen(record), self._bounds)

    def _seen(self, record: UrlRecord) -> list[float]:
        versions = [] if self._history is None else self._history.versions(record.url)
        told = [version.at for version in versions if version.kind != ChangeKind.REMADE]
        return told or sorted({at for at in (record.facts.first_captured, record.facts.changed_at) if at})


def ends_update(summary: Summary, *, shared: bool) -> bool:
    """Whether everything was asked for that can be: pages over a limit, and those of a host that no longer
    answers, do not keep an update open, or the next one would ask for nothing else. The budget of a host
    lasts for one run, so the next goes on, and so do the others who share a job (``shared``)."""
    waiting = {Outcome.OVER_BUDGET, Outcome.PENDING} if shared else {Outcome.OVER_BUDGET}
    return summary.status not in UNFINISHED and waiting.isdisjoint(summary.outcomes)


async def end_update(ledger: Ledger, now: float) -> None:
    last = await last_update(ledger)
    if last is not None and last.ended is None:
        await note_update(ledger, Update(last.began, now))


async def last_update(ledger: Ledger) -> Update | None:
    note = await ledger.get_note(NOTE)
    return None if note is None else msgspec.json.decode(note, type=Update)


async def is_updating(ledger: Ledger) -> bool:
    last = await last_update(ledger)
    return last is not None and last.ended is None


async def changes_since_update(ledger: Ledger) -> Changes | None:
    """An empty count since the last update; None for a mirror that was never updated."""
    last = await last_update(ledger)
    if last is None:
        return None
    return Changes(last.began)


async def note_update(ledger: Ledger, update: Update) -> None:
    await ledger.put_note(NOTE, msgspec.json.encode(update).decode())
