"""What a run came to, in one event."""

from collections.abc import Sequence

from sumi.engine.tally import balanced, by_ending
from sumi.events import Summary
from sumi.frontier.pacing import BUDGET_SPENT
from sumi.outcomes import Ending
from sumi.ports import FrontierStats, HostWait
from sumi.recipe import Recipe


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
) -> Summary:
    over_cap = bool(recipe.max_pages) and stats.captured >= recipe.max_pages
    over_budget = sum(wait.pending for wait in waits if wait.why == BUDGET_SPENT)
    return Summary(
        job=recipe.job,
        status="aborted" if aborted else _status(stats, stopped, over_cap),
        discovered=stats.known,
        outcomes=balanced(stats, over_cap=over_cap, over_budget=over_budget),
        output=output,
        seconds=round(seconds, 3),
        notes=notes,
    )


def _status(stats: FrontierStats, stopped: bool, over_cap: bool) -> str:
    """Complete only if everything that was wanted is here: nothing pending, failed or unaccounted for."""
    if stopped and stats.pending and not over_cap:
        return "interrupted"
    failed = by_ending(stats.outcomes)[Ending.FAILED]
    accounted = sum(stats.outcomes.values()) + stats.pending == stats.known
    return "complete" if accounted and not stats.pending and not failed else "partial"
