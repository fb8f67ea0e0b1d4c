"""Failed URLs that do not make a run partial: what the user allows, images and files that a page only shows,
and pages of a map beyond the chosen domains. They stay failed; the run is then *limited*.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from sumi.frontier.pacing import SUSPENDED
from sumi.model import ASSETS
from sumi.outcomes import BY_ENDING, KEPT, Ending, Outcome
from sumi.policy import Tolerance
from sumi.ports import FrontierStats, HostWait, Ledger
from sumi.urls import host_key

ASSET, FOREIGN, ALLOWED = "assets", "foreign", "allowed"
FAILED: Final = BY_ENDING[Ending.FAILED]


async def excused_failures(
    ledger: Ledger, stats: FrontierStats, waits: Sequence[HostWait], tolerance: Tolerance, *, maps: bool
) -> dict[str, int]:
    """How many by reason. ``maps``: URLs beyond depth 0 are on other sites than those that were chosen."""
    excused, rest = Counter[str](), 0
    if maps and (foreign := await _suspended(ledger, waits)):
        excused[FOREIGN] = foreign
    if not any(stats.outcomes.get(one) for one in FAILED):
        return dict(excused)
    async for record in ledger.records(FAILED):
        if record.kind in ASSETS:
            excused[ASSET] += 1
        elif maps and record.depth > 0:
            excused[FOREIGN] += 1
        elif record.outcome in tolerance.outcomes:
            excused[ALLOWED] += 1
        else:
            rest += 1
    here = sum(stats.outcomes.get(one, 0) for one in (*KEPT - FAILED, Outcome.DUPLICATE))
    if rest and tolerance.admits(rest, here + rest):
        excused[ALLOWED] += rest
    return dict(excused)


async def _suspended(ledger: Ledger, waits: Sequence[HostWait]) -> int:
    """Pending URLs of other sites that a summary counts as rate limited, since their hosts are suspended."""
    hosts = {wait.host for wait in waits if wait.why == SUSPENDED}
    if not hosts:
        return 0
    pending = ledger.records((Outcome.PENDING,))
    return sum([record.depth > 0 and host_key(record.url) in hosts async for record in pending])
