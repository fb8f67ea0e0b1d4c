"""Whether a job is complete: decided here alone, for summaries and for ``sumi status``.

What each status promises is in docs/concepts/outcomes.md.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from sumi.frontier.pacing import SUSPENDED
from sumi.model import ASSETS, Hop, Kind
from sumi.outcomes import BY_ENDING, KEPT, UP_TO_DATE, Ending, Outcome
from sumi.policy import Tolerance
from sumi.ports import FrontierStats, HostWait, Ledger, Remains, UrlRecord
from sumi.urls import host_key

COMPLETE, LIMITED, PARTIAL, INTERRUPTED, ABORTED = "complete", "limited", "partial", "interrupted", "aborted"
# Best first.
STATUSES: Final = (COMPLETE, LIMITED, PARTIAL, INTERRUPTED, ABORTED)

# Pages that were found and belong to the job, but were not requested because of a limit or a default of ours,
# not because the user or robots.txt excluded them.
LEFT_OUT: Final = (
    Outcome.UNLISTED,
    Outcome.TOO_DEEP,
    Outcome.TRAP,
    Outcome.OVER_CAP,
    Outcome.OVER_BUDGET,
    Outcome.OVER_QUOTA,
    Outcome.NOT_ARCHIVED,
)
LINKS_DROPPED: Final = "links_dropped"  # besides those: links beyond the limit per page
UNRENDERED: Final = "unrendered"  # pages that are here, but only their scripts would have filled
HASH_ROUTES: Final = "hash_routes"  # pages that have others behind #/
# Failed URLs that do not make a run partial, by reason: images and files that a page only shows, pages of a
# map beyond the chosen domains, what the user allows. They stay failed; the run is then *limited*.
_ASSET, _FOREIGN, _ALLOWED = "assets", "foreign", "allowed"
_FAILED: Final = BY_ENDING[Ending.FAILED]
PAGES_HERE: Final = UP_TO_DATE | {Outcome.DUPLICATE}
_SEED_IS_FINE: Final = PAGES_HERE | {Outcome.REDIRECTED, Outcome.READ, Outcome.PENDING}
_NOTE: Final = "run.standing"
_MAX_SEEDS: Final = 10_000  # checked one by one


class Findings(msgspec.Struct, frozen=True):
    """What the counts do not show."""

    below_fidelity: int = 0
    above_junk: int = 0
    links_dropped: int = 0
    amiss: tuple[str, ...] = ()  # seeds that failed, with their outcomes
    only_amiss: bool = False  # no seed succeeded
    excused: dict[str, int] = {}  # failed URLs that do not count, by reason
    lone: bool = False  # a part of the job is a single page without followed links
    unrendered: int = 0
    hash_routes: int = 0
    remains: Remains = Remains()  # what was not read of the job's source


class Standing(msgspec.Struct, frozen=True):
    """``left_out``: pages by the limit that left them out. ``alone``: a single page without followed links
    is the whole job, or a domain of a map."""

    status: str
    left_out: dict[str, int] = {}
    alone: bool = False
    amiss: tuple[str, ...] = ()  # seeds that failed, with their outcomes
    excused: dict[str, int] = {}  # failed URLs that do not count, by reason


class _Noted(msgspec.Struct, frozen=True):
    standing: Standing
    known: int
    pending: int
    outcomes: dict[Outcome, int]


async def failed_seeds(ledger: Ledger) -> tuple[tuple[str, ...], bool]:
    """The seeds that brought no page, with their outcomes, and whether that is all of them. Seeds are the
    first URLs of a job."""
    seeds: list[UrlRecord] = []
    async for record in ledger.records():
        if record.hop is not Hop.SEED or len(seeds) == _MAX_SEEDS:
            break
        seeds.append(record)
    fine = _SEED_IS_FINE
    if await anext(aiter(ledger.records(PAGES_HERE)), None) is not None:
        fine |= {Outcome.NOT_ARCHIVED}  # an archive need not have a site's start page
    amiss = [record for record in seeds if record.outcome not in fine]
    words = tuple(f"{record.url}: {record.outcome.value}" for record in amiss if record.kind is Kind.PAGE)
    return words, bool(words) and len(amiss) == len(seeds)


async def note_standing(ledger: Ledger, stats: FrontierStats, standing: Standing) -> None:
    """Store the standing at the end of a run, for ``sumi status``."""
    note = _Noted(standing, stats.known, stats.pending, stats.outcomes)
    await ledger.put_note(_NOTE, msgspec.json.encode(note).decode())


async def noted_standing(ledger: Ledger, stats: FrontierStats) -> Standing | None:
    """The standing at the end of the last run; None if there was none, or if another run was killed since."""
    text = await ledger.get_note(_NOTE)
    try:
        note = None if text is None else msgspec.json.decode(text, type=_Noted)
    except msgspec.MsgspecError:  # written by another version
        return None
    if note is None or (note.known, note.pending, note.outcomes) != (
        stats.known,
        stats.pending,
        stats.outcomes,
    ):
        return None
    return note.standing


def within_cap(stats: FrontierStats, max_pages: int) -> FrontierStats:
    """What is pending once ``max_pages`` are there is done only with a larger limit: it is over the cap."""
    if not (max_pages and stats.pending and stats.captured >= max_pages):
        return stats
    beyond = stats.outcomes.get(Outcome.OVER_CAP, 0) + stats.pending
    outcomes = {**stats.outcomes, Outcome.OVER_CAP: beyond}
    return msgspec.structs.replace(stats, pending=0, pending_pages=0, outcomes=outcomes)


def counted(stats: FrontierStats, cap: int, told: Standing | None) -> FrontierStats:
    """The same of a stored job. Its limit is ``cap``, or was reached at its last end (``told``)."""
    beyond = told.left_out.get(Outcome.OVER_CAP, 0) if told is not None else 0
    is_full = beyond > stats.outcomes.get(Outcome.OVER_CAP, 0)
    return within_cap(stats, stats.captured if is_full else cap)


def left_out_of(outcomes: Mapping[str, int], links_dropped: int, *, edge: bool) -> dict[str, int]:
    """``edge``: the depth limit defines the job, so that pages beyond it do not count as left out."""
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
    edge: bool,
    follows: bool,
) -> Standing:
    """``outcomes``: those of ``stats``, with pending URLs under their reason. ``follows``: the job follows
    links, so that a single page is suspicious."""
    left_out = left_out_of(outcomes, findings.links_dropped, edge=edge)
    here_in_part = {UNRENDERED: findings.unrendered, HASH_ROUTES: findings.hash_routes}
    left_out |= {name: count for name, count in here_in_part.items() if count}
    here = sum(outcomes.get(one.value, 0) for one in PAGES_HERE)
    alone = follows and (here == 1 or findings.lone) and not left_out
    if stopped and (findings.remains.behind or stats.pending):
        status = INTERRUPTED
    elif _lacks(stats, outcomes, findings) or (follows and not here):
        status = PARTIAL
    else:
        status = LIMITED if left_out or alone or findings.amiss or findings.excused else COMPLETE
    return Standing(status, left_out, alone, findings.amiss, findings.excused)


def _lacks(stats: FrontierStats, outcomes: Mapping[str, int], findings: Findings) -> bool:
    """Whether something is missing, or below the wanted fidelity or above the allowed junk."""
    failed = sum(outcomes.get(one.value, 0) for one in _FAILED)
    failed -= sum(findings.excused.values())
    unaccounted = sum(outcomes.values()) != stats.known
    waiting = outcomes.get(Outcome.PENDING.value, 0)
    unread = findings.remains.unread or findings.remains.behind
    unmet = findings.below_fidelity or findings.above_junk or findings.only_amiss
    return bool(waiting or failed or unread or unmet or unaccounted)


async def excused_failures(
    ledger: Ledger, stats: FrontierStats, waits: Sequence[HostWait], tolerance: Tolerance, *, maps: bool
) -> dict[str, int]:
    """How many by reason. ``maps``: URLs beyond depth 0 are on other sites than those that were chosen."""
    excused, rest = Counter[str](), 0
    if maps and (foreign := await _suspended(ledger, waits)):
        excused[_FOREIGN] = foreign
    if not any(stats.outcomes.get(one) for one in _FAILED):
        return dict(excused)
    async for record in ledger.records(_FAILED):
        if record.kind in ASSETS:
            excused[_ASSET] += 1
        elif maps and record.depth > 0:
            excused[_FOREIGN] += 1
        elif record.outcome in tolerance.outcomes:
            excused[_ALLOWED] += 1
        else:
            rest += 1
    here = sum(stats.outcomes.get(one, 0) for one in (*KEPT - _FAILED, Outcome.DUPLICATE))
    if rest and tolerance.admits(rest, here + rest):
        excused[_ALLOWED] += rest
    return dict(excused)


async def _suspended(ledger: Ledger, waits: Sequence[HostWait]) -> int:
    """Pending URLs of other sites that a summary counts as rate limited, since their hosts are suspended."""
    hosts = {wait.host for wait in waits if wait.why == SUSPENDED}
    if not hosts:
        return 0
    pending = ledger.records((Outcome.PENDING,))
    return sum([record.depth > 0 and host_key(record.url) in hosts async for record in pending])
