"""What a run came to, in one event."""

from sumi.engine.tally import balanced, by_ending
from sumi.events import Summary
from sumi.outcomes import Ending
from sumi.ports import FrontierStats
from sumi.recipe import Recipe


def summarize(
    recipe: Recipe,
    stats: FrontierStats,
    output: str,
    seconds: float,
    *,
    stopped: bool = False,
    aborted: bool = False,
    notes: tuple[str, ...] = (),
) -> Summary:
    over_cap = bool(recipe.max_pages) and stats.captured >= recipe.max_pages
    return Summary(
        job=recipe.job,
        status="aborted" if aborted else _status(stats, stopped, over_cap),
        discovered=stats.known,
        outcomes=balanced(stats, over_cap),
        output=output,
        seconds=round(seconds, 3),
        notes=notes,
    )


def _status(stats: FrontierStats, stopped: bool, over_cap: bool) -> str:
    """Complete only if everything that was wanted is here: nothing pending, nothing failed."""
    if stopped and stats.pending and not over_cap:
        return "interrupted"
    failed = by_ending(stats.outcomes)[Ending.FAILED]
    return "partial" if stats.pending or failed else "complete"
