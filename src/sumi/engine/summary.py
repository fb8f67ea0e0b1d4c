"""What a run came to, in one event."""

from collections.abc import Sequence

from sumi.engine.tally import balanced, by_ending
from sumi.events import Summary
from sumi.frontier.pacing import BUDGET_SPENT, GIVEN_UP, SUSPENDED
from sumi.outcomes import Ending
from sumi.ports import FrontierStats, HostWait, Remains
from sumi.recipe import Recipe

NOTHING_REMAINS = Remains()
_MOST_NAMED = 10  # a summary is read by people


def summarize(
    recipe: Recipe,
    stats: FrontierStats,
    waits: Sequence[HostWait],
    output: str,
    seconds: float,
    *,
    stopped: bool = False,
    aborted: bool = False,
    notes: tuple[str, ...] = (),
    below_fidelity: int = 0,
    remains: Remains = NOTHING_REMAINS,
) -> Summary:
    over_cap = bool(recipe.max_pages) and stats.captured >= recipe.max_pages
    over_budget = sum(wait.pending for wait in waits if wait.why == BUDGET_SPENT)
    suspended = sum(wait.pending for wait in waits if wait.why == SUSPENDED)
    return Summary(
        job=recipe.job,
        status="aborted" if aborted else _status(recipe, stats, stopped, over_cap, below_fidelity, remains),
        discovered=stats.known,
        outcomes=balanced(stats, over_cap=over_cap, over_budget=over_budget, suspended=suspended),
        output=output,
        seconds=round(seconds, 3),
        notes=(*notes, *remains.notes, *_given_up(waits)),
        below_fidelity=below_fidelity,
        unread=remains.unread,
    )


def _given_up(waits: Sequence[HostWait]) -> list[str]:
    dead = [wait for wait in waits if wait.why == GIVEN_UP]
    return [
        f"{wait.host} does not answer any more: {wait.pending:,} of its pages wait for another run"
        for wait in dead[:_MOST_NAMED]
    ]


def _status(
    recipe: Recipe,
    stats: FrontierStats,
    stopped: bool,
    over_cap: bool,
    below_fidelity: int,
    remains: Remains,
) -> str:
    """Complete only if everything that was wanted is here, as whole as was wanted: nothing pending, failed,
    unread or unaccounted for. Where so many pages of each base were wanted, those beyond them were not."""
    if stopped and (remains.behind or (stats.pending and not over_cap)):
        return "interrupted"
    failed = by_ending(stats.outcomes)[Ending.FAILED]
    accounted = sum(stats.outcomes.values()) + stats.pending == stats.known
    wanted = stats.pending and not (over_cap and recipe.pages_per_base)
    lacking = wanted or failed or below_fidelity or remains.unread or remains.behind
    return "complete" if accounted and not lacking else "partial"
