"""Whether a job has all that there was to get: decided here alone, for summaries and for ``sumi status``.

What the words promise is in docs/concepts/outcomes.md.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from sumi.model import Hop, Kind
from sumi.outcomes import BY_ENDING, UP_TO_DATE, Ending, Outcome
from sumi.ports import FrontierStats, Ledger, Remains, UrlRecord

COMPLETE, LIMITED, PARTIAL, INTERRUPTED, ABORTED = "complete", "limited", "partial", "interrupted", "aborted"
# From good to bad.
STATUSES: Final = (COMPLETE, LIMITED, PARTIAL, INTERRUPTED, ABORTED)

# Pages that were found, are what the job is about, and were not asked for because of a limit or a habit of
# ours, not because the user or the site's robots.txt ruled them out.
LEFT_OUT: Final = (
    Outcome.UNLISTED,
    Outcome.TOO_DEEP,
    Outcome.TRAP,
    Outcome.OVER_CAP,
    Outcome.OVER_BUDGET,
    Outcome.OVER_QUOTA,
)
LINKS_DROPPED: Final = "links_dropped"  # besides those: links of pages that have too many
PAGES_HERE: Final = UP_TO_DATE | {Outcome.DUPLICATE}
_FOUND_AT_ITS_PLACE: Final = PAGES_HERE | {Outcome.REDIRECTED, Outcome.READ, Outcome.PENDING}
_NOTE: Final = "run.standing"
_MAX_SEEDS: Final = 10_000  # looked at one by one


class Findings(msgspec.Struct, frozen=True):
    """What the counts do not tell."""

    below_fidelity: int = 0
    links_dropped: int = 0
    amiss: tuple[str, ...] = ()  # URLs that were typed and are no page, with what became of them
    only_amiss: bool = False  # and nothing came of any other
    remains: Remains = Remains()  # of what the job is told from outside: what was not read


class Standing(msgspec.Struct, frozen=True):
    """``left_out``: pages, by what left them out. ``alone``: one page, and no link of it was followed."""

    status: str
    left_out: dict[str, int] = {}
    alone: bool = False
    amiss: tuple[str, ...] = ()  # URLs that were typed and are no page, with what became of them


class _Noted(msgspec.Struct, frozen=True):
    standing: Standing
    known: int
    pending: int
    outcomes: dict[Outcome, int]


async def failed_seeds(ledger: Ledger) -> tuple[tuple[str, ...], bool]:
    """Which of the URLs that the user gave are no page, and whether all of them are none. They are the
    first of all that a job knows."""
    seeds: list[UrlRecord] = []
    async for record in ledger.records():
        if record.hop is not Hop.SEED or len(seeds) == _MAX_SEEDS:
            break
        seeds.append(record)
    amiss = [record for record in seeds if record.outcome not in _FOUND_AT_ITS_PLACE]
    words = tuple(f"{record.url}: {record.outcome.value}" for record in amiss if record.kind is Kind.PAGE)
    return words, bool(words) and len(amiss) == len(seeds)


async def note_standing(ledger: Ledger, stats: FrontierStats, standing: Standing) -> None:
    """At the end of a run, so that ``sumi status`` says the same later."""
    note = _Noted(standing, stats.known, stats.pending, stats.outcomes)
    await ledger.put_note(_NOTE, msgspec.json.encode(note).decode())


async def noted_standing(ledger: Ledger, stats: FrontierStats) -> Standing | None:
    """How the last run ended; None if none has, or if another one was killed since."""
    text = await ledger.get_note(_NOTE)
    try:
        note = None if text is None else msgspec.json.decode(text, type=_Noted)
    except msgspec.MsgspecError:  # of another version
        return None
    if note is None or (note.known, note.pending, note.outcomes) != (
        stats.known,
        stats.pending,
        stats.outcomes,
    ):
        return None
    return note.standing


def left_out_of(outcomes: Mapping[str, int], links_dropped: int, *, edge: bool) -> dict[str, int]:
    """``edge``: how far the job goes is what it is about, so that what lies beyond was not left out."""
    found = {
        one.value: outcomes.get(one.value, 0) for one in LEFT_OUT if not (edge and one is Outcome.TOO_DEEP)
    }
    return {name: count for name, count in (found | {LINKS_DROPPED: links_dropped}).items() if count}


def standing(
    stats: FrontierStats,
    outcomes: Mapping[str, int],
    findings: Findings,
    *,
    stopped: bool,
    over_cap: bool,
    edge: bool,
    follows: bool,
) -> Standing:
    """``outcomes`` are those of ``stats`` with what waits by its reason. ``follows``: the job looks for pages
    itself, so that one of them is few."""
    left_out = left_out_of(outcomes, findings.links_dropped, edge=edge)
    here = sum(outcomes.get(one.value, 0) for one in PAGES_HERE)
    alone = follows and here == 1 and not left_out
    if stopped and (findings.remains.behind or (stats.pending and not over_cap)):
        status = INTERRUPTED
    elif _lacks(stats, outcomes, findings) or (follows and not here):
        status = PARTIAL
    else:
        status = LIMITED if left_out or alone or findings.amiss else COMPLETE
    return Standing(status, left_out, alone, findings.amiss)


def _lacks(stats: FrontierStats, outcomes: Mapping[str, int], findings: Findings) -> bool:
    """Whether something that was wanted is not here, or not as whole as was wanted."""
    failed = sum(outcomes.get(one.value, 0) for one in BY_ENDING[Ending.FAILED])
    unaccounted = sum(outcomes.values()) != stats.known
    waiting = outcomes.get(Outcome.PENDING.value, 0)
    unread = findings.remains.unread or findings.remains.behind
    unmet = findings.below_fidelity or findings.only_amiss
    return bool(waiting or failed or unread or unmet or unaccounted)
