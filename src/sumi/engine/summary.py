"""What a run came to, in one event."""

from collections.abc import Sequence

from sumi.engine.completeness import ABORTED, Findings, Standing, standing
from sumi.engine.progress import balanced
from sumi.events import Summary
from sumi.frontier.pacing import BUDGET_SPENT, GIVEN_UP, SUSPENDED
from sumi.ports import FrontierStats, HostWait
from sumi.recipe import Recipe

_MOST_NAMED = 10  # a summary is read by people
NOTHING_FOUND = Findings()


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
    findings: Findings = NOTHING_FOUND,
) -> Summary:
    over_cap = bool(recipe.max_pages) and stats.captured >= recipe.max_pages
    over_budget = sum(wait.pending for wait in waits if wait.why == BUDGET_SPENT)
    suspended = sum(wait.pending for wait in waits if wait.why == SUSPENDED)
    outcomes = balanced(stats, over_cap=over_cap, over_budget=over_budget, suspended=suspended)
    stands = standing(
        stats,
        outcomes,
        findings,
        stopped=stopped,
        over_cap=over_cap,
        # How far a map goes, and how far a capture goes beyond its bases, is what they are about.
        edge=recipe.record_links or bool(recipe.scope.bases),
        follows=recipe.take_links and not recipe.list_only,
    )
    return Summary(
        job=recipe.job,
        status=ABORTED if aborted else stands.status,
        discovered=stats.known,
        outcomes=outcomes,
        output=output,
        seconds=round(seconds, 3),
        notes=(*notes, *findings.remains.notes, *_given_up(waits)),
        below_fidelity=findings.below_fidelity,
        unread=findings.remains.unread,
        left_out=stands.left_out,
        alone=stands.alone,
        amiss=stands.amiss,
    )


def standing_of(summary: Summary) -> Standing:
    return Standing(summary.status, summary.left_out, summary.alone, summary.amiss)


def _given_up(waits: Sequence[HostWait]) -> list[str]:
    dead = [wait for wait in waits if wait.why == GIVEN_UP]
    return [
        f"{wait.host} does not answer any more: {wait.pending:,} of its pages wait for another run"
        for wait in dead[:_MOST_NAMED]
    ]
